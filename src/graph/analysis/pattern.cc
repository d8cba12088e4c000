#include "graph/analysis/pattern.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

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

bool reduces_rows(const Computation& computation) {
  if (computation.outputs.size() != 1) return false;
  const std::vector<Op> stages = stages_of(computation);
  const auto is_reduction = [](const Op& op) {
    return op->is_compute() && op->types.size() == 1 && !op->reduce_axes.empty();
  };
  if (std::ranges::count_if(stages, is_reduction) != 1) return false;
  const Op& op = *std::ranges::find_if(stages, is_reduction);
  if (op->reduce_axes.size() != 1 || op->axes.empty() || !ir::is_int(op->shape.back(), 1))
    return false;
  const auto reads_row = [&](const ir::TensorRead& read) {
    if (read.indices.size() != op->axes.size()) return false;
    for (std::size_t i = 0; i + 1 < read.indices.size(); ++i) {
      const bool is_one = ir::is_int(read.indices[i], 0) && ir::is_int(op->shape[i], 1);
      if (!is_one && !read.indices[i].same_as(op->axes[i]->var)) return false;
    }
    const ir::IterVar& terms = op->reduce_axes.front();
    return read.indices.back().same_as(terms->var) &&
           ir::equal(read.tensor->shape.back(), terms->extent);
  };
  return !ir::any_of(op->body, [&](const ir::TensorRead& read) { return !reads_row(read); });
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
