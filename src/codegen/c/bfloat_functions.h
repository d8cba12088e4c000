// Functions that convert between float32 and the bits of bfloat16, for languages that lack the
// type.
#pragma once

#include <string>

#include "codegen/c/prelude.h"
#include "ir/type.h"

namespace texloom::codegen {

// How a language spells conversions of an operand.
struct BitSpelling {
  std::string (*converted)(ir::Type to, const std::string& integer);    // the same number
  std::string (*reinterpreted)(ir::Type to, const std::string& value);  // the same bits
};

// The name of the function that returns the bits of the nearest bfloat16 of float32 numbers, as
// uint16: ties to even, overflow to infinity, and a NaN becomes a quiet NaN.
const std::string& narrow_to_bfloats(Prelude& prelude, const BitSpelling& spelling, int lanes);

// The name of the function that returns the numbers with these bits, as float32.
const std::string& widen_bfloats(Prelude& prelude, const BitSpelling& spelling, int lanes);

}  // namespace texloom::codegen
