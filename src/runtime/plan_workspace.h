// Plans the memory for a plan's temporaries: decides which of them share an object, and borrows the
// objects from the device's pool for a run.
//
// A temporary reuses an object whose earlier users have been freed, possibly enlarging it, by the
// rule of hal/internal/memory/reuse.h; the kind and the format must match. Temporaries that are
// live at the same time never share an object, so no kernel both reads and writes one.
//
// Sharing is decided once, before any run. A run acquires as many objects as are live at the same
// time; none is allocated if the pool has them from earlier runs. This is safe because the queue is
// in order.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/queue.h"
#include "runtime/hal/workspace_pool.h"
#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

// `plan` must be valid. Sharing does not enlarge an object beyond `max_object_bytes`.
WorkspacePlan plan_workspace(const LaunchPlan& plan, std::uint64_t max_object_bytes =
                                                         std::numeric_limits<std::uint64_t>::max());

// The objects that a run borrows. Must be released when everything that uses them has been
// submitted to the queue; if it is destroyed without a release, the pool waits until no command
// buffer names the objects.
class Workspace {
 public:
  // The errors of WorkspacePool::acquire.
  static Result<Workspace> acquire(hal::WorkspacePool& pool,
                                   const std::shared_ptr<hal::Queue>& queue,
                                   const WorkspacePlan& plan);

  // By temporary. Objects may be larger than their temporaries.
  std::span<const hal::Binding> bindings() const { return bindings_; }

  void release();

 private:
  Status add(hal::WorkspacePool& pool, const std::shared_ptr<hal::Queue>& queue,
             const TensorStorage& storage);

  std::vector<std::variant<hal::Lease<hal::Buffer>, hal::Lease<hal::Texture>>> leases_;
  std::vector<hal::Binding> bindings_;
};

}  // namespace texloom::runtime
