// Axes of which one thread needs indices that do not follow one another.
//
// Threads that take turns along an axis, four consecutive elements each, say, leave each of them
// with the indices 0..3, 16..19, 32..35 from its own first one on. What a thread keeps for itself
// then has places for these alone: 12, not 36.
#pragma once

#include <optional>
#include <vector>

#include "ir/arith/region.h"

namespace texloom::schedule {

// The offsets digit_0 * stride_0 + digit_1 * stride_1 + ..., each of them once; no digits: all.
class StridedAxis {
 public:
  struct Digit {
    int64_t extent = 1, stride = 1;
    bool operator==(const Digit&) const = default;
  };

  StridedAxis() = default;
  // The least significant first: each stride is above the largest offset of those before it.
  explicit StridedAxis(std::vector<Digit> digits) : digits_(std::move(digits)) {}

  // Whether offsets are left out, so that places and offsets are not the same.
  bool leaves_out() const {
    return digits_.size() > 1 || (!digits_.empty() && digits_[0].stride > 1);
  }
  int64_t count() const;  // of places
  ir::Expr offset_of(const ir::Expr& place) const;
  ir::Expr place_of(const ir::Expr& offset) const;

  bool operator==(const StridedAxis&) const = default;

 private:
  std::vector<Digit> digits_;
};

struct StridedRegion {
  ir::arith::LinearSum min;  // of variables that stand still
  StridedAxis axis;
};

// The values of an index while the variables of `running`, each from 0 on, take all values; nothing
// where it is no sum of multiples of them, or takes a value twice.
std::optional<StridedRegion> strided_region_of(const ir::Expr& index,
                                               const ir::arith::RegionMap& running,
                                               const ir::arith::Ranges& ranges);

}  // namespace texloom::schedule
