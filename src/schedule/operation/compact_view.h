// Checks the strides and offsets that are declared for whole arrays.
#pragma once

#include <optional>
#include <string>

#include "ir/visit.h"

namespace texloom::schedule {

// Arrays are compact and begin at the start of their memory. A declaration of strides and an offset
// is accepted if every array of the shape satisfies it. Variables that only declarations use get
// the values that satisfy them: strides=(s, 1) for the shape [n, 4] makes s 4.
class CompactViews {
 public:
  // `symbols` are variables that have values already.
  explicit CompactViews(ir::Exprs symbols) : symbols_(std::move(symbols)) {}

  // Adds a declaration of no strides or one for each extent, and an offset or null. Returns the
  // first part of the declaration that not every array of this shape satisfies, if any.
  std::optional<std::string> add(const ir::Exprs& shape, const ir::Exprs& strides,
                                 const ir::Expr& offset);

  const ir::Substitution& values() const { return values_; }

 private:
  bool make_equal(const ir::Expr& stated, const ir::Expr& value);

  ir::Exprs symbols_;
  ir::Substitution values_;
};

}  // namespace texloom::schedule
