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

}  // namespace texloom::hal::metal
