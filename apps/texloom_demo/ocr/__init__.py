"""Reads the text of a scanned page with three networks: detection, direction, recognition."""
