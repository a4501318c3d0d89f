"""Files that appear only when they are complete, journals to resume from, settings, and what is printed."""
