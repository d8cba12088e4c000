// Sizes of Metal's argument tables, which the API does not report (Apple's "Metal feature set
// tables").
#pragma once

#include <cstddef>
#include <cstdint>

namespace texloom::hal::metal {

inline constexpr std::uint32_t kBufferSlots = 31;
inline constexpr std::uint32_t kMostTextureSlots = 128;  // some devices have fewer
// The most bytes that setBytes accepts, which also limits a kernel's constants.
inline constexpr std::size_t kMaxSetBytes = 4096;

// Bytes of the largest vector that kernels load at once, a float4.
inline constexpr std::uint64_t kVectorBytes = 16;
// The alignment of offsets of buffers in the address space `constant`, on GPUs other than Apple's.
inline constexpr std::uint64_t kConstantAlignment = 32;

}  // namespace texloom::hal::metal
