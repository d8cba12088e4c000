#include "lower/kernels/join_guards.h"

#include <utility>

#include "ir/arith/linear.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Joins adjacent statements with equal guards. The joined bodies may contain equal guards, too.
Stmts joined(const Stmts& statements) {
  Stmts result;
  for (const Stmt& each : statements) {
    const auto* guard = as<If>(each);
    const auto* last = result.empty() ? nullptr : as<If>(result.back());
    const bool same = guard != nullptr && last != nullptr &&
                      equal(guard->condition, last->condition) &&
                      !arith::reads_memory(guard->condition);
    if (!same) {
      result.push_back(each);
      continue;
    }
    const Stmt both = make_seq({last->then, guard->then});
    const auto* seq = as<Seq>(both);
    const SourceLocation where = result.back()->location;
    result.back() =
        make_if(guard->condition, seq == nullptr ? both : make_seq(joined(seq->statements)), where);
  }
  return result;
}

}  // namespace

void join_guards(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    kernel.body = rewrite(kernel.body, [](const Seq& seq, const Stmt& self) {
      Stmts statements = joined(seq.statements);
      const bool fewer = statements.size() < seq.statements.size();
      return fewer ? make_seq(std::move(statements)) : self;
    });
  }
}

}  // namespace texloom::lower
