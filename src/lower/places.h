// Where the values of an operation with one or several outputs lie.
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace texloom::lower {

// The same element of several buffers, one for each output.
struct Place {
  std::vector<ir::Buffer> buffers;
  ir::Exprs indices;
};

ir::Exprs loads(const Place& place, const SourceLocation& where);

// A value for each output. Values that read what is stored here are all computed before the first
// store.
ir::Stmt stores(const Place& place, ir::Exprs values, bool read_place, const SourceLocation& where);

// What happens where all guards hold.
ir::Stmt guarded(const std::vector<ir::Expr>& guards, ir::Stmt store);

// Two values of each output, put together.
ir::Exprs combined(const ir::Reducer& reducer, const ir::Exprs& lhs, const ir::Exprs& rhs);

}  // namespace texloom::lower
