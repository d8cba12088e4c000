// Expression templates, from which the rows of the rule table (rules.h) are made.
#pragma once

#include <array>
#include <cstdint>

#include "ir/expr.h"
#include "support/check.h"

namespace texloom::ir::arith {

enum class TermKind : uint8_t {
  Literal,    // a number; 0 or 1 for a bool
  Constant,   // c0, c1, ...: an integer constant
  Integer,    // x, y, z: an expression of an integer type
  Condition,  // p, q: a bool
  Value,      // u, v, w: an expression of any type
  Binary,     // this and the following kinds are operations on terms
  Not,
  Select,
  Simplified,  // in patterns: the simplified form of a term whose wildcards are bound
  Low,         // in guards and results: the least value of an integer term, if known
  High,
  Modulus,  // in guards and results: the modulus of an integer term (modular.h)
  Residue,
};

struct TermNode {
  TermKind kind = TermKind::Literal;
  BinaryOp op = BinaryOp::Add;  // of Binary
  int8_t value = 0;             // the value of a Literal, or the number of a wildcard
  uint8_t size = 1;             // nodes of the whole term that begins here
};

// A tree, stored as an array in preorder without pointers, so that a table of terms is a constant.
struct Term {
  static constexpr int kMaxNodes = 24;
  std::array<TermNode, kMaxNodes> nodes{};

  constexpr Term() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a term
  constexpr Term(int literal) { nodes[0].value = static_cast<int8_t>(literal); }
  static constexpr Term leaf(TermKind kind, int number) {
    Term result(number);
    result.nodes[0].kind = kind;
    return result;
  }
  template <class... Children>
  static constexpr Term of(TermNode root, const Children&... children) {
    Term result;
    int size = 1;
    const auto append = [&](const Term& child) {
      for (int i = 0; i < child.nodes[0].size; ++i) result.nodes.at(size++) = child.nodes[i];
    };
    (append(children), ...);
    root.size = static_cast<uint8_t>(size);
    result.nodes[0] = root;
    return result;
  }
};

// A node of a term, with its children.
class TermView {
 public:
  constexpr TermView(const Term& term) : node_(term.nodes.data()) {}  // NOLINT: a view of it
  constexpr explicit TermView(const TermNode* node) : node_(node) {}

  constexpr const TermNode& operator*() const { return *node_; }
  constexpr const TermNode* operator->() const { return node_; }
  constexpr TermView child(int number) const {
    const TermNode* at = node_ + 1;
    for (; number > 0; --number) at += at->size;
    return TermView(at);
  }
  constexpr bool is(TermKind kind) const { return node_->kind == kind; }
  constexpr bool is(BinaryOp op) const { return is(TermKind::Binary) && node_->op == op; }

 private:
  const TermNode* node_;
};

// The names used in rows; imported where rows are written.
namespace terms {

// NOLINTBEGIN(readability-identifier-naming): letters, as in formulas
constexpr Term x = Term::leaf(TermKind::Integer, 0), y = Term::leaf(TermKind::Integer, 1),
               z = Term::leaf(TermKind::Integer, 2);
constexpr Term c0 = Term::leaf(TermKind::Constant, 0), c1 = Term::leaf(TermKind::Constant, 1),
               c2 = Term::leaf(TermKind::Constant, 2);
constexpr Term p = Term::leaf(TermKind::Condition, 0), q = Term::leaf(TermKind::Condition, 1);
constexpr Term u = Term::leaf(TermKind::Value, 0), v = Term::leaf(TermKind::Value, 1),
               w = Term::leaf(TermKind::Value, 2);
// NOLINTEND(readability-identifier-naming)

constexpr Term binary(BinaryOp op, const Term& a, const Term& b) {
  return Term::of({TermKind::Binary, op}, a, b);
}
constexpr Term operator+(const Term& a, const Term& b) { return binary(BinaryOp::Add, a, b); }
constexpr Term operator-(const Term& a, const Term& b) { return binary(BinaryOp::Sub, a, b); }
constexpr Term operator*(const Term& a, const Term& b) { return binary(BinaryOp::Mul, a, b); }
constexpr Term operator<(const Term& a, const Term& b) { return binary(BinaryOp::Lt, a, b); }
constexpr Term operator<=(const Term& a, const Term& b) { return binary(BinaryOp::Le, a, b); }
constexpr Term operator>(const Term& a, const Term& b) { return binary(BinaryOp::Gt, a, b); }
constexpr Term operator>=(const Term& a, const Term& b) { return binary(BinaryOp::Ge, a, b); }
constexpr Term operator==(const Term& a, const Term& b) { return binary(BinaryOp::Eq, a, b); }
constexpr Term operator!=(const Term& a, const Term& b) { return binary(BinaryOp::Ne, a, b); }
constexpr Term operator&&(const Term& a, const Term& b) { return binary(BinaryOp::And, a, b); }
constexpr Term operator||(const Term& a, const Term& b) { return binary(BinaryOp::Or, a, b); }
constexpr Term operator!(const Term& a) { return Term::of({TermKind::Not}, a); }
constexpr Term floordiv(const Term& a, const Term& b) { return binary(BinaryOp::FloorDiv, a, b); }
constexpr Term floormod(const Term& a, const Term& b) { return binary(BinaryOp::FloorMod, a, b); }
constexpr Term truncdiv(const Term& a, const Term& b) { return binary(BinaryOp::Div, a, b); }
constexpr Term truncmod(const Term& a, const Term& b) { return binary(BinaryOp::Mod, a, b); }
constexpr Term min(const Term& a, const Term& b) { return binary(BinaryOp::Min, a, b); }
constexpr Term max(const Term& a, const Term& b) { return binary(BinaryOp::Max, a, b); }
constexpr Term select(const Term& a, const Term& b, const Term& c) {
  return Term::of({TermKind::Select}, a, b, c);
}
constexpr Term simplified(const Term& a) { return Term::of({TermKind::Simplified}, a); }
constexpr Term low(const Term& a) { return Term::of({TermKind::Low}, a); }
constexpr Term high(const Term& a) { return Term::of({TermKind::High}, a); }
constexpr Term modulus(const Term& a) { return Term::of({TermKind::Modulus}, a); }
constexpr Term residue(const Term& a) { return Term::of({TermKind::Residue}, a); }

}  // namespace terms

}  // namespace texloom::ir::arith
