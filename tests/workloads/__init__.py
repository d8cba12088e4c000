"""Computations and schedules as users of te write them, with NumPy references, for tests."""
