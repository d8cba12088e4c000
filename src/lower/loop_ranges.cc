#include "lower/loop_ranges.h"

#include "ir/visit.h"

namespace texloom::lower {

ir::arith::Ranges loop_ranges(const ir::Stmt& body) {
  ir::arith::Ranges ranges;
  ir::walk(body, [&](const ir::For& loop) {
    const int64_t* extent = ir::int_value(loop.extent);
    if (extent != nullptr) ranges.set(loop.var, {0, *extent - 1});
  });
  return ranges;
}

}  // namespace texloom::lower
