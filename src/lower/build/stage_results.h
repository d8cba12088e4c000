// Loads and stores the results of an operation with one or several outputs.
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace texloom::lower {

// One element, at equal indices in several buffers: one buffer for each output.
struct ResultElement {
  std::vector<ir::Buffer> buffers;
  ir::Exprs indices;
};

ir::Exprs loads(const ResultElement& element, const SourceLocation& where);

// Stores a value to each output. If the values read the element (`read_element`), all of them are
// computed before the first store.
ir::Stmt stores(const ResultElement& element, ir::Exprs values, bool read_element,
                const SourceLocation& where);

// The store, made only where all guards hold.
ir::Stmt guarded(const std::vector<ir::Expr>& guards, ir::Stmt store);

// Combines two values of each output with the reducer.
ir::Exprs combined(const ir::Reducer& reducer, const ir::Exprs& lhs, const ir::Exprs& rhs);

}  // namespace texloom::lower
