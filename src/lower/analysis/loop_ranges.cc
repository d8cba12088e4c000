#include "lower/analysis/loop_ranges.h"

#include "ir/visit.h"

namespace texloom::lower {

ir::arith::Ranges loop_ranges(const ir::Stmt& body) {
  ir::arith::Ranges ranges;
  ir::walk(body, [&](const ir::For& loop) { ranges.enter_also(loop); });
  return ranges;
}

}  // namespace texloom::lower
