// Where the values of a plan's constants come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/status.h"

namespace texloom::runtime {

// Implemented by packages, which map the bytes, and by programs that have them in memory.
class ConstantSource {
 public:
  virtual ~ConstantSource() = default;
  // The bytes of a constant as its place holds them (runtime/plan/tensor_layout.h), padding
  // included: of a texture row by row, without gaps. They stay valid as long as the source. Called
  // by one thread at a time.
  virtual Result<std::span<const std::byte>> bytes(std::uint32_t constant) = 0;
};

}  // namespace texloom::runtime
