// The elements that stages load and store at a point of their loops, and whether they may do so
// outside of their tensors.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "lower/build/stage_buffers.h"
#include "lower/build/stage_results.h"
#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

class StageAccesses {
 public:
  // Refers to all arguments. `is_checked`: whether kernels report accesses outside of buffers.
  StageAccesses(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                const StageBuffers& buffers, bool is_checked)
      : s_(schedule), bounds_(bounds), buffers_(buffers), is_checked_(is_checked) {}

  // The buffers of the stage, one for each output.
  const std::vector<ir::Buffer>& buffers(schedule::StageId id) const;

  // From now on, this index says which of its two buffers a double-buffered stage uses.
  void use_slot(schedule::StageId id, ir::Expr slot) { slot_[id] = std::move(slot); }
  // The indices in the buffer that the stage uses now.
  ir::Exprs in_slot(schedule::StageId id, ir::Exprs indices) const;

  // The element that the stage stores at this point of its loops.
  ResultElement element_of(schedule::StageId id) const;
  // The expression at this point of the loops, with reads of tensors replaced by loads from
  // buffers.
  ir::Expr reads(const ir::Expr& e, const schedule::StageBounds& b) const;
  ir::Exprs reads(const ir::Exprs& list, const schedule::StageBounds& b) const;
  // The initial values of the reduction.
  ir::Exprs start_of(const ir::Reduce& reduce, const schedule::StageBounds& b) const;

  // Whether the stage may compute points outside the tensor without a guard. Values outside the
  // tensor that a thread keeps in private memory are never read, and neither computing nor storing
  // them can fault. But a checked kernel would report such accesses, and another thread may be
  // writing the same row of a scan's state. Operands may have any value, but must have been
  // written, because a device's compiler assumes that no uninitialized private variable is read.
  bool may_run_anywhere(schedule::StageId id, const ir::Exprs& values);
  // Whether an index or a condition is also defined outside the tensor. Elements of temporaries
  // that a guard leaves out are undefined.
  bool may_decide_anywhere(const ir::Expr& e) const;

 private:
  bool reads_state(schedule::StageId id) const;
  // Whether all elements of a private buffer that the reader reads, or that the stage itself reads
  // back from an earlier step, are written: no guard leaves them out.
  bool is_written_everywhere(const ir::Buffer& b, schedule::StageId reader);
  bool is_inside(const ir::BufferNode& b, const ir::Exprs& indices) const;

  const schedule::Schedule& s_;
  const schedule::Bounds& bounds_;
  const StageBuffers& buffers_;
  const bool is_checked_;
  std::unordered_map<schedule::StageId, ir::Expr> slot_;
  std::map<schedule::StageId, bool> written_everywhere_;  // memoized by stage
};

}  // namespace texloom::lower
