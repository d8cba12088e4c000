#include "codegen/legalize/memory_reads.h"

#include <unordered_set>

#include "ir/visit.h"

namespace texloom::codegen {

bool loads_from(const ir::Expr& e, const ir::Buffer& buffer) {
  std::unordered_set<const ir::ExprNode*> seen;
  const auto search = [&](const ir::Expr& node, const auto& self) -> bool {
    if (!seen.insert(node.get()).second) return false;
    const auto* load = as<ir::Load>(node);
    const auto* pointer = as<ir::Pointer>(node);
    bool found = (load != nullptr && load->buffer.same_as(buffer)) ||
                 (pointer != nullptr && pointer->buffer.same_as(buffer));
    for_each_child(node, [&](const ir::Expr& child) { found = found || self(child, self); });
    return found;
  };
  return search(e, search);
}

}  // namespace texloom::codegen
