"""The pages of the documentation that the explorer's words lead to."""
