"""Sequences and optional values, which exist only while a model is imported."""
