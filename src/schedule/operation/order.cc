#include "schedule/operation/order.h"

#include <unordered_map>

namespace texloom::schedule {

// Iterative: chains of operations may be long.
std::vector<Op> operations_of(const std::vector<Op>& outputs) {
  std::vector<Op> order;
  std::unordered_map<const Operation*, bool> done;  // false while its inputs are being visited
  std::vector<Op> stack(outputs.rbegin(), outputs.rend());
  while (!stack.empty()) {
    const Op op = stack.back();
    const auto [state, first_visit] = done.try_emplace(op.get(), false);
    if (first_visit) {
      const std::vector<ir::Tensor>& inputs = op->inputs;
      for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
        const Op source = operation_of(*input);
        if (!done.contains(source.get())) stack.push_back(source);
      }
      continue;
    }
    stack.pop_back();
    if (!state->second) order.push_back(op);
    state->second = true;
  }
  return order;
}

std::vector<Op> operations_of(const std::vector<ir::Tensor>& outputs) {
  std::vector<Op> operations;
  for (const ir::Tensor& output : outputs) operations.push_back(operation_of(output));
  return operations_of(operations);
}

}  // namespace texloom::schedule
