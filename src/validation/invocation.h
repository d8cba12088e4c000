// One call of a program, with the values that its caller passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/interpret/instantiate.h"
#include "ir/program.h"
#include "lower/lowering.h"

namespace texloom::validation {

// The elements of one array in row-major order, in the encoding of devices.
using Bytes = std::vector<std::byte>;

struct Invocation {
  std::vector<std::optional<Bytes>> inputs;  // one for each parameter, nothing for an output
  std::map<std::string, ir::SymbolValue> symbols{};  // by their names
};

// The number of elements; 2^62 where there are more.
int64_t element_count(const ir::Shape& shape);

// The program of this call, with numbers in place of its symbols. Fails with InterpreterLimit where
// a symbol has no value.
ir::Program at_call(const ir::Program& program, const Invocation& call);
int64_t at_call(const ir::Expr& extent, const ir::Exprs& symbols, const Invocation& call);

// A parameter of a schedule at one call.
struct CallArgument {
  ir::Tensor tensor;
  bool is_input = false;
  bool has_origin = false;  // its array may begin anywhere in an image
  ir::Shape shape{};
  // The shape of the array that is passed, which differs where transform_layout gave other axes;
  // and for each element of the tensor its number in the array, both in row-major order.
  ir::Shape array_shape{};
  std::vector<int64_t> places{};
};
// Fails with BadShape or InterpreterLimit where an extent is not positive, or there are more than
// 2^20 elements.
std::vector<CallArgument> arguments_at_call(const lower::Lowering& lowering,
                                            const Invocation& call);

}  // namespace texloom::validation
