// The source of the values of a plan's constants.
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
  // The bytes of a constant in the layout of its storage (runtime/plan/tensor_layout.h), with
  // padding; the rows of a texture follow one another without gaps. The bytes stay valid as long as
  // the source. Called by one thread at a time.
  virtual Result<std::span<const std::byte>> bytes(std::uint32_t constant) = 0;
};

}  // namespace texloom::runtime
