#include "ir/equal.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <functional>
#include <unordered_map>
#include <utility>

#include "ir/visit.h"

namespace texloom::ir {
namespace {

// -- Equality. same() has an overload for every type of field (ir/node.h).
class Equality {
 public:
  Equality(bool programs, Correspondence& known) : programs_(programs), known_(known) {}

  bool same(const Expr& a, const Expr& b) {
    if (!a || !b) return !a && !b;
    // A node that defines nothing and uses no definition is equal to itself.
    if (a.same_as(b) && known_.is_empty()) return true;
    if (a->kind != b->kind || a->type != b->type) return false;
    if (a->kind == ExprKind::Var) return known_.holds(a.get(), b.get());
    if (const auto* call = as<ForeignCall>(a); call != nullptr && !call->pure && !programs_) {
      return false;  // two calls, which may return different values
    }
    return visit(a, [&](const auto& n) { return same_fields(n, *b); });
  }
  bool same(const Stmt& a, const Stmt& b) {
    if (!a || !b) return !a && !b;
    if (a->kind != b->kind) return false;
    return visit(a, [&](const auto& n) { return same_fields(n, *b); });
  }
  bool same(Optional a, Optional b) { return same(a.child, b.child); }

  bool same(Definition<Expr> a, Definition<Expr> b) {
    if (!a.what || !b.what) return !a.what && !b.what;
    known_.pair(a.what.get(), b.what.get());
    return a.what->type == b.what->type;
  }
  bool same(Definition<Buffer> a, Definition<Buffer> b) {
    if (!a.what || !b.what) return !a.what && !b.what;
    const BufferNode &x = *a.what, &y = *b.what;
    known_.pair(&x, &y);
    return x.type == y.type && x.shape == y.shape && same(x.extents, y.extents) &&
           x.memory == y.memory && x.layout == y.layout &&
           same(Definition{x.origin.x}, Definition{y.origin.x}) &&
           same(Definition{x.origin.y}, Definition{y.origin.y}) &&
           x.origin.exact_image == y.origin.exact_image;
  }

  bool same(const Buffer& a, const Buffer& b) { return known_.holds(a.get(), b.get()); }
  bool same(const Tensor& a, const Tensor& b) {
    return a->output == b->output && known_.holds(a->producer.get(), b->producer.get());
  }
  // Reductions define their axes and the operands of their reducers.
  bool same(const IterVar& a, const IterVar& b) {
    return a->kind == b->kind && a->tag == b->tag && same(a->min, b->min) &&
           same(a->extent, b->extent) && same(Definition{a->var}, Definition{b->var});
  }
  bool same(const Reducer& a, const Reducer& b) {
    return same_definitions(a.lhs, b.lhs) && same_definitions(a.rhs, b.rhs) &&
           same(a.results, b.results) && same(a.identities, b.identities);
  }
  template <class T>
  bool same_definitions(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!same(Definition{a[i]}, Definition{b[i]})) return false;
    }
    return true;
  }
  // 0.0 and -0.0 are different constants, and a nan equals itself.
  bool same(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
  template <std::equality_comparable T>
  bool same(const T& a, const T& b) {
    return a == b;
  }
  template <class T>
  bool same(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  }

  bool same(const KernelParam& a, const KernelParam& b) {
    return same(Definition{a.buffer}, Definition{b.buffer}) &&
           same(Definition{a.scalar}, Definition{b.scalar}) && a.access == b.access &&
           same(a.extent, b.extent);
  }
  bool same(const ThreadAxis& a, const ThreadAxis& b) {
    return a.tag == b.tag && same(a.extent, b.extent) && same(Definition{a.var}, Definition{b.var});
  }
  bool same(const Kernel& a, const Kernel& b) {
    return a.name == b.name && a.block == b.block && same(a.params, b.params) &&
           std::equal(a.grid.begin(), a.grid.end(), b.grid.begin(),
                      [&](const Expr& x, const Expr& y) { return same(x, y); }) &&
           same(a.axes, b.axes) && same(a.body, b.body);
  }
  bool same(const Program& a, const Program& b) {
    if (a.name != b.name || a.stage != b.stage) return false;
    if (!same_definitions(a.symbols, b.symbols)) return false;
    if (!same_definitions(a.params, b.params)) return false;
    if (!same_definitions(a.temporaries, b.temporaries)) return false;
    if (a.foreign != b.foreign) return false;
    return same(a.body, b.body) && same(a.kernels, b.kernels);
  }

 private:
  template <class Node, class Base>
  bool same_fields(const Node& a, const Base& base) {
    return std::apply(
        [&](const auto&... of_a) {
          return std::apply([&](const auto&... of_b) { return (same(of_a, of_b) && ...); },
                            static_cast<const Node&>(base).fields());
        },
        a.fields());
  }

  const bool programs_;    // whether programs are compared, not values at one place
  Correspondence& known_;  // the definitions of the two sides, in pairs
};

// -- Hashes. add() has an overload for every type of field. Fields that equality ignores add
// nothing.
class Hash {
 public:
  explicit Hash(StructuralHasher& hasher) : hasher_(hasher) {}

  void add(const Expr& e) {
    mix(static_cast<uint64_t>(e->kind));
    mix((static_cast<uint64_t>(e->type.bits) << 16) + e->type.lanes);
    if (e->kind == ExprKind::Var) return hasher_.add_use(e.get());
    visit(e, [&](const auto& n) { add_fields(n); });
  }
  void add(const Stmt& s) {
    mix(static_cast<uint64_t>(s->kind));
    visit(s, [&](const auto& n) { add_fields(n); });
  }
  void add(Optional e) {
    if (e.child) add(e.child);
  }
  template <class T>
  void add(Definition<T> definition) {
    hasher_.define(definition.what.get());
  }
  void add(const Buffer& buffer) { hasher_.add_use(buffer.get()); }
  void add(const Tensor& tensor) {
    hasher_.add_use(tensor->producer.get());
    mix(static_cast<uint64_t>(tensor->output));
  }
  void add(const IterVar& axis) { add(Definition{axis->var}); }
  void add(const Reducer& reducer) {
    for (const Expr& var : reducer.lhs) add(Definition{var});
    for (const Expr& var : reducer.rhs) add(Definition{var});
    add(reducer.results);
    add(reducer.identities);
  }
  void add(ThreadTag tag) { mix((tag.block ? 4U : 0U) + tag.dim); }
  void add(double value) { mix(std::bit_cast<uint64_t>(value)); }
  void add(const std::string& text) { hasher_.add(text); }
  template <class T>
    requires(std::integral<T> || std::is_enum_v<T>)
  void add(T value) {
    mix(static_cast<uint64_t>(value));
  }
  template <class T>
  void add(const std::vector<T>& list) {
    mix(list.size());
    for (const T& each : list) add(each);
  }

 private:
  template <class Node>
  void add_fields(const Node& n) {
    std::apply([&](const auto&... fields) { (add(fields), ...); }, n.fields());
  }
  void mix(uint64_t value) { hasher_.add(value); }

  StructuralHasher& hasher_;
};

template <class T>
bool are_equal(const T& a, const T& b, bool programs) {
  Correspondence known;
  return Equality(programs, known).same(a, b);
}

template <class T>
size_t hash_of(const T& what) {
  StructuralHasher hasher;
  hasher.add(what);
  return hasher.result();
}

}  // namespace

bool equal(const Expr& a, const Expr& b) { return are_equal(a, b, false); }
bool equal(const Stmt& a, const Stmt& b) { return are_equal(a, b, true); }
bool equal(const Program& a, const Program& b) { return are_equal(a, b, true); }

size_t structural_hash(const Expr& e) { return hash_of(e); }
size_t structural_hash(const Stmt& s) { return hash_of(s); }

bool Correspondence::holds(const void* a, const void* b) const {
  const auto there = to_.find(a);
  const auto back = from_.find(b);
  if (there == to_.end() && back == from_.end()) return a == b;
  return there != to_.end() && back != from_.end() && there->second == b && back->second == a;
}

bool equal(const Expr& a, const Expr& b, Correspondence& known) {
  return Equality(true, known).same(a, b);
}
bool equal(const Stmt& a, const Stmt& b, Correspondence& known) {
  return Equality(true, known).same(a, b);
}
bool equal_definitions(const Buffer& a, const Buffer& b, Correspondence& known) {
  return Equality(true, known).same(Definition{a}, Definition{b});
}

void StructuralHasher::add(const Expr& e) { Hash(*this).add(e); }
void StructuralHasher::add(const Stmt& s) { Hash(*this).add(s); }

void StructuralHasher::add_definition(const Buffer& buffer) {
  define(buffer.get());
  for (const int64_t extent : buffer->shape) add(static_cast<uint64_t>(extent));
  for (const Expr& extent : buffer->extents) add(extent);
  add(to_string(buffer->type));
}

void StructuralHasher::add_use(const void* what) {
  const auto found = defined_.find(what);
  add(found == defined_.end() ? std::hash<const void*>()(what) : found->second);
}

// FNV-1a.
void StructuralHasher::add(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  add(hash);
}

}  // namespace texloom::ir
