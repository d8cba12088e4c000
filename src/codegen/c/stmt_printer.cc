#include "codegen/c/stmt_printer.h"

#include <fmt/format.h>

#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen {

using ir::Stmt;

void StmtPrinter::stmt(const Stmt& s) {
  visit(
      s, [&](const ir::Store& n) { store(n); }, [&](const ir::TextureStore& n) { store_texel(n); },
      [&](const ir::Evaluate& n) { line(exprs_.text(n.call) + ";"); },
      [](const ir::Prefetch&) {},  // devices hide latency by other threads
      [&](const ir::For& n) {
        const UnrollHint hint = form_.loops.at(&n);
        if (hint != UnrollHint::None) line(pragma(hint));
        const std::string var = exprs_.text(n.var);
        block(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", value_type_name(n.var->type), var,
                          exprs_.text(n.extent, Precedence::Sum)),
              n.body);
      },
      [&](const ir::If& n) {
        if (!form_.returns.contains(&n))
          return block(fmt::format("if ({})", exprs_.text(n.condition)), n.then);
        line(fmt::format("if ({}) return;", exprs_.text(ir::make_not(n.condition))));
        stmt(n.then);
      },
      [&](const ir::While& n) {
        block(fmt::format("while ({})", exprs_.text(n.condition)), n.body);
      },
      [&](const ir::Seq& n) {
        for (const Stmt& each : n.statements) stmt(each);
      },
      [&](const ir::Let& n) {
        define(n.var, exprs_.text(n.value));
        stmt(n.body);
      },
      [&](const ir::Allocate& n) {
        line(declaration(n.buffer));
        stmt(n.body);
      },
      [&](const ir::Shuffle& n) {
        define(n.var, shuffle(n));
        stmt(n.body);
      },
      [&](const ir::FragmentStep& n) { line(fragment_step(n)); },
      [&](const ir::AsyncCopies& n) { async_copies(n); },
      [&](const ir::AwaitCopies& n) { line(await_copies(n)); },
      [&](const ir::LastBlock& n) { block(fmt::format("if ({})", is_in_last_block(n)), n.body); },
      [&](const ir::Barrier&) { line(barrier()); },
      [](const auto&) { TL_UNREACHABLE("a statement of the launch plan inside a kernel"); });
}

void StmtPrinter::define(const ir::Expr& var, const std::string& value) {
  line(fmt::format("const {} {} = {};", value_type_name(var->type), exprs_.text(var), value));
}

void StmtPrinter::block(const std::string& head, const Stmt& body) {
  line(head + " {");
  ++depth_;
  stmt(body);
  --depth_;
  line("}");
}

void StmtPrinter::line(std::string_view text) {
  lines_ += fmt::format("{:{}}{}\n", "", 2 * depth_, text);
}

}  // namespace texloom::codegen
