// Axes along which one thread needs indices that are not consecutive.
//
// If threads take turns along an axis, with four consecutive elements each, say, then one thread
// has the indices 0..3, 16..19 and 32..35, relative to its first index. The thread's private memory
// then has only these 12 elements rather than 36.
#pragma once

#include <optional>
#include <vector>

#include "ir/arith/region.h"

namespace texloom::schedule {

// The offsets digit_0 * stride_0 + digit_1 * stride_1 + ..., each once. Without digits: all
// offsets.
class StridedAxis {
 public:
  struct Digit {
    int64_t extent = 1, stride = 1;
    bool operator==(const Digit&) const = default;
  };

  StridedAxis() = default;
  // Least significant first: each stride exceeds the largest offset of the digits before it.
  explicit StridedAxis(std::vector<Digit> digits) : digits_(std::move(digits)) {}

  // Whether the axis skips offsets. If so, the place of an element differs from its offset.
  bool leaves_out() const {
    return digits_.size() > 1 || (!digits_.empty() && digits_[0].stride > 1);
  }
  int64_t count() const;  // the number of places
  ir::Expr offset_of(const ir::Expr& place) const;
  ir::Expr place_of(const ir::Expr& offset) const;

  bool operator==(const StridedAxis&) const = default;

 private:
  std::vector<Digit> digits_;
};

struct StridedRegion {
  ir::arith::LinearSum min;  // over the fixed variables
  StridedAxis axis;
};

// The values of an index while the variables of `running`, which start at 0, take all values.
// nullopt if the index is not a sum of multiples of these variables, or takes a value twice.
std::optional<StridedRegion> strided_region_of(const ir::Expr& index,
                                               const ir::arith::RegionMap& running,
                                               const ir::arith::Ranges& ranges);

}  // namespace texloom::schedule
