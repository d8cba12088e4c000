// How the driver calls kernels in native code: the interface that the LLVM backend compiles to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace texloom::hal::host {

// A texture argument. Coordinates outside the image are allowed: reads give zeros, and writes are
// dropped.
struct NativeTexture {
  std::byte* texels = nullptr;
  std::uint32_t width = 0, height = 0;  // in texels
  std::uint64_t row_pitch = 0;          // in bytes
};
static_assert(offsetof(NativeTexture, width) == 8 && offsetof(NativeTexture, height) == 12 &&
              offsetof(NativeTexture, row_pitch) == 16);

// A kernel: the function with the entry point's name, a texloom_native_kernel (linked_kernels.h).
// It runs blocks [begin, end) of the grid, numbered with x fastest, of `groups` blocks along each
// axis. There is an argument for each parameter of the entry point, in order: the first byte of a
// buffer, aligned to kBufferAlignment; a NativeTexture; or the address of a constant. Returns 0, or
// 1 if there is no memory for the arrays of a block. kNativeAbi (support/processor/native_code.h)
// is the version.

}  // namespace texloom::hal::host
