#include "graph/analysis/pattern.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "graph/analysis/movement.h"
#include "ir/equal.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "schedule/operation/operation_reads.h"
#include "schedule/operation/order.h"

namespace texloom::graph {
namespace {

using schedule::Op;
using schedule::ReadKind;

constexpr std::array kPatterns = {
    std::pair{Pattern::Elementwise, std::string_view("elementwise")},
    std::pair{Pattern::Broadcast, std::string_view("broadcast")},
    std::pair{Pattern::Injective, std::string_view("injective")},
    std::pair{Pattern::Reduction, std::string_view("reduction")},
    std::pair{Pattern::Contraction, std::string_view("contraction")},
    std::pair{Pattern::Opaque, std::string_view("opaque")},
};

// The stages that compute the outputs, producers first.
std::vector<Op> stages_of(const Computation& computation) {
  std::vector<Op> stages = schedule::operations_of(computation.outputs);
  std::erase_if(stages, [](const Op& op) { return op->is_placeholder(); });
  return stages;
}

// The least local kind of read of an input, through all stages.
ReadKind farthest_read(const std::vector<Op>& stages,
                       const std::vector<schedule::OperationReads>& reads) {
  std::map<const RefCounted*, ReadKind> far;
  ReadKind worst = ReadKind::Own;
  for (std::size_t i = stages.size(); i-- > 0;) {
    const ReadKind own = far[stages[i].get()];  // Own by default, as for the output
    for (const schedule::InputReads& input : reads[i].inputs) {
      ReadKind& kind = far[input.tensor->producer.get()];
      kind = std::max({kind, own, input.kind});
      if (schedule::operation_of(input.tensor)->is_placeholder())
        worst = std::max({worst, own, input.kind});
    }
  }
  return worst;
}

}  // namespace

std::string_view to_string(Pattern pattern) {
  return std::find_if(kPatterns.begin(), kPatterns.end(),
                      [&](const auto& row) { return row.first == pattern; })
      ->second;
}

std::optional<Pattern> pattern_of(std::string_view word) {
  for (const auto& [pattern, name] : kPatterns) {
    if (name == word) return pattern;
  }
  return std::nullopt;
}

Pattern pattern_of(const Computation& computation) {
  const std::vector<Op> stages = stages_of(computation);
  if (computation.outputs.size() != 1 || stages.empty()) return Pattern::Opaque;
  std::vector<schedule::OperationReads> reads;
  for (const Op& op : stages) {
    if (!op->is_compute()) return Pattern::Opaque;
    reads.push_back(schedule::reads_of(*op));
  }
  if (std::any_of(reads.begin(), reads.end(), [](const auto& each) { return each.contracts; }))
    return Pattern::Contraction;
  if (std::any_of(stages.begin(), stages.end(),
                  [](const Op& op) { return !op->reduce_axes.empty(); }))
    return Pattern::Reduction;
  switch (farthest_read(stages, reads)) {
    case ReadKind::Own:
      return Pattern::Elementwise;
    case ReadKind::Broadcast:
      return Pattern::Broadcast;
    case ReadKind::Other:
      break;
  }
  return std::all_of(reads.begin(), reads.end(), [](const auto& each) { return each.moves; })
             ? Pattern::Injective
             : Pattern::Reduction;
}

bool only_moves(const Computation& computation) {
  if (computation.outputs.size() != 1) return false;
  const auto reads = [](const ir::Expr& e) {
    return ir::any_of(e, [](const ir::TensorRead&) { return true; });
  };
  return std::ranges::all_of(stages_of(computation), [&](const Op& op) {
    return op->is_compute() && schedule::reads_of(*op).moves &&
           !ir::any_of(op->body, [&](const ir::Select& select) { return reads(select.condition); });
  });
}

std::optional<std::size_t> input_of_rows(const Computation& computation) {
  if (computation.outputs.size() != 1) return std::nullopt;
  const std::vector<Op> stages = stages_of(computation);
  const schedule::Operation* reduction = nullptr;
  for (const Op& op : stages) {
    if (!op->is_compute() || op->types.size() != 1 || op->axes.empty()) return std::nullopt;
    if (op->reduce_axes.empty()) continue;
    if (reduction != nullptr) return std::nullopt;
    reduction = op.get();
  }
  const ir::Exprs& made = computation.outputs.front()->shape;
  if (reduction == nullptr || reduction->reduce_axes.size() != 1 ||
      made.size() != reduction->shape.size() || !ir::is_int(made.back(), 1) ||
      !ir::is_int(reduction->shape.back(), 1))
    return std::nullopt;
  const ir::IterVar& terms = reduction->reduce_axes.front();
  const auto reads_row = [&](const ir::TensorRead& read) {
    const std::size_t last = reduction->axes.size() - 1;
    if (read.indices.size() != last + 1) return false;
    for (std::size_t i = 0; i < last; ++i) {
      const bool is_one = ir::is_int(read.indices[i], 0) && ir::is_int(reduction->shape[i], 1);
      if (!is_one && !read.indices[i].same_as(reduction->axes[i]->var)) return false;
    }
    return read.indices[last].same_as(terms->var) &&
           ir::equal(read.tensor->shape[last], terms->extent);
  };
  for (const Op& op : stages) {
    const bool has_other = ir::any_of(op->body, [&](const ir::TensorRead& read) {
      return op.get() == reduction ? !reads_row(read) : !reads_own_indices(*op, read);
    });
    if (has_other) return std::nullopt;
  }
  const auto is_whole = [&](const ir::Tensor& input) {
    return input->shape.size() == made.size() && ir::equal(input->shape.back(), terms->extent);
  };
  const auto input = std::ranges::find_if(computation.inputs, is_whole);
  if (input == computation.inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(input - computation.inputs.begin());
}

bool is_light(const Computation& computation) {
  return std::ranges::all_of(stages_of(computation), [](const Op& op) {
    const auto is_division = [](const ir::Binary& both) {
      return both.type.is_float() && ir::is_division(both.op);
    };
    return op->is_compute() && op->reduce_axes.empty() &&
           !ir::any_of(op->body, [](const ir::Call&) { return true; }) &&
           !ir::any_of(op->body, is_division);
  });
}

std::vector<std::size_t> inputs_in_indices(const Computation& computation) {
  const std::vector<Op> stages = stages_of(computation);
  std::set<const RefCounted*> found;  // operations that indices depend on
  for (auto op = stages.rbegin(); op != stages.rend(); ++op) {
    if (!(*op)->is_compute()) continue;
    for (const schedule::InputReads& input : schedule::reads_of(**op).inputs) {
      if (input.in_indices || found.contains(op->get())) found.insert(input.tensor->producer.get());
    }
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < computation.inputs.size(); ++i) {
    const ir::Tensor& input = computation.inputs[i];
    if (input->type.code == ir::TypeCode::Float && found.contains(input->producer.get()))
      numbers.push_back(i);
  }
  return numbers;
}

}  // namespace texloom::graph
