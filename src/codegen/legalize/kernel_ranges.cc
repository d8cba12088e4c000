#include "codegen/legalize/kernel_ranges.h"

#include "ir/analysis/symbolic_extents.h"
#include "ir/visit.h"

namespace texloom::codegen {

ir::arith::Ranges ranges_of(const ir::Kernel& kernel) {
  ir::arith::Ranges ranges = ir::ranges_of_params(kernel);
  for (const ir::ThreadAxis& axis : kernel.axes) ranges.enter(axis.var, axis.extent);
  // Visits parents first, because extents and values use variables of enclosing statements.
  walk_statements(
      kernel.body, [&](const ir::For& n) { ranges.enter_also(n); },
      [&](const ir::Let& n) {
        ranges.widen(n.var, bounds(n.value, ranges));
        if (reads_memory(n.value, ranges)) ranges.set_memory(n.var);
      },
      [&](const ir::Shuffle& n) { ranges.set_memory(n.var); });
  return ranges;
}

}  // namespace texloom::codegen
