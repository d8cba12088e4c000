"""Changes of texts of programs: at random, and to smaller ones that fail in the same way."""
