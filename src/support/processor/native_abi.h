/* The interface between native code of kernels and what calls it: the LLVM backend compiles to it,
 * the driver "host" calls it, and object files that programs link define it. C11 and C++. */
#ifndef TEXLOOM_SUPPORT_PROCESSOR_NATIVE_ABI_H_
#define TEXLOOM_SUPPORT_PROCESSOR_NATIVE_ABI_H_

#include <stdint.h>

/* The version of this interface, which objects name in their note (native_code.h). */
#define TEXLOOM_NATIVE_ABI "1"

#ifdef __cplusplus
extern "C" {
#endif

/* A texture argument, of 4 elements for each texel. Coordinates outside the image are allowed:
 * reads give zeros, and writes are dropped. */
typedef struct texloom_native_texture {
  void* texels;
  uint32_t width, height; /* in texels */
  uint64_t row_pitch;     /* in bytes */
} texloom_native_texture;

/* A kernel: the function with the entry point's name. It runs blocks [begin, end) of the grid,
 * numbered with x fastest, of `groups` (3) blocks along each axis. There is an argument for each
 * parameter of the entry point, in order: the first byte of a buffer, aligned to 16 bytes; a
 * texloom_native_texture; or the address of a constant. Returns 0, or 1 if there is no memory for
 * the arrays of a block. Any number of threads may call it, for blocks that differ. */
typedef int32_t texloom_native_kernel(const void* const* arguments, const uint32_t* groups,
                                      uint64_t begin, uint64_t end);

#ifdef __cplusplus
}
#endif

#endif
