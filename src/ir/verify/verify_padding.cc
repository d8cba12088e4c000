#include "ir/verify/verify_padding.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "ir/verify/verify_text.h"
#include "ir/visit.h"

namespace texloom::ir {
namespace {

using LaneMask = uint32_t;
LaneMask bit(int lane) { return LaneMask{1} << static_cast<unsigned>(lane); }
LaneMask all_lanes(Type type) { return bit(type.lanes) - 1; }

// The constant value of a lane of integers or bools; nullopt if the lane is not constant.
std::optional<int64_t> constant_lane(const Expr& e, int lane) {
  if (const int64_t* value = int_value(e)) return *value;
  if (const auto* n = as<Broadcast>(e)) return constant_lane(n->value, 0);
  if (const auto* n = as<Pack>(e)) return constant_lane(n->elements[static_cast<size_t>(lane)], 0);
  if (const auto* n = as<Ramp>(e)) {
    const int64_t *base = int_value(n->base), *stride = int_value(n->stride);
    int64_t value = 0;
    if (base == nullptr || stride == nullptr ||
        __builtin_mul_overflow(*stride, int64_t{lane}, &value) ||
        __builtin_add_overflow(*base, value, &value)) {
      return std::nullopt;
    }
    return value;
  }
  const auto* n = as<Binary>(e);
  if (n == nullptr) return std::nullopt;
  const auto a = constant_lane(n->a, lane), b = constant_lane(n->b, lane);
  if (!a || !b) return std::nullopt;
  const Type type = n->a->type.element();
  const Expr folded = type.is_bool() ? make_binary(n->op, make_bool(*a != 0), make_bool(*b != 0))
                                     : make_binary(n->op, make_int(*a, type), make_int(*b, type));
  const int64_t* value = int_value(folded);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// Evaluates expressions with values for their variables. nullopt if a lane index is out of range:
// then a condition keeps the expression from being evaluated.
class Evaluation {
 public:
  explicit Evaluation(const Substitution& values) : values_(values) {}

  std::optional<Expr> of(const Expr& e) {
    failed_ = failed_ || !has_lanes(e);
    return failed_ ? std::nullopt : std::optional(substitute(e, values_));
  }

 private:
  bool has_lanes(const Expr& e) {
    if (!seen_.insert(e.get()).second) return true;
    bool all = true;
    for_each_child(e, [&](const Expr& child) { all = all && has_lanes(child); });
    const auto* n = as<Lane>(e);
    if (!all || n == nullptr || int_value(n->index) != nullptr) return all;
    const Expr index = substitute(n->index, values_);
    const int64_t* lane = int_value(index);
    return lane == nullptr || (*lane >= 0 && *lane < n->vector->type.lanes);
  }

  const Substitution& values_;
  std::unordered_set<const ExprNode*> seen_;  // expressions without a bad lane, unless `failed_`
  bool failed_ = false;
};

// The texel of a load or a store whose coordinates are constant and inside the rectangle. nullopt
// for a texture whose size depends on the call.
std::optional<Coordinates> constant_texel(const Buffer& texture, const Expr& x, const Expr& y) {
  const int64_t *col = int_value(x), *row = int_value(y);
  if (col == nullptr || row == nullptr || texture->is_symbolic()) return std::nullopt;
  const Layout& layout = texture->layout;
  const bool inside =
      *col >= 0 && *col < layout.col_count() && *row >= 0 && *row < layout.row_count();
  return inside ? std::optional(Coordinates{*row, *col, 0}) : std::nullopt;
}

bool is_padding(const Layout& layout, Coordinates at, int lane) {
  at.lane = lane;
  return !layout.index_at(at);
}

// The lanes of one expression that are computed from undefined padding.
class UndefinedLanes {
 public:
  LaneMask of(const Expr& e) {
    const auto [found, is_new] = known_.try_emplace(e.get(), 0);
    if (!is_new) return found->second;
    const LaneMask result = visit(
        e, [&](const TextureLoad& n) { return load(n); },
        [&](const Lane& n) {
          const int64_t* lane = int_value(n.index);
          return lane == nullptr ? 0 : (of(n.vector) >> static_cast<unsigned>(*lane)) & 1;
        },
        [&](const Broadcast& n) { return of(n.value) != 0 ? all_lanes(n.type) : 0; },
        [&](const Pack& n) {
          LaneMask mask = 0;
          for (size_t i = 0; i < n.elements.size(); ++i) {
            if (of(n.elements[i]) != 0) mask |= bit(static_cast<int>(i));
          }
          return mask;
        },
        [&](const Select& n) { return select(n); },
        // The right side may not be evaluated.
        [&](const Binary& n) { return of(n.a) | (is_logical(n.op) ? 0 : of(n.b)); },
        [&](const auto&) {
          LaneMask mask = 0;
          for_each_child(e, [&](const Expr& child) { mask |= of(child); });
          return mask;
        });
    return known_[e.get()] = result;
  }

 private:
  static LaneMask load(const TextureLoad& n) {
    const Layout& layout = n.texture->layout;
    const auto at = constant_texel(n.texture, n.x, n.y);
    if (!at || layout.padding == Padding::Zero) return 0;
    LaneMask mask = 0;
    for (int lane = 0; lane < kTexelLanes; ++lane) {
      if (is_padding(layout, *at, lane)) mask |= bit(lane);
    }
    return mask;
  }

  LaneMask select(const Select& n) {
    const LaneMask if_true = of(n.if_true), if_false = of(n.if_false);
    LaneMask mask = 0;
    for (int lane = 0; lane < n.type.lanes; ++lane) {
      const auto condition = constant_lane(n.condition, lane);
      if (condition) mask |= (*condition != 0 ? if_true : if_false) & bit(lane);
    }
    return mask;
  }

  std::unordered_map<const ExprNode*, LaneMask> known_;
};

// Whether one lane of a value is zero for certain.
bool is_zero(const Expr& e, int lane) {
  return visit(
      e, [](const IntImm& n) { return n.value == 0; },
      [](const FloatImm& n) { return n.value == 0; },
      [](const Broadcast& n) { return is_zero(n.value, 0); },
      [&](const Pack& n) { return is_zero(n.elements[static_cast<size_t>(lane)], 0); },
      [&](const Cast& n) { return is_zero(n.value, lane); },
      [](const Lane& n) {
        const int64_t* index = int_value(n.index);
        return index != nullptr && is_zero(n.vector, static_cast<int>(*index));
      },
      [&](const Select& n) {
        const auto condition = constant_lane(n.condition, lane);
        return (condition == 0 || is_zero(n.if_true, lane)) &&
               ((condition && *condition != 0) || is_zero(n.if_false, lane));
      },
      [&](const TextureLoad& n) {
        const auto at = constant_texel(n.texture, n.x, n.y);
        if (!at) return n.texture->origin.exact_image && int_value(n.x) && int_value(n.y);
        return n.texture->layout.padding == Padding::Zero &&
               is_padding(n.texture->layout, *at, lane);
      },
      [](const auto&) { return false; });
}

class PaddingCheck {
 public:
  explicit PaddingCheck(const Program& program) : program_(program) {}

  std::vector<Violation> run() {
    for (const Kernel& kernel : program_.kernels) check(kernel);
    return std::move(found_);
  }

 private:
  // The first iterations of all enclosing loops, or their last iterations.
  struct Point {
    bool last;
    Substitution values = {};
    bool comes_here = true;  // whether all enclosing conditions hold at this point
  };

  void check(const Kernel& kernel) {
    bool padded = false;
    // The layout does not depend on the origin of the rectangle: take (0, 0).
    Substitution origins;
    const auto see = [&](const Buffer& b) {
      padded = padded || (!b->is_symbolic() && b->layout.has_padding());
      for (const Expr* word : {&b->origin.x, &b->origin.y}) {
        if (*word) origins[*word] = make_int(0);
      }
    };
    for (const KernelParam& p : kernel.params) {
      if (p.buffer) see(p.buffer);
    }
    if (!padded) return;
    points_ = {Point{false, origins}, Point{true, origins}};
    for (const ThreadAxis& axis : kernel.axes) {
      for (Point& p : points_) {
        const int64_t* extent = int_value(axis.extent);
        const int64_t last = extent == nullptr ? 0 : *extent - 1;
        p.values[axis.var] = make_int(p.last ? last : 0, axis.var->type);
      }
    }
    stmt(kernel.body);
  }

  void stmt(const Stmt& s) {
    visit(
        s,
        [&](const Store& n) {
          for (const Point& p : points_) {
            if (p.comes_here) store(n, s, p.values);
          }
        },
        [&](const TextureStore& n) {
          for (const Point& p : points_) {
            if (p.comes_here) texture_store(n, s, p.values);
          }
        },
        [&](const For& n) {
          // A loop that may have no iterations proves nothing.
          const int64_t* extent = int_value(n.extent);
          if (extent == nullptr || *extent < 1) return;
          inside(n.body, n.var,
                 [&](const Point& p) { return make_int(p.last ? *extent - 1 : 0, n.var->type); });
        },
        [&](const Let& n) {
          inside(n.body, n.var,
                 [&](const Point& p) { return Evaluation(p.values).of(n.value).value_or(n.var); });
        },
        [&](const If& n) { guarded(n); }, [](const While&) {},  // a While may have no iterations
        [&](const auto&) {
          for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
        });
  }

  template <class Value>
  void inside(const Stmt& body, const Expr& var, const Value& value) {
    for (Point& p : points_) p.values[var] = value(p);
    stmt(body);
    for (Point& p : points_) p.values.erase(var);
  }

  void guarded(const If& n) {
    const std::array outer = {points_[0].comes_here, points_[1].comes_here};
    for (Point& p : points_) {
      const auto condition = Evaluation(p.values).of(n.condition);
      p.comes_here = p.comes_here && condition && is_true(*condition);
    }
    stmt(n.then);
    for (size_t i = 0; i < points_.size(); ++i) points_[i].comes_here = outer[i];
  }

  void texture_store(const TextureStore& n, const Stmt& s, const Substitution& point) {
    Evaluation evaluation(point);
    const auto x = evaluation.of(n.x), y = evaluation.of(n.y), value = evaluation.of(n.value);
    const auto at = x && y ? constant_texel(n.texture, *x, *y) : std::nullopt;
    if (!at || !value) return;
    const LaneMask undefined = UndefinedLanes().of(*value);
    for (int lane = 0; lane < kTexelLanes; ++lane) {
      const std::string place =
          fmt::format("lane {} of {} at x={}, y={}", lane, n.texture->name, at->col, at->row);
      lane_is_right(s, n.texture->layout, {at->row, at->col, lane}, *value, lane, undefined, place);
    }
  }

  void store(const Store& n, const Stmt& s, const Substitution& point) {
    if (n.buffer->memory != MemoryScope::Global || n.buffer->is_symbolic()) return;
    Evaluation evaluation(point);
    const auto index = evaluation.of(n.indices.front()), value = evaluation.of(n.value);
    if (!index || !value) return;
    const LaneMask undefined = UndefinedLanes().of(*value);
    for (int lane = 0; lane < n.value->type.lanes; ++lane) {
      const auto element = constant_lane(*index, lane);
      if (!element || *element < 0 || *element >= n.buffer->layout.col_count()) continue;
      const std::string place = fmt::format("{}[{}]", n.buffer->name, *element);
      lane_is_right(s, n.buffer->layout, {0, *element, 0}, *value, lane, undefined, place);
    }
  }

  // Checks one element, or place of padding, that is written.
  void lane_is_right(const Stmt& s, const Layout& layout, const Coordinates& at, const Expr& value,
                     int lane, LaneMask undefined, const std::string& place) {
    if (layout.index_at(at)) {
      if ((undefined & bit(lane)) != 0) {
        broken(s, place + " is computed from padding, whose values are undefined");
      }
    } else if (layout.padding == Padding::Zero && program_.stage != ProgramStage::Legalized &&
               !is_zero(value, lane)) {
      // Legalized code is not checked for zeros, because it spells them in the device's language.
      broken(s, place + " is padding, which readers assume to be zero, but is not written as zero");
    }
  }

  // Reports once for each statement.
  void broken(const Stmt& s, std::string problem) {
    if (!reported_.insert(s.get()).second) return;
    found_.push_back({Rule::Padding, text_of(s), std::move(problem), s->location});
  }

  const Program& program_;
  std::array<Point, 2> points_{Point{false}, Point{true}};
  std::vector<Violation> found_;
  std::unordered_set<const StmtNode*> reported_;
};

}  // namespace

std::vector<Violation> find_padding_violations(const Program& program) {
  return PaddingCheck(program).run();
}

}  // namespace texloom::ir
