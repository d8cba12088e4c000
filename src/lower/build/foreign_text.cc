#include "lower/build/foreign_text.h"

#include <algorithm>

#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

constexpr auto kRefuse = [](const ForeignCall& n) {
  fail(n.location, Code::NotProvided,
       "define it in C, and give the text to the schedule: s[T].pragma(axis, \"import_c\", text)",
       "kernels may not call '{}': no such function is defined", n.function);
};

void refuse_calls(const Stage& stage) {
  const Operation& op = *stage.op;
  if (op.is_compute()) walk(op.body, kRefuse);
  if (op.statement) walk(op.statement, kRefuse);
  for (const IterVar& axis : stage.leaves) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    if (attributes == nullptr || !attributes->intrinsic) continue;
    const auto& [body, reset, update] = attributes->intrinsic->statements;
    for (const Stmt& s : {body, reset, update}) {
      if (s) walk(s, kRefuse);
    }
  }
}

}  // namespace

std::vector<Foreign> foreign_text(const Schedule& schedule) {
  std::vector<Foreign> texts;
  for (const StageId id : schedule.order()) {
    for (const Pragma& p : schedule.stage(id).pragmas) {
      const Foreign text{.text = p.value, .location = p.location};
      const bool known = std::find(texts.begin(), texts.end(), text) != texts.end();
      if (Pragma::is_foreign_text(p.key) && !known) texts.push_back(text);
    }
  }
  if (!texts.empty()) return texts;
  for (const StageId id : schedule.order()) refuse_calls(schedule.stage(id));
  return texts;
}

}  // namespace texloom::lower
