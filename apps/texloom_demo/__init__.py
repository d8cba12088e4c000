"""A demonstration: ``python -m texloom_demo``, or ``./dev demo`` in a checkout."""
