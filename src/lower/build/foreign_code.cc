#include "lower/build/foreign_code.h"

#include <algorithm>
#include <string_view>

#include "ir/visit.h"
#include "support/diagnostic.h"
#include "support/function_ref.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

// Whether a pragma says where the functions are that a stage calls: in a library that the target
// has, or in code of LLVM, which TVM's scripts give to import_llvm.
bool names_library(std::string_view key) { return key == "import_library" || key == "import_llvm"; }

void for_each_call(const Stage& stage, FunctionRef<void(const ForeignCall&)> see) {
  const Operation& op = *stage.op;
  if (op.is_compute()) walk(op.body, see);
  if (op.statement) walk(op.statement, see);
  for (const IterVar& axis : stage.leaves) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    if (attributes == nullptr || !attributes->intrinsic) continue;
    const auto& [body, reset, update] = attributes->intrinsic->statements;
    for (const Stmt& s : {body, reset, update}) {
      if (s) walk(s, see);
    }
  }
}

// Declares the function as the call uses it.
void declare(std::vector<Foreign>& known, const ForeignCall& call, const Pragma& pragma) {
  Foreign symbol{.kind = Foreign::Kind::Symbol,
                 .text = call.function,
                 .result = call.type,
                 .library = pragma.value,
                 .location = pragma.location};
  for (const Expr& each : call.arguments)
    symbol.params.push_back({each->type, each->kind == ExprKind::Pointer});
  const auto same = std::ranges::find_if(
      known, [&](const Foreign& each) { return each.is_symbol() && each.text == symbol.text; });
  if (same == known.end()) {
    known.push_back(std::move(symbol));
  } else if (*same != symbol) {
    fail(call.location, Code::BadForeignCall,
         "pass the same types in each call, and import each function from one library",
         "two calls of '{}' differ in their types, or in the library", call.function);
  }
}

}  // namespace

std::vector<Foreign> foreign_code(const Schedule& schedule) {
  std::vector<Foreign> found;
  for (const StageId id : schedule.order()) {
    for (const Pragma& p : schedule.stage(id).pragmas) {
      const Foreign text{.text = p.value, .location = p.location};
      const bool known = std::find(found.begin(), found.end(), text) != found.end();
      if (Pragma::is_foreign_text(p.key) && !known) found.push_back(text);
    }
  }
  for (const StageId id : schedule.order()) {
    for (const Pragma& p : schedule.stage(id).pragmas) {
      if (!names_library(p.key)) continue;
      for_each_call(schedule.stage(id), [&](const ForeignCall& call) { declare(found, call, p); });
    }
  }
  if (!found.empty()) return found;
  for (const StageId id : schedule.order()) {
    for_each_call(schedule.stage(id), [](const ForeignCall& n) {
      fail(n.location, Code::NotProvided,
           "define it in C, and give the text to the schedule: s[T].pragma(axis, \"import_c\", "
           "text); on the target llvm, name a file of bitcode: s[T].pragma(axis, "
           "\"import_library\", \"functions.bc\")",
           "kernels may not call '{}': no such function is defined", n.function);
    });
  }
  return found;
}

}  // namespace texloom::lower
