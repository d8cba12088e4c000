// Converts between float32 and float16 in OpenCL C without values of its type half, and from
// float64.
#pragma once

#include <string>

#include "codegen/c/prelude.h"

namespace texloom::codegen::opencl {

// Returns the name of a function that rounds `from` (float32 or float64, a scalar or a vector) to
// the nearest float16 value, ties to even, and returns it as float32.
std::string round_to_half(Prelude& prelude, ir::Type from);

// Vectors of float16 cross memory as vectors of ushort, in one access: NVIDIA's compiler makes a
// memory access of each lane of vloada_half4 and vstorea_half4. The functions below convert between
// both kinds of vectors.

// Returns the name of a function from ushortN to floatN, where N is `lanes`.
std::string widen_halves(Prelude& prelude, int lanes);
// Returns the name of a function from `from`, a vector of float32 or float64, to a vector of ushort
// with the nearest float16 values, ties to even.
std::string narrow_to_halves(Prelude& prelude, ir::Type from);

// Returns the name of a function from doubleN to floatN, where N is `lanes`, that rounds to odd:
// rounding the result to a type with fewer digits is then the only rounding.
std::string round_to_odd(Prelude& prelude, int lanes);

}  // namespace texloom::codegen::opencl
