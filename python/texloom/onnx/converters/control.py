"""Control flow."""
