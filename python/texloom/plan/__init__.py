"""Planning of memory ahead of time: buffers in one dimension, textures in two."""
