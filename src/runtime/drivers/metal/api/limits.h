// Sizes of Metal's argument tables, which the API does not report (Apple's "Metal feature set
// tables").
#pragma once

#include <cstddef>
#include <cstdint>

namespace texloom::hal::metal {

inline constexpr std::uint32_t kBufferSlots = 31;
inline constexpr std::uint32_t kMostTextureSlots = 128;  // some devices have fewer
// The most that setBytes takes, and so the most that a kernel's constants may take.
inline constexpr std::size_t kMaxSetBytes = 4096;

// Bytes of the largest vector that kernels load at once, a float4.
inline constexpr std::uint64_t kVectorBytes = 16;
// Offsets of buffers in the address space `constant` are multiples of this, but on Apple's GPUs.
inline constexpr std::uint64_t kConstantAlignment = 32;

}  // namespace texloom::hal::metal
