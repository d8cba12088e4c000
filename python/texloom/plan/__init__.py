"""Memory planning: textures in two dimensions, buffers in one."""
