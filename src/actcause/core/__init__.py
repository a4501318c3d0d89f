"""The exact core: models, definitions of actual causes, and solvers that find them."""
