// The slots of a kernel's parameters in Metal's argument tables, and the layout of its constants.
//
// Buffers, textures and threadgroup memory each count from 0 in the order of the parameters. A
// kernel may also take its buffers and textures in an argument buffer, buffer 0: a struct with
// their addresses in order, 8 bytes each. The constants are one more buffer, after all other
// buffers: a struct with the constants in order, each at a multiple of its size, as in C.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/drivers/metal/api/limits.h"
#include "runtime/hal/binding.h"
#include "runtime/hal/executable.h"

namespace texloom::hal::metal {

struct KernelSlots {
  bool in_argument_buffer = false;
  std::uint32_t buffers = 0;  // without the argument buffer and the constants
  std::uint32_t textures = 0;
  std::uint32_t locals = 0;
  std::uint64_t constant_bytes = 0;  // of the struct; 0 without constants

  // The slot for buffers that has the constants.
  std::uint32_t constants_slot() const { return in_argument_buffer ? 1 : buffers; }
  std::uint32_t buffer_slots() const { return constants_slot() + (constant_bytes == 0 ? 0 : 1); }
  // The number of parameters that an argument buffer holds.
  std::uint32_t resources() const { return buffers + textures; }
};

// Returns the offset of the next constant in the struct, and advances `end` past the constant.
inline std::uint64_t place_constant(std::uint64_t& end, std::uint32_t bytes) {
  const std::uint64_t offset = (end + bytes - 1) / bytes * bytes;
  end = offset + bytes;
  return offset;
}

// Counts the parameter, unless it is a constant.
inline void count(const KernelParam& param, KernelSlots& slots) {
  if (std::holds_alternative<BufferParam>(param)) ++slots.buffers;
  if (std::holds_alternative<TextureParam>(param)) ++slots.textures;
  if (std::holds_alternative<LocalParam>(param)) ++slots.locals;
}

// Does not set in_argument_buffer: only the source decides whether there is an argument buffer.
inline KernelSlots slots_of(const EntryPoint& entry) {
  KernelSlots slots;
  std::uint64_t largest = 1;
  for (const KernelParam& param : entry.params) {
    count(param, slots);
    if (const auto* constant = std::get_if<ConstantParam>(&param)) {
      const std::uint32_t bytes = byte_size(constant->type);
      place_constant(slots.constant_bytes, bytes);
      largest = bytes > largest ? bytes : largest;
    }
  }
  slots.constant_bytes = (slots.constant_bytes + largest - 1) / largest * largest;
  return slots;
}

using ConstantBytes = std::array<std::byte, kMaxSetBytes>;
using ArgumentAddresses = std::array<std::uint64_t, kMaxSetBytes / sizeof(std::uint64_t)>;

// Writes the constants to the struct, and zeros between them.
inline void pack_constants(std::span<const Constant> constants, std::span<std::byte> packed) {
  std::fill(packed.begin(), packed.end(), std::byte{0});
  std::uint64_t end = 0;
  for (const Constant& constant : constants) {
    const std::uint32_t bytes = byte_size(constant.type());
    std::memcpy(packed.data() + place_constant(end, bytes), constant.data(), bytes);
  }
}

}  // namespace texloom::hal::metal
