"""The view Runs."""
