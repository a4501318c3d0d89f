"""The view Replay."""
