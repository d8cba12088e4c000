#include "graph/scopes/cost_model.h"

#include "compile/operation_count.h"

namespace texloom::graph {

double cost_of(const CostModel& model, double bytes, double operations) {
  return model.start_ns + bytes / model.bytes_per_ns + operations / model.operations_per_ns;
}

double operations_of(const lower::Lowering& program) {
  const auto count = compile::count_operations(program.schedule);
  return count ? compile::total(*count, {}).value_or(0) : 0;
}

double moved_bytes(const Stored& stored, ir::Type type) {
  return static_cast<double>(bytes_of(stored, type).value_or(0));
}

double copy_cost(const CostModel& model, const std::vector<Stored>& tensors, ir::Type type) {
  double bytes = 0;
  for (const Stored& stored : tensors) bytes += moved_bytes(stored, type);
  return cost_of(model, bytes, 0);
}

}  // namespace texloom::graph
