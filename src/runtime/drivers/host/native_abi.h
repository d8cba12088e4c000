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

// A kernel: the function of the shared object with the entry point's name. It runs blocks
// [begin, end) of the grid, numbered with x fastest, of `groups` blocks along each axis. There is
// an argument for each parameter of the entry point, in order: the first byte of a buffer, aligned
// to kBufferAlignment; a NativeTexture; or the address of a constant. Returns 0, or 1 if there is
// no memory for the arrays of a block.
using NativeKernel = std::int32_t (*)(const void* const* arguments, const std::uint32_t* groups,
                                      std::uint64_t begin, std::uint64_t end);

}  // namespace texloom::hal::host
