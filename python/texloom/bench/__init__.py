"""Benchmarks: ``python -m texloom.bench``, or ``./dev bench`` in a checkout."""
