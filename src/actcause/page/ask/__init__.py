"""The view Ask."""
