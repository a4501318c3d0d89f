"""The methods that learn causes, one file each."""
