// Decides which free object of a pool (workspace_pool.h) serves a request for memory, and at what
// cost. The pool does not know what will be requested next; the planner, which knows all of a
// plan's requests (runtime/plan/workspace.h), takes no more memory than this rule would.
//
// An object serves a request if, in each axis, it is large enough and at most kMaxAxisRatio times
// as large as requested. The rule does not compare areas: tall and wide textures would then
// alternate in objects that fit neither.
//
// An object that is too small may be grown: replaced by an object that has the larger of the two
// extents in each axis. The grown object must serve both the request and a request for the old
// extent by the rule above, and must add less memory than a new object. Objects only grow, and an
// object made for a request serves it again, so a repeating sequence of requests stops growing
// objects.
//
// The caller compares kind, format and usage.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "runtime/hal/types.h"

namespace texloom::hal {

inline constexpr std::uint64_t kMaxAxisRatio = 5;

// Texels of a texture, bytes of a buffer.
struct ReuseExtent {
  std::uint64_t x = 0;
  std::uint64_t y = 1;

  static ReuseExtent of(std::uint64_t bytes) { return {bytes, 1}; }
  static ReuseExtent of(Extent2D texels) { return {texels.width, texels.height}; }
  bool operator==(const ReuseExtent&) const = default;

  std::uint64_t area() const { return x * y; }
};

// Ordered by the memory that growing adds, then by the memory wasted. An exact fit costs nothing.
struct ReuseCost {
  std::uint64_t added = 0;   // 0 when the object serves as it is
  std::uint64_t wasted = 0;  // of the object, once it has grown
  auto operator<=>(const ReuseCost&) const = default;
};

// The cost of serving a request for `wanted` with an object of extent `there`; nullopt if the
// object does not fit, or if an extent is zero.
std::optional<ReuseCost> reuse_cost(ReuseExtent wanted, ReuseExtent there);

// The larger extent in each axis: the size to which an object of one extent grows for the other.
ReuseExtent grown(ReuseExtent a, ReuseExtent b);

}  // namespace texloom::hal
