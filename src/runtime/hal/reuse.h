// Which free object serves a request for memory, and at what price: one rule for the objects that
// a pool recycles (workspace_pool.h) and for those that the temporaries of a plan share
// (runtime/workspace.h).
//
// An object serves a request when it is large enough in each axis and not wasteful in any: at most
// kMaxAxisRatio times what is wanted. Never by area alone: tall and wide textures would take turns
// in objects that fit neither.
//
// One that is too small may be grown: made anew with the larger of both extents in each axis. That
// must not be wasteful either, for the request nor for what the object was made for, and must add
// less memory than an object for the request alone. Objects only grow, and what was made for a
// request serves it again: so a sequence of requests that repeats comes to an end of growing.
//
// Kind, format and usage are the caller's to compare.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "runtime/hal/types.h"

namespace texloom::hal {

inline constexpr std::uint64_t kMaxAxisRatio = 5;

// Of a texture in texels, of a buffer in bytes.
struct ReuseExtent {
  std::uint64_t x = 0;
  std::uint64_t y = 1;

  static ReuseExtent of(std::uint64_t bytes) { return {bytes, 1}; }
  static ReuseExtent of(Extent2D texels) { return {texels.width, texels.height}; }
  bool operator==(const ReuseExtent&) const = default;

  std::uint64_t area() const { return x * y; }
};

// Less is better: first what is added by growing, then what is wasted. An exact fit costs nothing.
struct ReuseCost {
  std::uint64_t added = 0;   // 0 when the object serves as it is
  std::uint64_t wasted = 0;  // of the object, once it has grown
  auto operator<=>(const ReuseCost&) const = default;
};

// Of `wanted` in an object of extent `there`; nothing when they do not go together. An extent of
// zero goes with none.
std::optional<ReuseCost> reuse_cost(ReuseExtent wanted, ReuseExtent there);

// The larger in each axis: what an object of one extent grows to for the other.
ReuseExtent grown(ReuseExtent a, ReuseExtent b);

}  // namespace texloom::hal
