"""Questions as people put them: models by name or file, and files of questions."""
