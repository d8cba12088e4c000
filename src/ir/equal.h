// Structural equality, and hashes that agree with it: same structure, same constants, same tensors.
// Variables and buffers that a node or program defines need only correspond to one another, so that
// a program equals its copy; all other variables and buffers are compared by identity. Names and
// locations do not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "ir/program.h"

namespace texloom::ir {

bool equal(const Expr& a, const Expr& b);
bool equal(const Stmt& a, const Stmt& b);
// Programs also need equal names, for themselves and for their kernels.
bool equal(const Program& a, const Program& b);

size_t structural_hash(const Expr& e);
size_t structural_hash(const Stmt& s);

// -- For structures of expressions, such as the operations of a computation: the two sides define
// variables, buffers and producers of tensors before the expressions that use them.

class Correspondence {
 public:
  void pair(const void* a, const void* b) {
    to_[a] = b;
    from_[b] = a;
  }
  bool is_empty() const { return to_.empty(); }
  // Whether `a` and `b` were paired, or are one object that was paired with nothing.
  bool holds(const void* a, const void* b) const;

 private:
  std::unordered_map<const void*, const void*> to_, from_;
};

bool equal(const Expr& a, const Expr& b, Correspondence& known);
bool equal(const Stmt& a, const Stmt& b, Correspondence& known);
// Pairs the buffers if their types, layouts and other fields are equal.
bool equal_definitions(const Buffer& a, const Buffer& b, Correspondence& known);

// A hash that is the same in all processes of one version of Texloom, if all variables, buffers and
// tensors that are used have been defined.
class StructuralHasher {
 public:
  void define(const void* what) { defined_.insert_or_assign(what, ++definitions_); }
  void add(const Expr& e);
  void add(const Stmt& s);
  void add_definition(const Buffer& buffer);
  void add_use(const void* what);
  void add(std::string_view text);
  void add(uint64_t value) { seed_ ^= value + 0x9e3779b97f4a7c15ULL + (seed_ << 6) + (seed_ >> 2); }
  uint64_t result() const { return seed_; }

 private:
  uint64_t seed_ = 0;
  uint64_t definitions_ = 0;
  std::unordered_map<const void*, uint64_t> defined_;  // the number of each definition
};

}  // namespace texloom::ir
