// The members that all expression nodes share: kind, type, depth, location.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ir/type.h"
#include "support/ref.h"
#include "support/source_location.h"

namespace texloom::ir {

enum class ExprKind : uint8_t {
#define TL_EXPR(Name, summary) Name,
#define TL_STMT(Name, summary)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
};

// Deeper expressions and loop nests are refused (ProgramTooDeep), so that recursion over them is
// safe on every thread's stack.
inline constexpr int kMaxDepth = 1000;
// Larger bodies of computes are refused (ProgramTooLarge): sharing can make a few lines
// exponentially large.
inline constexpr uint32_t kMaxSize = 200'000;

struct ExprNode : RefCounted {
  const ExprKind kind;
  const Type type;
  uint16_t depth = 1;
  uint32_t size = 1;  // in nodes; a shared node counts at each occurrence; saturates
  SourceLocation location;

 protected:
  ExprNode(ExprKind node_kind, Type node_type) : kind(node_kind), type(node_type) {}
};
using Expr = Ref<ExprNode>;
using Exprs = std::vector<Expr>;

// -- Fields. Every node lists its fields, in the order of its text, in a member `fields()`.
// Visiting and rewriting children, equality and hashes use that list (visit.h, equal.h). Fields of
// type Expr, Exprs, Stmt and Stmts are children.

// A variable or buffer that the node defines for its body: not a child.
template <class T>
struct Definition {
  const T& what;
};
// A child that may be missing.
struct Optional {
  const Expr& child;
};
template <class T>
inline constexpr bool kIsMarkedField = std::is_same_v<T, Optional>;
template <class T>
inline constexpr bool kIsMarkedField<Definition<T>> = true;
template <class T>
using FieldOf = std::conditional_t<kIsMarkedField<T>, T, const T&>;

template <class... Ts>
std::tuple<FieldOf<Ts>...> field_list(const Ts&... fields) {
  return {fields...};
}

}  // namespace texloom::ir
