// Strides and offsets that are declared of whole arrays.
#pragma once

#include <optional>
#include <string>

#include "ir/visit.h"

namespace texloom::schedule {

// Arrays are compact and begin where their memory does. What declarations say of strides and
// offsets holds if every array of their shapes fulfils it; variables that only they use get the
// values that make it true: strides=(s, 1) of the shape [n, 4] makes s 4.
class CompactViews {
 public:
  // `symbols` have values of their own.
  explicit CompactViews(ir::Exprs symbols) : symbols_(std::move(symbols)) {}

  // One more declaration: no strides, or one for each extent; a null offset is none. What is not
  // true of every array of this shape, if there is something.
  std::optional<std::string> add(const ir::Exprs& shape, const ir::Exprs& strides,
                                 const ir::Expr& offset);

  const ir::Substitution& values() const { return values_; }

 private:
  bool make_equal(const ir::Expr& stated, const ir::Expr& value);

  ir::Exprs symbols_;
  ir::Substitution values_;
};

}  // namespace texloom::schedule
