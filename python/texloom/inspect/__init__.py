"""The contents of package files: ``texloom inspect``."""
