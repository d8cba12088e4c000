"""Compiled functions: their methods, several as one module, and their files."""
