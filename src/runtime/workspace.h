// Memory for the temporaries of one plan: which of them share an object, and the objects.
//
// A temporary takes over an object whose earlier tenants are freed when it fits there without
// waste in any axis: same kind and format, no smaller in either axis, at most kMaxGrowth times
// larger in each. Never by area alone: tall and wide textures would take turns in images that fit
// neither. An exact fit goes first, then the one with the least wasted space. Two temporaries that
// live at the same time never share an object, so no kernel reads and writes one.
//
// Sharing is decided once, before any run, so that a run allocates nothing. It is safe because
// the queue is in order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/device.h"
#include "runtime/launch_plan.h"
#include "support/status.h"

namespace texloom::runtime {

inline constexpr std::uint64_t kMaxGrowth = 5;

struct WorkspacePlan {
  std::vector<TensorStorage> objects;
  std::vector<std::uint32_t> object_of;  // by temporary; undefined for one never allocated
};

// `plan` is valid.
WorkspacePlan plan_workspace(const LaunchPlan& plan);

// The bindings of all temporaries, in objects made for this device; origins are (0, 0), and
// objects may be larger than their temporaries.
Result<std::vector<hal::Binding>> create_workspace(hal::Device& device,
                                                   const WorkspacePlan& workspace);

}  // namespace texloom::runtime
