// Memory for the temporaries of one plan: decides which of them share an object, and borrows the
// objects from the device's pool for a run.
//
// A temporary reuses an object whose earlier users are freed, or has it grown, by the rule of
// hal/internal/memory/reuse.h; kinds and formats do not mix. Two temporaries that live at the same
// time never share an object, so no kernel reads and writes one.
//
// Sharing is decided once, before any run: a run takes as many objects from the pool as live at
// once, and none from the driver if the pool has them from earlier runs. This is safe because the
// queue is in order.
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

struct WorkspacePlan {
  std::vector<TensorStorage> objects;
  std::vector<std::uint32_t> object_of;  // by temporary; undefined for one never allocated
};

// `plan` is valid. Sharing does not grow an object beyond `max_object_bytes`.
WorkspacePlan plan_workspace(const LaunchPlan& plan, std::uint64_t max_object_bytes =
                                                         std::numeric_limits<std::uint64_t>::max());

// The borrowed objects of a plan. To be released when everything that uses them has been submitted
// to the queue; if it is destroyed before, the pool waits until no command buffer names them.
class Workspace {
 public:
  // The errors of WorkspacePool::acquire.
  static Result<Workspace> acquire(hal::WorkspacePool& pool,
                                   const std::shared_ptr<hal::Queue>& queue,
                                   const WorkspacePlan& plan);

  // By temporary. Origins are (0, 0), and objects may be larger than their temporaries.
  std::span<const hal::Binding> bindings() const { return bindings_; }

  void release();

 private:
  Status add(hal::WorkspacePool& pool, const std::shared_ptr<hal::Queue>& queue,
             const TensorStorage& storage);

  std::vector<std::variant<hal::Lease<hal::Buffer>, hal::Lease<hal::Texture>>> leases_;
  std::vector<hal::Binding> bindings_;
};

}  // namespace texloom::runtime
