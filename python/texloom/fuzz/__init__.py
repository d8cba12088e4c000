"""A fuzzer of schedules: ``texloom-fuzz``, or ``./dev fuzz``.

A random computation under a random schedule is run as it stands in the reference interpreter, then
after every pass of lowering and code generation, then on devices.
"""
