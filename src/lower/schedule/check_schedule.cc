#include "lower/schedule/check_schedule.h"

#include <algorithm>

#include "lower/schedule/check_arguments.h"
#include "lower/schedule/check_divided_stages.h"
#include "lower/schedule/check_loops.h"
#include "lower/schedule/check_operation.h"
#include "lower/schedule/check_storage.h"
#include "lower/schedule/check_symbols.h"
#include "lower/schedule/double_buffers.h"
#include "schedule/stage_links.h"

namespace texloom::lower {

using namespace schedule;

namespace {

// Whether an error was already reported. An attachment that stops the checks of several stages is
// reported once; in a cycle of attachments each stage reports the cycle, beginning with itself.
bool is_known(const DiagnosticSink& sink, const Diagnostic& d) {
  return std::any_of(
      sink.diagnostics().begin(), sink.diagnostics().end(), [&](const Diagnostic& other) {
        return other.code == d.code && (d.code == Code::AttachCycle || other.message == d.message);
      });
}

// Runs a check that throws its first error, and adds the error to the errors of other checks.
template <class Check>
void collect(DiagnosticSink& sink, const Check& check) {
  try {
    check();
  } catch (const UserError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      if (!is_known(sink, d)) sink.report(d);
    }
  }
}

}  // namespace

void check_schedule(Lowering& lowering) {
  const Schedule& s = lowering.schedule;
  const StageLinks links = links_of(s);
  DiagnosticSink sink;
  check_arguments(lowering, sink);
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    collect(sink, [&] {
      check_storage(lowering, links, stage, sink);
      check_operation(lowering, links, stage, sink);
      check_loops(lowering, stage, sink);
      extents_of(stage.op->shape, stage.name(), stage.op->location);
    });
  }
  collect(sink, [&] { check_divided_stages(lowering, sink); });
  collect(sink, [&] { check_double_buffers(lowering); });
  // A missing argument would also be reported as a missing symbol.
  if (sink.diagnostics().empty()) collect(sink, [&] { check_symbols(lowering); });
  sink.throw_if_errors();
}

}  // namespace texloom::lower
