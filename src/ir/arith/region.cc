#include "ir/arith/region.h"

#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::ir::arith {
namespace {

using MaybeRegion = std::optional<Region>;

class Relaxer {
 public:
  Relaxer(const RegionMap& running, const Ranges& ranges) : running_(running), ranges_(ranges) {}

  MaybeRegion of(const Expr& e) {
    return visit(
        e, [&](const IntImm&) { return MaybeRegion({e, e}); },
        [&](const Var&) {
          const auto found = running_.find(e);
          return MaybeRegion(found == running_.end() ? Region{e, e} : found->second);
        },
        [&](const Binary& n) { return binary(n, e); },
        [&](const Select& n) {
          const MaybeRegion a = of(n.if_true), b = of(n.if_false);
          return a && b ? MaybeRegion(join(*a, *b, ranges_)) : std::nullopt;
        },
        [&](const auto&) { return MaybeRegion(); });
  }

 private:
  Expr simple(const Expr& e) const { return simplify(e, ranges_); }

  MaybeRegion binary(const Binary& n, const Expr& e) {
    const MaybeRegion a = of(n.a), b = of(n.b);
    if (!a || !b) return std::nullopt;
    if (is_point(*a) && is_point(*b)) {
      const Expr point = simple(make_binary(n.op, a->min, b->min));
      return Region{point, point};
    }
    switch (n.op) {
      case BinaryOp::Add:
        return Region{simple(a->min + b->min), simple(a->max + b->max)};
      case BinaryOp::Sub:
        return Region{simple(a->min - b->max), simple(a->max - b->min)};
      case BinaryOp::Min:
        return Region{simple(min(a->min, b->min)), simple(min(a->max, b->max))};
      case BinaryOp::Max:
        return Region{simple(max(a->min, b->min)), simple(max(a->max, b->max))};
      case BinaryOp::Mul:
        return product(*a, *b, e);
      case BinaryOp::FloorDiv:
        return division(*a, *b, e);
      case BinaryOp::FloorMod:
        return remainder(*a, *b, e);
      default:
        return by_interval(e);
    }
  }

  static bool is_point(const Region& r) { return equal(r.min, r.max); }

  MaybeRegion product(const Region& a, const Region& b, const Expr& e) {
    const int64_t* factor = int_value(b.min);
    if (is_point(b) && factor != nullptr) {
      Region scaled{simple(a.min * b.min), simple(a.max * b.min)};
      if (*factor < 0) std::swap(scaled.min, scaled.max);
      return scaled;
    }
    if (is_point(a) && int_value(a.min) != nullptr) return product(b, a, e);
    return by_interval(e);
  }

  MaybeRegion division(const Region& a, const Region& b, const Expr& e) {
    const int64_t* divisor = int_value(b.min);
    if (!is_point(b) || divisor == nullptr || *divisor <= 0) return by_interval(e);
    return Region{simple(floordiv(a.min, b.min)), simple(floordiv(a.max, b.min))};
  }

  MaybeRegion remainder(const Region& a, const Region& b, const Expr& e) {
    const int64_t* divisor = int_value(b.min);
    if (!is_point(b) || divisor == nullptr || *divisor <= 0) return by_interval(e);
    const auto quotients =
        constant_difference(floordiv(a.max, b.min), floordiv(a.min, b.min), ranges_);
    if (quotients && *quotients == 0) {
      return Region{simple(floormod(a.min, b.min)), simple(floormod(a.max, b.min))};
    }
    return Region{make_int(0, e->type), make_int(*divisor - 1, e->type)};
  }

  // A region with constant ends, if the interval of `e` is bounded.
  MaybeRegion by_interval(const Expr& e) const {
    Ranges all = ranges_;
    for (const auto& [var, region] : running_) {
      all.set(var, {bounds(region.min, ranges_).min, bounds(region.max, ranges_).max});
    }
    const Interval interval = bounds(e, all);
    if (!interval.bounded()) return std::nullopt;
    return Region{make_int(interval.min, e->type), make_int(interval.max, e->type)};
  }

  const RegionMap& running_;
  const Ranges& ranges_;
};

}  // namespace

std::optional<Region> region_of(const Expr& e, const RegionMap& running, const Ranges& ranges) {
  return Relaxer(running, ranges).of(simplify(e, ranges));
}

Region join(const Region& a, const Region& b, const Ranges& ranges) {
  return {simplify(min(a.min, b.min), ranges), simplify(max(a.max, b.max), ranges)};
}

}  // namespace texloom::ir::arith
