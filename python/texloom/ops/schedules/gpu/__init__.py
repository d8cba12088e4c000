"""Schedules for targets that are no processor: tensors with their channels last in memory."""
