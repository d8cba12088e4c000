#include "lower/simplify_program.h"

#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "lower/loop_ranges.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

Stmt simplified(const Stmt& s, const arith::Ranges& ranges) {
  const Stmt result = map_children(
      s, [&](const Expr& e) { return arith::simplify(e, ranges); },
      [&](const Stmt& child) { return simplified(child, ranges); });
  const auto* loop = as<For>(result);
  if (loop == nullptr || loop->loop == LoopKind::Thread) return result;
  return is_int(loop->extent, 1) || is_empty(loop->body) ? loop->body : result;
}

}  // namespace

void simplify_program(Lowering& lowering) {
  Stmt& body = lowering.program.body;
  body = simplified(body, loop_ranges(body));
}

}  // namespace texloom::lower
