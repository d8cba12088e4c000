// Scans of a schedule's text.

#include "schedule/operation/scan_operation.h"
#include "schedule/text/parse.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

void ScheduleParser::scan() {
  const Token word = reader_.next();
  const NamedToken name = reader_.name("the name of a scan");
  reader_.expect("(");
  const NamedToken axis = reader_.name("the name of the axis of its steps");
  reader_.expect(")");
  const SourceLocation location = place(word);
  std::vector<ScanState> states;
  while (reader_.accept_word("state")) {
    ScanState& state = states.emplace_back();
    state.state = named_tensor();
    reader_.expect_word("init");
    reader_.expect("=");
    state.init = named_tensor();
    reader_.expect_word("update");
    reader_.expect("=");
    state.update = named_tensor();
  }
  const std::string tag = this->tag();
  const Ref<OperationAttributes> given = attributes();
  at_word(reader_, word, [&] {
    begin_stage(name, make_scan(name.name, axis.name, tag, std::move(states), location, given));
  });
  axes_.back().emplace(axis.name, own().op->scan_axis);
}

}  // namespace texloom::schedule
