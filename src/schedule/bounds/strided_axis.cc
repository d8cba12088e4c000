#include "schedule/bounds/strided_axis.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool uses_any(const Expr& e, const arith::RegionMap& running) {
  return any_of(e, [&](const Var& v) { return running.contains(Expr(&v)); });
}

// Sorts digits and joins digits that follow one another; nullopt if an offset has two lists of
// digits.
std::optional<StridedAxis> axis_of(std::vector<StridedAxis::Digit> digits) {
  std::sort(digits.begin(), digits.end(),
            [](const auto& a, const auto& b) { return a.stride < b.stride; });
  std::vector<StridedAxis::Digit> joined;
  int64_t largest = 0;
  for (const StridedAxis::Digit& d : digits) {
    if (d.stride <= largest) return std::nullopt;
    largest += (d.extent - 1) * d.stride;
    if (!joined.empty() && joined.back().extent * joined.back().stride == d.stride) {
      joined.back().extent *= d.extent;
    } else {
      joined.push_back(d);
    }
  }
  return StridedAxis(std::move(joined));
}

}  // namespace

int64_t StridedAxis::count() const {
  int64_t places = 1;
  for (const Digit& d : digits_) places *= d.extent;
  return places;
}

Expr StridedAxis::offset_of(const Expr& place) const {
  if (!leaves_out()) return place;
  Expr offset = make_int(0);
  int64_t below = 1;
  for (const Digit& d : digits_) {
    const Expr above = floordiv(place, below);
    const bool outermost = &d == &digits_.back();
    offset = offset + (outermost ? above : floormod(above, d.extent)) * d.stride;
    below *= d.extent;
  }
  return offset;
}

Expr StridedAxis::place_of(const Expr& offset) const {
  if (!leaves_out()) return offset;
  Expr place = make_int(0), rest = offset;
  int64_t below = count();
  for (auto d = digits_.rbegin(); d != digits_.rend(); ++d) {
    below /= d->extent;
    place = place + floordiv(rest, d->stride) * below;
    rest = floormod(rest, d->stride);
  }
  return place;
}

std::optional<StridedRegion> strided_region_of(const Expr& index, const arith::RegionMap& running,
                                               const arith::Ranges& ranges) {
  if (index->type != kInt32) return std::nullopt;
  const arith::LinearSum sum = arith::linear_sum(index, ranges);
  arith::LinearSum min = arith::LinearSum::constant_sum(sum.constant);
  std::vector<StridedAxis::Digit> digits;
  for (const arith::LinearTerm& term : sum.terms) {
    const auto loop = running.find(term.atom);
    if (loop == running.end()) {
      if (uses_any(term.atom, running)) return std::nullopt;
      min.terms.push_back(term);
      continue;
    }
    const int64_t* last = int_value(loop->second.max);
    if (last == nullptr || term.coefficient < 0) return std::nullopt;
    if (*last > 0) digits.push_back({*last + 1, term.coefficient});
  }
  const auto axis = axis_of(std::move(digits));
  if (!axis) return std::nullopt;
  return StridedRegion{std::move(min), *axis};
}

}  // namespace texloom::schedule
