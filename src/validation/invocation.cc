#include "validation/invocation.h"

#include <algorithm>

#include "ir/analysis/symbolic_extents.h"
#include "lower/schedule/check_symbols.h"
#include "support/diagnostic.h"
#include "support/function_ref.h"

namespace texloom::validation {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 20;  // the most elements of one argument

ir::SymbolValues symbol_values_of(const ir::Exprs& symbols, const Invocation& call) {
  ir::SymbolValues values;
  for (const ir::Expr& symbol : symbols) {
    const std::string& name = ir::as<ir::Var>(symbol)->name;
    const auto given = call.symbols.find(name);
    if (given == call.symbols.end()) {
      fail(symbol->location, Code::InterpreterLimit, "give its value at the call",
           "the symbol '{}' has no value", name);
    }
    if (!symbol->type.is_float() && std::holds_alternative<double>(given->second)) {
      fail(symbol->location, Code::InterpreterLimit, "give it a value of its type",
           "the symbol '{}' is {}, but its value is a float", name, ir::to_string(symbol->type));
    }
    values[symbol] = given->second;
  }
  return values;
}

// Calls the function for each index of the shape, in row-major order.
void for_each_index(const ir::Shape& shape, FunctionRef<void(const std::vector<int64_t>&)> see) {
  std::vector<int64_t> index(shape.size());
  while (true) {
    see(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

std::vector<int64_t> places_of(const ir::IndexMap& map) {
  const ir::Shape shape = map.new_shape();
  std::vector<int64_t> places;
  for_each_index(map.shape, [&](const std::vector<int64_t>& index) {
    const std::vector<int64_t> new_index = map.at(index);
    int64_t place = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      place = place * shape[axis] + new_index[axis];
    places.push_back(place);
  });
  return places;
}

}  // namespace

int64_t element_count(const ir::Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t count = 1;
  for (const int64_t extent : shape) count = extent > kMost / count ? kMost : count * extent;
  return count;
}

ir::Program at_call(const ir::Program& program, const Invocation& call) {
  if (program.symbols.empty()) return program;
  return ir::instantiate(program, symbol_values_of(program.symbols, call));
}

int64_t at_call(const ir::Expr& extent, const ir::Exprs& symbols, const Invocation& call) {
  return ir::value_of(extent, symbol_values_of(symbols, call));
}

std::vector<CallArgument> arguments_at_call(const lower::Lowering& lowering,
                                            const Invocation& call) {
  const ir::SymbolValues symbols = symbol_values_of(lower::symbols_of(lowering), call);
  std::vector<CallArgument> arguments;
  for (const lower::Argument& argument : lowering.arguments) {
    const schedule::Op op = schedule::operation_of(argument.tensor);
    CallArgument at{argument.tensor, op->is_placeholder(),
                    argument.declaration && argument.declaration->has_origin};
    for (const ir::Expr& e : schedule::extents_of(argument.tensor->shape, op->name, op->location)) {
      at.shape.push_back(ir::value_of(e, symbols));
      if (at.shape.back() > 0) continue;
      fail(op->location, Code::InterpreterLimit, "give the symbols larger values",
           "the argument '{}' has no element at this call", op->name);
    }
    const auto stage = lowering.schedule.find(op);
    const bool moved = stage && lowering.schedule.stage(*stage).transform;
    const ir::IndexMap map =
        moved ? lowering.schedule.stage(*stage).transform->map : ir::identity_map(at.shape);
    at.array_shape = map.new_shape();
    if (std::max(element_count(at.shape), element_count(at.array_shape)) > kMaxElements) {
      fail(op->location, Code::InterpreterLimit, "give it smaller extents",
           "the argument '{}' has more than {} elements", op->name, kMaxElements);
    }
    at.places = places_of(map);
    arguments.push_back(std::move(at));
  }
  return arguments;
}

}  // namespace texloom::validation
