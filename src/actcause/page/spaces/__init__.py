"""The view Preimages: state spaces."""
