#include "codegen/legalize/memory_reads.h"

#include "ir/visit.h"

namespace texloom::codegen {

bool loads_from(const ir::Expr& e, const ir::Buffer& buffer) {
  bool found = false;
  walk_once(
      e, [&](const ir::Load& n) { found |= n.buffer.same_as(buffer); },
      [&](const ir::Pointer& n) { found |= n.buffer.same_as(buffer); });
  return found;
}

}  // namespace texloom::codegen
