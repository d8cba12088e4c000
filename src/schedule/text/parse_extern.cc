// Externs of a schedule's text.

#include "ir/text/parse_buffer.h"
#include "ir/text/parse_stmt.h"
#include "schedule/operation/extern_operation.h"
#include "schedule/text/parse.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

// "A#1", "A.shared origin = A"
ScheduleParser::Source ScheduleParser::source() {
  Source s;
  s.now = s.origin = named_tensor();
  if (!reader_.accept_word("origin")) return s;
  reader_.expect("=");
  s.origin = named_tensor();
  return s;
}

void ScheduleParser::external() {
  const Token word = reader_.next();
  const NamedToken name = reader_.name("the name of an extern");
  const SourceLocation location = place(word);
  TextNames names(&head_.names);
  ExprParser exprs(reader_, names);
  exprs.set_form({.logical = true, .widened = false});
  const auto buffer = [&] {
    const NamedToken own = reader_.name("the name of a buffer");
    reader_.expect(":");
    const Declaration declaration = parse_declaration(reader_, names);
    return names.declare(reader_, own, declaration, reader_.line_of(own.token));
  };
  std::vector<Source> sources;
  std::vector<ExternInput> first, now;
  std::vector<Buffer> writes;
  while (reader_.accept_word("reads")) {
    const Buffer b = buffer();
    reader_.expect("=");
    sources.push_back(source());
    first.push_back({sources.back().origin, b});
    now.push_back({sources.back().now, b});
  }
  while (reader_.accept_word("writes")) writes.push_back(buffer());
  reader_.expect("{");
  const Stmt statement = StmtParser(reader_, names, exprs).statements();
  reader_.expect("}");
  const std::string tag = this->tag();
  const Ref<OperationAttributes> given = attributes();
  const auto operation = [&](std::vector<ExternInput> reads) {
    return at_word(reader_, word, [&] {
      return make_extern(name.name, tag, std::move(reads), writes, statement, location, given);
    });
  };
  operation(std::move(now));  // checks the operation
  begin_stage(name, operation(std::move(first)));
  for (const Source& s : sources) {
    if (!s.now->same_tensor(*s.origin)) schedule_.redirect(current_, s.origin, s.now);
  }
}

}  // namespace texloom::schedule
