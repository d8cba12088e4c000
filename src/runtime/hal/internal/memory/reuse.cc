#include "runtime/hal/internal/memory/reuse.h"

#include <algorithm>

namespace texloom::hal {
namespace {

bool fits_axis(std::uint64_t wanted, std::uint64_t there) {
  // there <= wanted * kMaxAxisRatio, computed without the product, which may overflow.
  return there >= wanted && there > 0 && (there - 1) / kMaxAxisRatio < wanted;
}

bool fits(ReuseExtent wanted, ReuseExtent there) {
  return fits_axis(wanted.x, there.x) && fits_axis(wanted.y, there.y);
}

}  // namespace

ReuseExtent grown(ReuseExtent a, ReuseExtent b) { return {std::max(a.x, b.x), std::max(a.y, b.y)}; }

std::optional<ReuseCost> reuse_cost(ReuseExtent wanted, ReuseExtent there) {
  const ReuseExtent after = grown(wanted, there);
  if (!fits(wanted, after)) return std::nullopt;
  const std::uint64_t added = after.area() - there.area();
  if (added > 0 && (added >= wanted.area() || !fits(there, after))) return std::nullopt;
  return ReuseCost{added, after.area() - wanted.area()};
}

}  // namespace texloom::hal
