#include "lower/loops/vectorize_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ir/arith/modular.h"
#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "lower/loops/lanes.h"
#include "lower/loops/vector_tail.h"
#include "support/check.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr std::string_view kAnotherAxis =
    "vectorize the innermost axis, with an extent that a vector width divides, or leave out "
    "vectorize";
constexpr std::string_view kDivide =
    "split by a factor that divides the extent of the axis, or pad the tensor to a multiple of it";

// Why a loop is not vectorized, and what the user can do; empty if the loop is vectorized.
struct Problem {
  std::string what;
  std::string_view way_out = kAnotherAxis;
};

// Rebuilds one loop body over `lanes` values of its variable.
class Widener {
 public:
  Widener(const Expr& var, int lanes) : lane_(var), lanes_(lanes) {
    wide_.emplace(var, make_ramp(make_int(0, var->type), make_int(1, var->type), lanes));
  }

  // Why the body cannot be vectorized; empty if it can. If not empty, the result must not be used.
  Problem problem;

  Stmt stmt(const Stmt& s) {
    if (!problem.what.empty()) return s;
    return visit(
        s, [&](const Store& n) { return store(n, s); },
        [&](const For& n) {
          const Expr extent = expr(n.extent);
          if (n.loop == LoopKind::Thread) return refused("it contains a loop over threads", s);
          if (!extent->type.is_scalar())
            return refused("the extent of a loop in it depends on the lane", s);
          const Stmt body = stmt(n.body);
          return make_for(n.var, extent, n.loop, body, n.location);
        },
        [&](const If& n) { return guarded(n, s); },
        [&](const Evaluate&) { return refused("it contains a foreign call", s); },
        [&](const While&) { return refused("it contains a while loop", s); },
        [&](const Seq& n) {
          Stmts statements;
          for (const Stmt& each : n.statements) statements.push_back(stmt(each));
          return make_seq(std::move(statements));
        },
        [&](const auto&) {
          return refused(contains<Barrier>(s) ? "threads exchange values in it"
                                              : "another stage is computed in it",
                         s);
        });
  }

 private:
  Stmt refused(std::string_view why, const Stmt& self, std::string_view way_out = kAnotherAxis) {
    problem = {std::string(why), way_out};
    return self;
  }

  Stmt store(const Store& n, const Stmt& self) {
    Exprs indices = exprs(n.indices);
    Expr value = expr(n.value);
    const bool vector =
        !value->type.is_scalar() || std::any_of(indices.begin(), indices.end(),
                                                [](const Expr& i) { return !i->type.is_scalar(); });
    if (!vector) return make_store(n.buffer, std::move(indices), value, n.location);
    // All lanes would store to one element, where the last lane wins.
    const bool one_element = std::all_of(indices.begin(), indices.end(),
                                         [](const Expr& i) { return i->type.is_scalar(); });
    if (one_element) return refused("all its lanes would be stored to one element", self);
    return make_store(n.buffer, std::move(indices), spread(value), n.location);
  }

  Stmt guarded(const If& n, const Stmt& self) {
    const Expr condition = expr(n.condition);
    if (condition->type.is_scalar()) {
      return make_if(condition, stmt(n.then), n.location);
    }
    const auto* masked = as<Store>(n.then);
    if (masked == nullptr || !masked->buffer->is_texture()) {
      return refused("a guard in it differs by lane: its split does not divide the axis", self,
                     kDivide);
    }
    const Expr value = spread(expr(masked->value));
    const auto [all_lanes, by_lane] = split_conjunction(condition);
    if (!falls_with_lane(by_lane)) {
      return refused("a guard in it selects lanes other than the first ones of a texel", self,
                     kDivide);
    }
    const Stmt store =
        make_store(masked->buffer, exprs(masked->indices),
                   make_select(by_lane, value, make_const(0, value->type)), masked->location);
    // Skips a texel whose first lane is outside: it belongs to another element, or to none.
    return make_if(all_lanes && lane_of(by_lane, 0), store, n.location);
  }

  // Splits a condition into conjuncts that hold for all lanes or none, as a scalar, and conjuncts
  // that differ by lane.
  std::pair<Expr, Expr> split_conjunction(const Expr& condition) const {
    const auto* n = as<Binary>(condition);
    if (n != nullptr && n->op == BinaryOp::And) {
      const auto [all_a, lane_a] = split_conjunction(n->a);
      const auto [all_b, lane_b] = split_conjunction(n->b);
      return {all_a && all_b, lane_a && lane_b};
    }
    const Expr every_lane = make_broadcast(make_bool(true), lanes_);
    if (const auto* same = as<Broadcast>(condition)) return {same->value, every_lane};
    return {make_bool(true), condition};
  }

  // Whether the condition holds for the first lanes up to some lane and for none after it: it is an
  // upper bound on an index that grows with the lane, like the guards of splits.
  static bool falls_with_lane(const Expr& condition) {
    if (const auto* same = as<Broadcast>(condition)) return is_true(same->value);
    const auto* n = as<Binary>(condition);
    if (n == nullptr) return false;
    if (n->op == BinaryOp::And) return falls_with_lane(n->a) && falls_with_lane(n->b);
    const auto* index = as<Ramp>(n->a);
    const int64_t* stride = index == nullptr ? nullptr : int_value(index->stride);
    return n->op == BinaryOp::Lt && stride != nullptr && *stride > 0 &&
           as<Broadcast>(n->b) != nullptr;
  }

  // The condition without the lane, if it is a bound that no vector crosses; else itself. So the
  // channels of a concatenation are read as vectors, where each part has whole vectors.
  Expr of_all_lanes(const Expr& condition) const {
    const auto tail = tail_of(condition, lane_, lanes_);
    if (!tail || tail->rest != 0) return condition;
    const Expr is_inside = make_binary(BinaryOp::Lt, make_int(0, tail->room->type), tail->room);
    return tail->others ? tail->others && is_inside : is_inside;
  }

  Exprs exprs(const Exprs& list) {
    Exprs result;
    for (const Expr& e : list) result.push_back(expr(e));
    return result;
  }

  Expr expr(const Expr& e) {
    if (const auto found = wide_.find(e); found != wide_.end()) return found->second;
    const Expr result = visit(
        e, [&](const Binary& n) { return binary(n); },
        [&](const Select& n) {
          const Expr condition = expr(of_all_lanes(n.condition));
          Expr a = expr(n.if_true), b = expr(n.if_false);
          match(a, b);
          if (!condition->type.is_scalar()) a = spread(a), b = spread(b);
          return make_select(condition, a, b);
        },
        [&](const Cast& n) {
          const Expr value = expr(n.value);
          return make_cast(n.type.element().with_lanes(value->type.lanes), value);
        },
        [&](const Call& n) {
          Exprs arguments = exprs(n.arguments);
          const bool vector = std::any_of(arguments.begin(), arguments.end(),
                                          [](const Expr& a) { return !a->type.is_scalar(); });
          if (vector)
            std::transform(arguments.begin(), arguments.end(), arguments.begin(),
                           [&](const Expr& a) { return spread(a); });
          return make_call(n.function, std::move(arguments));
        },
        [&](const Fma& n) {
          Expr a = expr(n.a), b = expr(n.b), c = expr(n.c);
          const bool vector = !a->type.is_scalar() || !b->type.is_scalar() || !c->type.is_scalar();
          if (vector) a = spread(a), b = spread(b), c = spread(c);
          return make_fma(a, b, c, n.location);
        },
        [&](const Not& n) { return make_not(expr(n.value), n.location); },
        [&](const Load& n) {
          Exprs indices = exprs(n.indices);
          return make_load(n.buffer, std::move(indices), n.location);
        },
        [&](const ForeignCall& n) { return call(n, e); },
        [&](const auto&) {
          // Constants and variables stay as they are. Any other expression must not have a
          // vectorized operand, unless that operand was a vector of the same width before.
          for_each_child(e, [&](const Expr& child) {
            if (expr(child)->type.lanes != child->type.lanes) problem.what = "it contains a vector";
          });
          return e;
        });
    wide_.emplace(e, result);
    return result;
  }

  // One call for each lane, since calls take scalars.
  Expr call(const ForeignCall& n, const Expr& self) {
    const Exprs arguments = exprs(n.arguments);
    const bool vector = std::any_of(arguments.begin(), arguments.end(),
                                    [](const Expr& a) { return !a->type.is_scalar(); });
    if (!n.pure) problem = Problem{"it contains a foreign call that is not pure"};
    if (!vector || !n.pure) return self;
    Exprs calls;
    for (int lane = 0; lane < lanes_; ++lane) {
      Exprs of_lane;
      for (const Expr& a : arguments) of_lane.push_back(lane_of(a, lane));
      calls.push_back(
          make_foreign_call(n.type, n.function, n.pure, std::move(of_lane), n.location));
    }
    return make_pack(std::move(calls));
  }

  // Ramps stay ramps when a scalar is added or multiplied.
  Expr binary(const Binary& n) {
    Expr a = expr(n.a), b = expr(n.b);
    const auto* ra = as<Ramp>(a);
    const auto* rb = as<Ramp>(b);
    if (ra != nullptr && b->type.is_scalar()) {
      if (n.op == BinaryOp::Add || n.op == BinaryOp::Sub) {
        return make_ramp(make_binary(n.op, ra->base, b), ra->stride, lanes_);
      }
      if (n.op == BinaryOp::Mul) return make_ramp(ra->base * b, ra->stride * b, lanes_);
      if (is_within_multiple(*ra, b)) {
        const Expr first = make_binary(n.op, ra->base, b, n.location);
        if (n.op == BinaryOp::FloorDiv) return first;
        if (n.op == BinaryOp::FloorMod) return make_ramp(first, ra->stride, lanes_);
      }
    }
    if (rb != nullptr && a->type.is_scalar()) {
      if (n.op == BinaryOp::Add) return make_ramp(a + rb->base, rb->stride, lanes_);
      if (n.op == BinaryOp::Mul) return make_ramp(a * rb->base, a * rb->stride, lanes_);
    }
    match(a, b);
    return make_binary(n.op, a, b, n.location);
  }

  // Whether consecutive indices have one quotient by the divisor: none of them but the first may be
  // a multiple of it.
  bool is_within_multiple(const Ramp& ramp, const Expr& divisor) const {
    const int64_t* by = int_value(divisor);
    return by != nullptr && *by > 0 && *by % lanes_ == 0 && is_int(ramp.stride, 1) &&
           arith::modular(ramp.base, {}).is_multiple_of(lanes_);
  }

  Expr spread(const Expr& e) const { return e->type.is_scalar() ? make_broadcast(e, lanes_) : e; }
  void match(Expr& a, Expr& b) const {
    if (a->type.lanes == b->type.lanes) return;
    a = spread(a);
    b = spread(b);
  }

  Expr lane_;
  int lanes_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> wide_;
};

bool writes_texture(const Stmt& s) {
  return any_of(s, [](const Store& n) { return n.buffer->is_texture(); });
}

// The width of the widest vector that divides the loop; 1 if there is none.
int vector_width(int64_t extent, bool texture) {
  for (const int width : {16, 8, 4, 2}) {
    if (extent % width == 0 && (!texture || width == kTexelLanes)) return width;
  }
  return 1;
}

// Whether the body already contains a vector because an inner loop was vectorized.
bool has_vectors(const Stmt& s) {
  return any_of(s, [](const Store& n) { return !n.value->type.is_scalar(); });
}

// The body of a loop of `lanes` iterations over vectors.
Stmt widened(const Expr& lane, int lanes, const Stmt& body, Problem& problem) {
  Widener widener(lane, lanes);
  const Stmt result = widener.stmt(body);
  if (problem.what.empty()) problem = widener.problem;
  return result;
}

// The body under a guard that holds for some first lanes: a vector if it holds for all lanes, or
// shorter vectors that make up the rest. Null if the guard has another form.
Stmt with_tail(const Expr& lane, int lanes, const Stmt& body) {
  const auto* guard = as<If>(body);
  const auto tail = guard == nullptr ? std::nullopt : tail_of(guard->condition, lane, lanes);
  if (!tail) return nullptr;
  Problem problem;
  const Expr whole = make_binary(BinaryOp::Le, make_int(lanes, lane->type), tail->room);
  Stmts found = {make_if(whole, widened(lane, lanes, guard->then, problem), body->location)};
  Stmts parts;
  int begin = 0;
  for (int width = lanes / 2; width >= 1; width /= 2) {
    if ((tail->rest & width) == 0) continue;
    const Expr first = make_int(begin, lane->type);
    if (width == 1) {
      parts.push_back(substitute(guard->then, {{lane, first}}));
    } else {
      const Expr own = make_var(as<Var>(lane)->name + std::to_string(width), lane->type);
      const Stmt part = substitute(guard->then, {{lane, first + own}});
      parts.push_back(widened(own, width, part, problem));
    }
    begin += width;
  }
  if (!problem.what.empty()) return nullptr;
  if (!parts.empty()) {
    const Expr is_last = make_binary(BinaryOp::Eq, tail->room, make_int(tail->rest, lane->type));
    found.push_back(make_if(is_last, make_seq(std::move(parts)), body->location));
  }
  const Stmt all = make_seq(std::move(found));
  return tail->others ? make_if(tail->others, all, body->location) : all;
}

// The loop over vectors; if that is impossible, sets the problem and returns the loop over single
// elements. Loops with `tails` may end inside a vector.
Stmt vectorized(const For& loop, bool tails, Problem& problem) {
  const Stmt serial = make_for(loop.var, loop.extent, LoopKind::Serial, loop.body, loop.location);
  const int64_t* constant = int_value(loop.extent);
  if (constant != nullptr && *constant == 1) return serial;
  const int64_t extent = constant == nullptr ? 1 : *constant;
  const int width = vector_width(extent, writes_texture(loop.body));
  if (constant == nullptr) {
    problem.what = "its extent is not constant";
  } else if (has_vectors(loop.body)) {
    problem.what = "a loop in it is already vectorized";
  } else if (width == 1) {
    problem.what = fmt::format("no vector width (2, 4, 8 or 16) divides its extent {}", extent);
  }
  if (!problem.what.empty()) return serial;
  const bool whole = width == extent;
  const std::string& name = as<Var>(loop.var)->name;
  const Expr outer = make_var(name + ".vector", loop.var->type);
  const Expr inner = whole ? loop.var : make_var(name + ".lane", loop.var->type);
  const Stmt own = whole ? loop.body : substitute(loop.body, {{loop.var, outer * width + inner}});
  Stmt body = widened(inner, width, own, problem);
  if (!problem.what.empty() && tails) {
    if (const Stmt with = with_tail(inner, width, own)) body = with, problem = {};
  }
  if (!problem.what.empty()) return serial;
  if (whole) return body;
  return make_for(outer, make_int(extent / width, loop.extent->type), LoopKind::Serial, body,
                  loop.location);
}

}  // namespace

void vectorize_loops(Lowering& lowering) {
  const bool tails = lowering.target.has_known_vectors();
  lowering.program.body = rewrite(lowering.program.body, [&](const For& loop, const Stmt& self) {
    if (loop.loop != LoopKind::Vectorized) return self;
    Problem problem;
    const Stmt result = vectorized(loop, tails, problem);
    if (!problem.what.empty()) {
      lowering.warnings.push_back(
          {Severity::Warning,
           Code::AnnotationIgnored,
           loop.location,
           fmt::format("the loop '{}' stays serial: {}", as<Var>(loop.var)->name, problem.what),
           std::string(problem.way_out),
           {}});
    }
    return result;
  });
}

}  // namespace texloom::lower
