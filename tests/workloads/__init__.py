"""Computations and schedules in the style of te's users, with NumPy references, for tests."""
