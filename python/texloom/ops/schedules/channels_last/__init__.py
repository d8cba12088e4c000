"""What kernels of tensors with their channels last have in common."""
