"""Where scripts of TVM look for its exception."""
