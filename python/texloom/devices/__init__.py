"""Devices: those of this machine, by kind and number, and kinds that have no driver."""
