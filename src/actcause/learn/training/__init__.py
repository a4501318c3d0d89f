"""What the methods share: data on the device, networks, the training loop."""
