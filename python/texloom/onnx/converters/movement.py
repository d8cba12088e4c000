"""Operators that move elements: reshape, transpose, concatenate, split, pad, tile."""
