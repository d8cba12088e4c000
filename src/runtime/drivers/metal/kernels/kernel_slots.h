// Where a kernel's parameters are in Metal's argument tables, and how its constants are laid out.
//
// Buffers, textures and threadgroup memory each count from 0 in the order of the parameters. The
// constants are one buffer after the last of the others: a struct with the constants in order, each
// at a multiple of its size, as in C.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/hal/binding.h"
#include "runtime/hal/executable.h"

namespace texloom::hal::metal {

struct KernelSlots {
  std::uint32_t buffers = 0;  // without the constants, whose slot has this number
  std::uint32_t textures = 0;
  std::uint32_t locals = 0;
  std::uint64_t constant_bytes = 0;  // of the struct; 0 without constants
};

// The offset of a constant in the struct, which it advances.
inline std::uint64_t place_constant(std::uint64_t& end, std::uint32_t bytes) {
  const std::uint64_t offset = (end + bytes - 1) / bytes * bytes;
  end = offset + bytes;
  return offset;
}

inline KernelSlots slots_of(const EntryPoint& entry) {
  KernelSlots slots;
  std::uint64_t largest = 1;
  for (const KernelParam& param : entry.params) {
    if (std::holds_alternative<BufferParam>(param)) ++slots.buffers;
    if (std::holds_alternative<TextureParam>(param)) ++slots.textures;
    if (std::holds_alternative<LocalParam>(param)) ++slots.locals;
    if (const auto* constant = std::get_if<ConstantParam>(&param)) {
      const std::uint32_t bytes = byte_size(constant->type);
      place_constant(slots.constant_bytes, bytes);
      largest = bytes > largest ? bytes : largest;
    }
  }
  slots.constant_bytes = (slots.constant_bytes + largest - 1) / largest * largest;
  return slots;
}

// The most that setBytes takes, and so the most that a kernel's constants may take.
inline constexpr std::size_t kMaxSetBytes = 4096;
using ConstantBytes = std::array<std::byte, kMaxSetBytes>;

// Writes the constants to the struct. What is between them is left as it is.
inline void pack_constants(std::span<const Constant> constants, ConstantBytes& packed) {
  std::uint64_t end = 0;
  for (const Constant& constant : constants) {
    const std::uint32_t bytes = byte_size(constant.type());
    std::memcpy(packed.data() + place_constant(end, bytes), constant.data(), bytes);
  }
}

}  // namespace texloom::hal::metal
