// Borrows the objects of a workspace plan (runtime/plan/workspace.h) from the device's pool for a
// run, and binds temporaries to their places in them.
//
// A run acquires as many objects as the plan has; none is allocated if the pool has them from
// earlier runs. The reuse is safe because the queue is in order. Counters of blocks come from
// objects that the pool lends for nothing else: two runs have the same ones only if one follows the
// other.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/workspace_pool.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The objects that a run borrows. Must be released when everything that uses them has been
// submitted to the queue; if it is destroyed without a release, the pool waits until no command
// buffer names the objects.
class LeasedWorkspace {
 public:
  // `places` is a workspace of a plan with these temporaries. The errors of WorkspacePool::acquire.
  static Result<LeasedWorkspace> acquire(hal::WorkspacePool& pool,
                                         const std::shared_ptr<hal::Queue>& queue,
                                         std::span<const TensorSpec> temporaries,
                                         const WorkspacePlan& places);

  // The bindings, one for each temporary. A buffer is bound as a part of exactly its bytes
  // (Buffer::subspan), so that a kernel that states no size touches no other temporary, and one
  // kernel may read one temporary and write another: OpenCL allows this for parts of a buffer that
  // do not overlap. An image may be larger than its temporary, unless the temporary requires its
  // exact extent.
  std::span<const hal::Binding> bindings() const { return bindings_; }

  void release();

 private:
  Status add(hal::WorkspacePool& pool, const std::shared_ptr<hal::Queue>& queue,
             const TensorStorage& storage);
  Result<hal::Binding> bind(const TensorStorage& tensor, const Placement& place) const;

  std::vector<std::variant<hal::Lease<hal::Buffer>, hal::Lease<hal::Texture>>> leases_;
  std::vector<hal::Binding> bindings_;
};

}  // namespace texloom::runtime
