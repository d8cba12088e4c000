#include "ir/visit.h"

#include <algorithm>
#include <bit>

#include "ir/buffer.h"

namespace texloom::ir {
namespace {

Exprs map_all(const Exprs& list, ExprMap map, bool& changed) {
  Exprs result;
  result.reserve(list.size());
  for (const Expr& e : list) {
    result.push_back(map(e));
    changed |= !result.back().same_as(e);
  }
  return result;
}

// Rebuilds one expression node from mapped children.
struct ChildMapper {
  const Expr& self;
  ExprMap map;

  Expr operator()(const IntImm&) const { return self; }
  Expr operator()(const FloatImm&) const { return self; }
  Expr operator()(const Var&) const { return self; }
  Expr operator()(const Binary& n) const {
    Expr a = map(n.a), b = map(n.b);
    if (a.same_as(n.a) && b.same_as(n.b)) return self;
    return make_binary(n.op, std::move(a), std::move(b), n.location);
  }
  Expr operator()(const Not& n) const {
    Expr value = map(n.value);
    return value.same_as(n.value) ? self : make_not(std::move(value), n.location);
  }
  Expr operator()(const Select& n) const {
    Expr c = map(n.condition), t = map(n.if_true), f = map(n.if_false);
    if (c.same_as(n.condition) && t.same_as(n.if_true) && f.same_as(n.if_false)) return self;
    return make_select(std::move(c), std::move(t), std::move(f), n.location);
  }
  Expr operator()(const Cast& n) const {
    Expr value = map(n.value);
    return value.same_as(n.value) ? self : make_cast(n.type, std::move(value), n.location);
  }
  Expr operator()(const Call& n) const {
    bool changed = false;
    Exprs arguments = map_all(n.arguments, map, changed);
    return changed ? make_call(n.function, std::move(arguments), n.location) : self;
  }
  Expr operator()(const Fma& n) const {
    Expr a = map(n.a), b = map(n.b), c = map(n.c);
    if (a.same_as(n.a) && b.same_as(n.b) && c.same_as(n.c)) return self;
    return make_fma(std::move(a), std::move(b), std::move(c), n.location);
  }
  Expr operator()(const Ramp& n) const {
    Expr base = map(n.base), stride = map(n.stride);
    if (base.same_as(n.base) && stride.same_as(n.stride)) return self;
    return make_ramp(std::move(base), std::move(stride), n.type.lanes, n.location);
  }
  Expr operator()(const Broadcast& n) const {
    Expr value = map(n.value);
    return value.same_as(n.value) ? self
                                  : make_broadcast(std::move(value), n.type.lanes, n.location);
  }
  Expr operator()(const Lane& n) const {
    Expr vector = map(n.vector), index = map(n.index);
    if (vector.same_as(n.vector) && index.same_as(n.index)) return self;
    return make_lane(std::move(vector), std::move(index), n.location);
  }
  Expr operator()(const Pack& n) const {
    bool changed = false;
    Exprs elements = map_all(n.elements, map, changed);
    return changed ? make_pack(std::move(elements), n.location) : self;
  }
  Expr operator()(const TensorRead& n) const {
    bool changed = false;
    Exprs indices = map_all(n.indices, map, changed);
    return changed ? make_tensor_read(n.tensor, std::move(indices), n.location) : self;
  }
  Expr operator()(const Reduce& n) const {
    Expr source = map(n.source);
    Expr condition = n.condition ? map(n.condition) : n.condition;
    if (source.same_as(n.source) && condition.same_as(n.condition)) return self;
    return make_reduce(n.reducer, std::move(source), n.axes, std::move(condition), n.location);
  }
  Expr operator()(const Load& n) const {
    bool changed = false;
    Exprs indices = map_all(n.indices, map, changed);
    if (!changed) return self;
    int lanes = 1;
    for (const Expr& index : indices) lanes = std::max<int>(lanes, index->type.lanes);
    return make_load_as(n.type.with_lanes(lanes), n.buffer, std::move(indices), n.location);
  }
  Expr operator()(const TextureLoad& n) const {
    Expr x = map(n.x), y = map(n.y);
    if (x.same_as(n.x) && y.same_as(n.y)) return self;
    return make_texture_load_as(n.type, n.texture, std::move(x), std::move(y), n.location);
  }
};

struct StmtChildMapper {
  const Stmt& self;
  ExprMap map;
  StmtMap map_stmt;

  Stmt operator()(const Store& n) const {
    bool changed = false;
    Exprs indices = map_all(n.indices, map, changed);
    Expr value = map(n.value);
    if (!changed && value.same_as(n.value)) return self;
    return make_store(n.buffer, std::move(indices), std::move(value), n.location);
  }
  Stmt operator()(const TextureStore& n) const {
    Expr x = map(n.x), y = map(n.y), value = map(n.value);
    if (x.same_as(n.x) && y.same_as(n.y) && value.same_as(n.value)) return self;
    return make_texture_store(n.texture, std::move(x), std::move(y), std::move(value), n.location);
  }
  Stmt operator()(const For& n) const {
    Expr extent = map(n.extent);
    Stmt body = map_stmt(n.body);
    if (extent.same_as(n.extent) && body.same_as(n.body)) return self;
    if (n.loop == LoopKind::Thread) {
      return make_thread_for(n.var, std::move(extent), n.tag, std::move(body), n.location);
    }
    return make_for(n.var, std::move(extent), n.loop, std::move(body), n.location);
  }
  Stmt operator()(const If& n) const {
    Expr condition = map(n.condition);
    Stmt then = map_stmt(n.then);
    if (condition.same_as(n.condition) && then.same_as(n.then)) return self;
    return make_if(std::move(condition), std::move(then), n.location);
  }
  Stmt operator()(const Seq& n) const {
    bool changed = false;
    Stmts statements;
    for (const Stmt& s : n.statements) {
      statements.push_back(map_stmt(s));
      changed |= !statements.back().same_as(s);
    }
    return changed ? make_seq(std::move(statements)) : self;
  }
  Stmt operator()(const Let& n) const {
    Expr value = map(n.value);
    Stmt body = map_stmt(n.body);
    if (value.same_as(n.value) && body.same_as(n.body)) return self;
    return make_let(n.var, std::move(value), std::move(body), n.location);
  }
  Stmt operator()(const Nest& n) const {
    Stmt body = map_stmt(n.body);
    return body.same_as(n.body) ? self : make_nest(n.result, std::move(body), n.location);
  }
  Stmt operator()(const Allocate& n) const {
    Stmt body = map_stmt(n.body);
    return body.same_as(n.body) ? self : make_allocate(n.buffer, std::move(body), n.location);
  }
  Stmt operator()(const Free&) const { return self; }
  Stmt operator()(const Barrier&) const { return self; }
  Stmt operator()(const Launch&) const { return self; }
};

bool equal_lists(const Exprs& a, const Exprs& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), equal);
}

// Not `a && b`: that would build an expression.
bool equal_or_null(const Expr& a, const Expr& b) { return a ? b && equal(a, b) : !b; }

size_t mix(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

}  // namespace

Expr map_children(const Expr& e, ExprMap map) { return visit(e, ChildMapper{e, map}); }

Stmt map_children(const Stmt& s, ExprMap map_expr, StmtMap map_stmt) {
  return visit(s, StmtChildMapper{s, map_expr, map_stmt});
}

void for_each_child(const Expr& e, FunctionRef<void(const Expr&)> see) {
  map_children(e, [&](const Expr& child) {
    see(child);
    return child;
  });
}

void for_each_child(const Stmt& s, FunctionRef<void(const Expr&)> see_expr,
                    FunctionRef<void(const Stmt&)> see_stmt) {
  map_children(
      s,
      [&](const Expr& child) {
        see_expr(child);
        return child;
      },
      [&](const Stmt& child) {
        see_stmt(child);
        return child;
      });
}

Expr substitute(const Expr& e, const Substitution& values) {
  if (values.empty()) return e;
  return rewrite(e, [&](const Var&, const Expr& self) {
    const auto found = values.find(self);
    return found == values.end() ? self : found->second;
  });
}

Stmt substitute(const Stmt& s, const Substitution& values) {
  if (values.empty()) return s;
  return rewrite(s, [&](const Var&, const Expr& self) {
    const auto found = values.find(self);
    return found == values.end() ? self : found->second;
  });
}

bool uses_var(const Expr& e, const Expr& var) {
  bool found = false;
  walk(e, [&](const Var& v) { found |= &v == var.get(); });
  return found;
}

bool equal(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (a->kind != b->kind || a->type != b->type) return false;
  return visit(
      a, [&](const IntImm& n) { return n.value == as<IntImm>(b)->value; },
      [&](const FloatImm& n) {  // 0.0 and -0.0 are two constants, and a nan equals itself
        return std::bit_cast<uint64_t>(n.value) == std::bit_cast<uint64_t>(as<FloatImm>(b)->value);
      },
      [&](const Var&) { return false; },
      [&](const Binary& n) {
        const auto& m = *as<Binary>(b);
        return n.op == m.op && equal(n.a, m.a) && equal(n.b, m.b);
      },
      [&](const Not& n) { return equal(n.value, as<Not>(b)->value); },
      [&](const Select& n) {
        const auto& m = *as<Select>(b);
        return equal(n.condition, m.condition) && equal(n.if_true, m.if_true) &&
               equal(n.if_false, m.if_false);
      },
      [&](const Cast& n) { return equal(n.value, as<Cast>(b)->value); },
      [&](const Call& n) {
        const auto& m = *as<Call>(b);
        return n.function == m.function && equal_lists(n.arguments, m.arguments);
      },
      [&](const Fma& n) {
        const auto& m = *as<Fma>(b);
        return equal(n.a, m.a) && equal(n.b, m.b) && equal(n.c, m.c);
      },
      [&](const Ramp& n) {
        const auto& m = *as<Ramp>(b);
        return equal(n.base, m.base) && equal(n.stride, m.stride);
      },
      [&](const Broadcast& n) { return equal(n.value, as<Broadcast>(b)->value); },
      [&](const Lane& n) {
        const auto& m = *as<Lane>(b);
        return equal(n.vector, m.vector) && equal(n.index, m.index);
      },
      [&](const Pack& n) { return equal_lists(n.elements, as<Pack>(b)->elements); },
      [&](const TensorRead& n) {
        const auto& m = *as<TensorRead>(b);
        return n.tensor->same_tensor(*m.tensor) && equal_lists(n.indices, m.indices);
      },
      [&](const Reduce& n) {
        const auto& m = *as<Reduce>(b);
        return n.reducer.result.same_as(m.reducer.result) && equal(n.source, m.source) &&
               equal_or_null(n.condition, m.condition) &&
               std::equal(n.axes.begin(), n.axes.end(), m.axes.begin(), m.axes.end(),
                          [](const IterVar& x, const IterVar& y) { return x.same_as(y); });
      },
      [&](const Load& n) {
        const auto& m = *as<Load>(b);
        return n.buffer.same_as(m.buffer) && equal_lists(n.indices, m.indices);
      },
      [&](const TextureLoad& n) {
        const auto& m = *as<TextureLoad>(b);
        return n.texture.same_as(m.texture) && equal(n.x, m.x) && equal(n.y, m.y);
      });
}

size_t structural_hash(const Expr& e) {
  size_t seed =
      mix(static_cast<size_t>(e->kind), (static_cast<size_t>(e->type.bits) << 16) + e->type.lanes);
  visit(
      e, [&](const IntImm& n) { seed = mix(seed, static_cast<size_t>(n.value)); },
      [&](const FloatImm& n) { seed = mix(seed, std::bit_cast<uint64_t>(n.value)); },
      [&](const Var& n) { seed = mix(seed, std::hash<const void*>()(&n)); },
      [&](const Binary& n) { seed = mix(seed, static_cast<size_t>(n.op)); },
      [&](const Call& n) { seed = mix(seed, static_cast<size_t>(n.function)); },
      [&](const Load& n) { seed = mix(seed, std::hash<const void*>()(n.buffer.get())); },
      [&](const TextureLoad& n) { seed = mix(seed, std::hash<const void*>()(n.texture.get())); },
      [](const auto&) {});
  for_each_child(e, [&](const Expr& child) { seed = mix(seed, structural_hash(child)); });
  return seed;
}

}  // namespace texloom::ir
