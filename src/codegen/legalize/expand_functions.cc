#include "codegen/legalize/expand_functions.h"

#include "ir/visit.h"

namespace texloom::codegen {

using ir::Expr;
using ir::Intrinsic;

namespace {

struct Row {
  Intrinsic function;
  Expr (*expansion)(const ir::Call& call);
};

constexpr Row kRows[] = {
    {Intrinsic::NativeRecip,
     [](const ir::Call& n) {
       return make_call(Intrinsic::NativeDivide, {ir::make_const(1, n.type), n.arguments[0]},
                        n.location);
     }},
};

}  // namespace

ir::Stmt expand_functions(const ir::Stmt& body, const Dialect& dialect) {
  return rewrite(body, [&](const ir::Call& n, const Expr& self) {
    for (const Row& row : kRows) {
      if (row.function == n.function && !dialect.functions.contains(n.function))
        return row.expansion(n);
    }
    return self;
  });
}

}  // namespace texloom::codegen
