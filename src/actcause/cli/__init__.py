"""The command line: one file for each group of commands; `app.py` lists and runs them."""

from .app import main

__all__ = ["main"]
