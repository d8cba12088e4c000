"""Parts that kernels of tensors with their channels last share."""
