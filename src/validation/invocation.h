// Describes one call of a program, with the values that its caller passes.
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

// The elements of one array in row-major order, in the device's encoding.
using Bytes = std::vector<std::byte>;

struct Invocation {
  std::vector<std::optional<Bytes>> inputs;  // one for each parameter, nullopt for an output
  std::map<std::string, ir::SymbolValue> symbols{};  // by their names
};

// The number of elements, but at most 2^62.
int64_t element_count(const ir::Shape& shape);

// The program for this call, with its symbols replaced by numbers. Fails with InterpreterLimit if a
// symbol has no value.
ir::Program at_call(const ir::Program& program, const Invocation& call);
int64_t at_call(const ir::Expr& extent, const ir::Exprs& symbols, const Invocation& call);

// A parameter of a schedule at one call.
struct CallArgument {
  ir::Tensor tensor;
  bool is_input = false;
  bool has_origin = false;  // its texture may begin anywhere in an image
  ir::Shape shape{};
  // The shape of the array that the caller passes, which differs if transform_layout changed the
  // axes; and for each element of the tensor the index in that array. Both are in row-major order.
  ir::Shape array_shape{};
  std::vector<int64_t> places{};
};
// Fails with BadShape or InterpreterLimit if an extent is not positive or there are more than 2^20
// elements.
std::vector<CallArgument> arguments_at_call(const lower::Lowering& lowering,
                                            const Invocation& call);

}  // namespace texloom::validation
