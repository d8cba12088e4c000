"""Windows and Fourier transforms."""
