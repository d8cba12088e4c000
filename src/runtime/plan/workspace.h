// Plans the memory for a plan's temporaries, by the planner of src/plan: the object of each
// temporary, and its place in the object.
//
// Buffers that are live together lie in disjoint ranges of one arena. If it takes no more bytes,
// buffers that are live together lie in separate objects instead: a launch then needs no
// sub-buffer. Textures lie in images, which are as large as they must be for all their tensors.
// Live textures share an image, side by side, only if all kernels that use a tensor know its
// origin, and no kernel reads one of these textures and writes the other; a tensor whose origin
// some kernel takes to be (0, 0) lies at (0, 0).
//
// All counters of blocks are at the beginning of one object, which has nothing else.
//
// Lifetimes are those between the steps that allocate and free. A temporary that is allocated
// outside of a loop lives as long as the whole loop; a temporary that is allocated inside is freed
// inside.
//
// All of this is decided once, before any run (see runtime/executor/leased_workspace.h).
#pragma once

#include <cstdint>

#include "runtime/hal/device_info.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// The numbers of steps that improve a first plan.
struct WorkspaceEffort {
  std::int64_t buffer_steps = 0;
  std::int64_t texture_steps = 0;  // for each format; a texture step costs less
};
// For a call with new values of symbols. Takes some microseconds for a few temporaries, and less
// than a millisecond for fifty.
inline constexpr WorkspaceEffort kQuickWorkspace{5'000, 20'000};
// For a plan that is made once and kept. Takes less than a second for a hundred temporaries.
inline constexpr WorkspaceEffort kThoroughWorkspace{500'000, 2'000'000};

// `plan` must be valid and without symbols. Offsets of buffers are multiples of
// `limits.buffer_offset_alignment`. Sharing makes no object larger than
// limits.max_allocation_bytes, and no image larger than max_image_width by max_image_height. A
// temporary that exceeds a limit by itself gets an object that the pool will refuse.
//
// The first plan takes steps at most in proportion to the square of the number of temporaries; its
// improvement takes the steps of the effort. Deterministic. No plan takes more texels than one in
// which each temporary reuses an idle image by the rule of hal/internal/memory/reuse.h.
//
// LimitExceeded if the temporaries are more or larger than the planner can add up.
Result<WorkspacePlan> plan_workspace(const LaunchPlan& plan, const hal::DeviceLimits& limits,
                                     const WorkspaceEffort& effort);

// A lower bound for the bytes of any workspace plan: the most bytes that are live at once, for
// buffers and for the textures of each format.
std::uint64_t least_workspace_bytes(const LaunchPlan& plan);

}  // namespace texloom::runtime
