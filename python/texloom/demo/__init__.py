"""A demonstration: ``python -m texloom.demo``, or ``./dev demo`` in a checkout."""
