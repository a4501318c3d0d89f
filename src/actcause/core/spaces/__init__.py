"""Whole state spaces: functional actual causes of every state at once."""
