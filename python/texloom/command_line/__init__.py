"""Subcommands of ``texloom`` for models and devices: compile, run, bench, compare and others."""
