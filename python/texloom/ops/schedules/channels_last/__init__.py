"""Shared parts of kernels for tensors with channels last."""
