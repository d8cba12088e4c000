#include "graph/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>

#include "compile/te_program.h"
#include "ir/interpret/batches/batches.h"
#include "ir/interpret/interpret.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"
#include "schedule/operation/order.h"
#include "schedule/schedule.h"
#include "support/diagnostic.h"
#include "validation/unscheduled.h"

namespace texloom::graph {
namespace {

using Loops = std::vector<ir::IterVar>;

// nullopt if an extent is open, or if the product exceeds the limit.
std::optional<std::int64_t> product_of(const ir::Exprs& extents, std::int64_t limit) {
  std::int64_t count = 1;
  for (const ir::Expr& extent : extents) {
    const std::int64_t* number = ir::int_value(extent);
    if (number == nullptr || *number < 1 || *number > limit / count) return std::nullopt;
    count *= *number;
  }
  return count;
}

// Whether all tensors have known extents and at most `limit` elements.
bool fits(const std::vector<ir::Tensor>& tensors, std::int64_t limit) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const ir::Tensor& tensor) {
    return product_of(tensor->shape, limit).has_value();
  });
}

// Whether the loops of an operation make more iterations than this. If they do, running the
// program up to the limit would only waste the time.
bool is_long(const Computation& computation, std::int64_t max_steps) {
  const std::vector<schedule::Op> operations = schedule::operations_of(computation.outputs);
  return std::any_of(operations.begin(), operations.end(), [&](const schedule::Op& op) {
    ir::Exprs extents;
    for (const ir::IterVar& loop : op->is_compute() ? schedule::loops_of(*op) : Loops())
      extents.push_back(loop->extent);
    return !product_of(extents, max_steps).has_value();
  });
}

// The computation as a program over its inputs, then its outputs.
ir::Program program_of(const Computation& computation) {
  compile::TeProgramDesc desc;
  std::vector<schedule::Op> operations;
  for (const ir::Tensor& output : computation.outputs) {
    const schedule::Op op = schedule::operation_of(output);
    const bool is_new = std::none_of(operations.begin(), operations.end(),
                                     [&](const schedule::Op& o) { return o.same_as(op); });
    if (is_new) operations.push_back(op);
  }
  desc.schedule = schedule::Schedule::create(operations);
  for (const ir::Tensor& input : computation.inputs) desc.arguments.emplace_back(input);
  for (const ir::Tensor& output : computation.outputs) desc.arguments.emplace_back(output);
  desc.name = "constant";
  return validation::unscheduled_program(compile::te_program(std::move(desc)));
}

bool is_all_defined(const ir::Memory& memory) {
  for (std::int64_t i = 0; i < memory.size(); ++i) {
    if (memory.get(i).undefined != 0) return false;
  }
  return true;
}

// Whether each input has the bytes of its parameter.
bool fit(const std::vector<Elements>& inputs, const ir::Program& program) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::BufferNode& param = *program.params[i];
    auto bytes = static_cast<std::size_t>(param.type.bytes());
    for (const std::int64_t extent : param.shape) bytes *= static_cast<std::size_t>(extent);
    if (inputs[i]->size() != bytes) return false;
  }
  return true;
}

std::optional<std::vector<Elements>> computed_in_batches(const ir::Program& program,
                                                         const std::vector<Elements>& inputs,
                                                         const ir::BatchOptions& options) {
  std::vector<std::span<const std::byte>> given;
  for (const Elements& each : inputs) given.emplace_back(*each);
  std::vector<std::vector<std::byte>> made;
  if (!ir::interpret_in_batches(program, given, made, options)) return std::nullopt;
  std::vector<Elements> outputs;
  for (std::vector<std::byte>& each : made)
    outputs.push_back(std::make_shared<const std::vector<std::byte>>(std::move(each)));
  return outputs;
}

std::optional<std::vector<Elements>> interpreted(const ir::Program& program,
                                                 const std::vector<Elements>& inputs,
                                                 const ir::InterpretOptions& options) {
  std::deque<ir::Memory> memories;  // a deque, because `places` points to its elements
  std::vector<ir::Placement> places;
  for (std::size_t i = 0; i < program.params.size(); ++i) {
    memories.push_back(ir::memory_for(*program.params[i]));
    places.push_back({&memories.back()});
    if (i >= inputs.size()) continue;
    memories.back().bytes() = *inputs[i];
    memories.back().define_all();
  }
  try {
    if (!ir::interpret(program, places, options).empty()) return std::nullopt;
  } catch (const UserError&) {  // InterpreterLimit, NotInterpreted
    return std::nullopt;
  }
  std::vector<Elements> outputs;
  for (std::size_t i = inputs.size(); i < places.size(); ++i) {
    if (!is_all_defined(memories[i])) return std::nullopt;
    outputs.push_back(
        std::make_shared<const std::vector<std::byte>>(std::move(memories[i].bytes())));
  }
  return outputs;
}

}  // namespace

std::optional<std::vector<Elements>> evaluated(const Computation& computation,
                                               const std::vector<Elements>& inputs,
                                               std::int64_t max_steps,
                                               const std::function<void()>& interruption) {
  const bool computes = std::none_of(
      computation.outputs.begin(), computation.outputs.end(),
      [](const ir::Tensor& output) { return schedule::operation_of(output)->is_placeholder(); });
  if (!computes || !computation.symbols.empty() || !fits(computation.inputs, max_steps) ||
      !fits(computation.outputs, max_steps) || is_long(computation, max_steps))
    return std::nullopt;
  const ir::Program program = program_of(computation);
  // A loop of open length makes a symbol, for instance.
  if (!program.symbols.empty() || !fit(inputs, program)) return std::nullopt;
  auto outputs = computed_in_batches(program, inputs, {max_steps, interruption});
  if (outputs) return outputs;
  return interpreted(program, inputs, {.max_steps = max_steps, .interruption = interruption});
}

}  // namespace texloom::graph
