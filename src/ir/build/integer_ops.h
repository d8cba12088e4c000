// Computes the integer operations of the IR on known values. No other code defines the results of
// these operations.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"
#include "ir/type.h"

namespace texloom::ir {

// The treatment of a result that the type cannot represent.
enum class Overflow : std::uint8_t {
  Wrap,    // it is reduced modulo 2^bits, as in kernels
  Refuse,  // no result, as in proofs about mathematical integers
};

// The result of `op`, which is neither And nor Or, for operands of an integer type or bool; the
// result of a comparison is 0 or 1. Values of uint64 are given as their bits. nullopt if the IR
// leaves the result open: a division by zero, a shift by a negative number or by at least the width
// of the type.
std::optional<int64_t> integer_result(BinaryOp op, Type type, int64_t a, int64_t b,
                                      Overflow overflow);

}  // namespace texloom::ir
