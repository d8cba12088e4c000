#include "lower/loops/copy_at_once.h"

#include "ir/visit.h"

namespace texloom::lower {

ir::Stmt copy_at_once(const ir::Stmt& body) {
  return rewrite(
      body, [](const ir::AsyncCopies& n, const ir::Stmt&) { return n.body; },
      [](const ir::AwaitCopies&, const ir::Stmt&) { return ir::make_empty(); });
}

}  // namespace texloom::lower
