// Decides which free object serves a request for memory, and at what cost: one rule for the objects
// that a pool recycles (workspace_pool.h) and for those that the temporaries of a plan share
// (runtime/plan_workspace.h).
//
// An object serves a request if it is large enough in each axis and not wasteful in any: at most
// kMaxAxisRatio times the request. Never by area: tall and wide textures would alternate in objects
// that fit neither.
//
// An object that is too small may be grown: replaced by one with the larger of both extents in each
// axis. That must not be wasteful for the request, nor for what the object was made for, and must
// add less memory than a new object. Objects only grow, and an object made for a request serves it
// again, so a repeating sequence of requests stops growing objects.
//
// Kind, format and usage are the caller's to compare.
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

// Compares first the memory added by growing, then the memory wasted. An exact fit costs nothing.
struct ReuseCost {
  std::uint64_t added = 0;   // 0 when the object serves as it is
  std::uint64_t wasted = 0;  // of the object, once it has grown
  auto operator<=>(const ReuseCost&) const = default;
};

// The cost of `wanted` in an object of extent `there`; nothing if it does not serve, or if an
// extent is zero.
std::optional<ReuseCost> reuse_cost(ReuseExtent wanted, ReuseExtent there);

// The larger in each axis: what an object of one extent grows to for the other.
ReuseExtent grown(ReuseExtent a, ReuseExtent b);

}  // namespace texloom::hal
