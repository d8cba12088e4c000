#include "schedule/schedule.h"

#include <algorithm>

#include "schedule/operation/order.h"
#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

Schedule Schedule::create(const std::vector<Op>& outputs) {
  Schedule schedule;
  for (const Op& op : operations_of(outputs)) {
    const StageId id = schedule.add_stage(op, schedule.order_.size());
    schedule.stage(id).is_output =
        std::any_of(outputs.begin(), outputs.end(), [&](const Op& o) { return o.same_as(op); });
  }
  return schedule;
}

StageId Schedule::add_stage(const Op& op, size_t position) {
  const auto id = static_cast<StageId>(stages_.size());
  Stage stage;
  stage.id = id;
  stage.op = op;
  stage.origin = op;
  stage.leaves = loops_of(*op);
  stages_.push_back(std::move(stage));
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(position), id);
  by_operation_.emplace(op, id);
  if (op->is_scan()) begin_steps(id);
  return id;
}

std::optional<StageId> Schedule::find(const Op& op) const {
  const auto found = by_operation_.find(op);
  if (found == by_operation_.end()) return std::nullopt;
  return found->second;
}

StageId Schedule::producer(const Tensor& tensor) const {
  const auto id = find(operation_of(tensor));
  TL_CHECK(id.has_value(), "a body reads '" + tensor->name + "', which has no stage");
  return *id;
}

std::vector<StageId> Schedule::readers_of(StageId id) const {
  std::vector<StageId> readers;
  for (const StageId other : order_) {
    for (const Tensor& input : stage(other).op->inputs) {
      if (producer(input) != id) continue;
      readers.push_back(other);
      break;
    }
  }
  return readers;
}

void Schedule::set_body(StageId id, Expr body) {
  Stage& own = stage(id);
  check_body_size(body, own.name(), own.op->location);
  const Op op = with_body(*own.op, std::move(body));
  const auto& before = own.op->reduce_axes;
  const bool same_axes = std::equal(before.begin(), before.end(), op->reduce_axes.begin(),
                                    op->reduce_axes.end(), RefSame());
  TL_CHECK(same_axes || own.relations.empty(), own.name());
  own.op = op;
  if (!same_axes) own.leaves = loops_of(*op);
  by_operation_.emplace(own.op, id);
}

StageId Schedule::stage_of(const Tensor& tensor, const SourceLocation& where,
                           std::string_view directive) const {
  const auto id = find(operation_of(tensor));
  if (!id) {
    fail(where, Code::NotInSchedule, "create the schedule from an output that reads the tensor",
         "cannot apply {} to '{}': it is not part of this schedule", directive, tensor->name);
  }
  return *id;
}

}  // namespace texloom::schedule
