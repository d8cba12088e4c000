#include "lower/build/stage_accesses.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/reducer.h"
#include "ir/visit.h"
#include "lower/build/tensorize.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

const std::vector<Buffer>& StageAccesses::buffers(StageId id) const {
  const std::vector<Buffer>& own = buffers_.of_stage[static_cast<size_t>(id)];
  TL_CHECK(own.front(), s_.stage(id).name() + " has no buffer: the schedule was not checked");
  return own;
}

ResultElement StageAccesses::element_of(StageId id) const {
  return {buffers(id), in_slot(id, bounds_.of(id).position)};
}

Exprs StageAccesses::in_slot(StageId id, Exprs indices) const {
  const auto slot = slot_.find(id);
  if (slot != slot_.end()) indices.insert(indices.begin(), slot->second);
  return indices;
}

bool StageAccesses::may_run_anywhere(StageId id, const Exprs& values) {
  const BufferNode& own = *buffers(id).front();  // all outputs have the same storage
  if (!is_private(own.memory) || is_checked_ || reads_state(id)) return false;
  bool safe = is_inside(own, element_of(id).indices);
  for (const Expr& value : values) {
    walk(
        value,
        [&](const Load& n) {
          safe = safe && (n.buffer->is_texture() || is_inside(*n.buffer, n.indices)) &&
                 is_written_everywhere(n.buffer, id) &&
                 std::all_of(n.indices.begin(), n.indices.end(),
                             [&](const Expr& index) { return may_decide_anywhere(index); });
        },
        [&](const Binary& n) { safe = safe && !division_may_fail(n); },
        [&](const ForeignCall&) { safe = false; });
  }
  return safe;
}

bool StageAccesses::may_decide_anywhere(const Expr& e) const {
  bool defined = true;
  walk(e, [&](const Load& n) {
    defined = defined && buffers_.is_param(n.buffer) && is_inside(*n.buffer, n.indices);
  });
  return defined;
}

bool StageAccesses::reads_state(StageId id) const {
  const std::vector<Tensor>& inputs = s_.stage(id).op->inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Tensor& input) { return s_.is_state(input); });
}

bool StageAccesses::is_written_everywhere(const Buffer& b, StageId reader) {
  if (!is_private(b->memory)) return true;
  const std::optional<StageId> of_stage = buffers_.stage_of(b);
  // Partial results of a reduction that threads share are initialized everywhere.
  if (!of_stage || *of_stage == reader) return true;
  const StageBounds& bounds = bounds_.of(*of_stage);
  if (bounds.guards.empty()) return true;
  if (tensorized_loop(s_.stage(*of_stage), bounds)) return false;  // guarded as a whole
  const Expr& body = s_.stage(*of_stage).op->body;
  const auto* reduce = as<Reduce>(body);
  const auto [known, added] = written_everywhere_.try_emplace(*of_stage, false);
  if (added) {
    known->second = may_run_anywhere(
        *of_stage, reduce != nullptr ? start_of(*reduce, bounds) : reads(values_of(body), bounds));
  }
  return known->second;
}

Exprs StageAccesses::start_of(const Reduce& reduce, const StageBounds& b) const {
  return reads(reduce.init.empty() ? reduce.reducer.identities : reduce.init, b);
}

bool StageAccesses::is_inside(const BufferNode& b, const Exprs& indices) const {
  if (b.is_symbolic()) return false;
  for (size_t i = 0; i < indices.size(); ++i) {
    const arith::Interval range = arith::bounds(indices[i], bounds_.ranges);
    if (!range.within(0, b.shape[i] - 1)) return false;
  }
  return true;
}

Expr StageAccesses::reads(const Expr& e, const StageBounds& b) const {
  return rewrite(substitute(e, b.index), [&](const TensorRead& n, const Expr&) {
    const StageId source = s_.producer(n.tensor);
    const StageBounds& of_source = bounds_.of(source);
    Exprs indices = n.indices;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (i < of_source.buffer_min.size()) {
        const Expr offset = arith::simplify(indices[i] - of_source.buffer_min[i], bounds_.ranges);
        indices[i] = of_source.strides[i].place_of(offset);
      }
      indices[i] = arith::simplify(indices[i], bounds_.ranges);
    }
    const Buffer& buffer = buffers(source)[static_cast<size_t>(n.tensor->output)];
    return make_load(buffer, in_slot(source, std::move(indices)), n.location);
  });
}

Exprs StageAccesses::reads(const Exprs& list, const StageBounds& b) const {
  Exprs values;
  for (const Expr& e : list) values.push_back(reads(e, b));
  return values;
}

}  // namespace texloom::lower
