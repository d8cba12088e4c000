#include "codegen/opencl/memory_reads.h"

#include "ir/visit.h"

namespace texloom::codegen::opencl {

bool MemoryReads::loads(const ir::Expr& e) {
  if (const auto found = known_.find(e); found != known_.end()) return found->second;
  bool found = e->kind == ir::ExprKind::Load;
  for_each_child(e, [&](const ir::Expr& child) { found = loads(child) || found; });
  known_.emplace(e, found);
  return found;
}

}  // namespace texloom::codegen::opencl
