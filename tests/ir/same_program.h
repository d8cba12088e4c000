// Whether two programs are the same but for the identity of their variables and buffers.
#pragma once

#include <bit>
#include <unordered_map>

#include "ir/ir.h"

namespace texloom::ir {

// Names do not matter, and neither do the locations of expressions, buffers and variables.
class SameProgram {
 public:
  bool operator()(const Program& a, const Program& b) {
    bool same = a.name == b.name && a.stage == b.stage && a.params.size() == b.params.size() &&
                a.kernels.size() == b.kernels.size();
    for (size_t i = 0; same && i < a.params.size(); ++i) same = buffer(a.params[i], b.params[i]);
    same = same && stmt(a.body, b.body);
    for (size_t i = 0; same && i < a.kernels.size(); ++i) same = kernel(a.kernels[i], b.kernels[i]);
    return same;
  }

 private:
  // One to one, in both directions.
  bool pair(const void* a, const void* b) {
    const auto there = to_.try_emplace(a, b).first->second;
    const auto back = from_.try_emplace(b, a).first->second;
    return there == b && back == a;
  }
  bool var(const Expr& a, const Expr& b) {
    if (!a || !b) return !a && !b;
    return as<Var>(a) != nullptr && as<Var>(b) != nullptr && a->type == b->type &&
           pair(a.get(), b.get());
  }
  bool buffer(const Buffer& a, const Buffer& b) {
    if (!a || !b) return !a && !b;
    return pair(a.get(), b.get()) && a->type == b->type && a->shape == b->shape &&
           a->memory == b->memory && a->layout == b->layout && var(a->origin.x, b->origin.x) &&
           var(a->origin.y, b->origin.y);
  }

  bool kernel(const Kernel& a, const Kernel& b) {
    bool same = a.name == b.name && a.grid == b.grid && a.block == b.block &&
                a.params.size() == b.params.size() && a.axes.size() == b.axes.size();
    for (size_t i = 0; same && i < a.params.size(); ++i) {
      same = buffer(a.params[i].buffer, b.params[i].buffer) &&
             var(a.params[i].scalar, b.params[i].scalar) &&
             a.params[i].access == b.params[i].access;
    }
    for (size_t i = 0; same && i < a.axes.size(); ++i) {
      same = a.axes[i].tag == b.axes[i].tag && a.axes[i].extent == b.axes[i].extent &&
             var(a.axes[i].var, b.axes[i].var);
    }
    return same && stmt(a.body, b.body);
  }

  bool expr(const Expr& a, const Expr& b) {
    if (a->kind != b->kind || a->type != b->type) return false;
    const bool own = visit(
        a, [&](const IntImm& n) { return n.value == as<IntImm>(b)->value; },
        [&](const FloatImm& n) {
          return std::bit_cast<uint64_t>(n.value) ==
                 std::bit_cast<uint64_t>(as<FloatImm>(b)->value);
        },
        [&](const Var&) { return var(a, b); },
        [&](const Binary& n) { return n.op == as<Binary>(b)->op; },
        [&](const Call& n) { return n.function == as<Call>(b)->function; },
        [&](const Load& n) { return buffer(n.buffer, as<Load>(b)->buffer); },
        [&](const TextureLoad& n) { return buffer(n.texture, as<TextureLoad>(b)->texture); },
        [](const auto&) { return true; });
    return own && lists(children(a), children(b));
  }

  bool stmt(const Stmt& a, const Stmt& b) {
    if (a->kind != b->kind) return false;
    const bool own = visit(
        a, [&](const Store& n) { return buffer(n.buffer, as<Store>(b)->buffer); },
        [&](const TextureStore& n) { return buffer(n.texture, as<TextureStore>(b)->texture); },
        [&](const For& n) {
          const auto& m = *as<For>(b);
          return var(n.var, m.var) && n.loop == m.loop && n.tag == m.tag;
        },
        [&](const Let& n) { return var(n.var, as<Let>(b)->var); },
        [&](const Nest& n) { return buffer(n.result, as<Nest>(b)->result); },
        [&](const Allocate& n) { return buffer(n.buffer, as<Allocate>(b)->buffer); },
        [&](const Free& n) { return buffer(n.buffer, as<Free>(b)->buffer); },
        [&](const Launch& n) { return n.kernel == as<Launch>(b)->kernel; },
        [](const auto&) { return true; });
    if (!own) return false;
    Stmts inner_a, inner_b;
    if (!lists(children(a, inner_a), children(b, inner_b))) return false;
    if (inner_a.size() != inner_b.size()) return false;
    for (size_t i = 0; i < inner_a.size(); ++i) {
      if (!stmt(inner_a[i], inner_b[i])) return false;
    }
    return true;
  }

  static Exprs children(const Expr& e) {
    Exprs list;
    for_each_child(e, [&](const Expr& child) { list.push_back(child); });
    return list;
  }
  static Exprs children(const Stmt& s, Stmts& inner) {
    Exprs list;
    for_each_child(
        s, [&](const Expr& child) { list.push_back(child); },
        [&](const Stmt& child) { inner.push_back(child); });
    return list;
  }
  bool lists(const Exprs& a, const Exprs& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!expr(a[i], b[i])) return false;
    }
    return true;
  }

  std::unordered_map<const void*, const void*> to_, from_;
};

inline bool same_program(const Program& a, const Program& b) { return SameProgram()(a, b); }

}  // namespace texloom::ir
