"""Benchmarks: ``python -m texloom_bench``, or ``./dev bench`` in a checkout."""
