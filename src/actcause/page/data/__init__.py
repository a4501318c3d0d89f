"""The view Data."""
