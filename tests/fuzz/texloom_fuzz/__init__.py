"""A fuzzer of schedules: ``python -m texloom_fuzz``, or ``./dev fuzz``.

A random computation under a random schedule runs in the reference interpreter, first as written,
then after every pass of lowering and code generation, and finally on devices.
"""
