#include "lower/schedule/check_operation.h"

#include <algorithm>

#include "ir/arith/ranges.h"
#include "lower/schedule/check_reads.h"
#include "schedule/attach.h"
#include "schedule/operation/scan_operation.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class OperationChecker {
 public:
  OperationChecker(const Lowering& lowering, const StageLinks& links, DiagnosticSink& sink)
      : lowering_(lowering), s_(lowering.schedule), links_(links), sink_(sink) {}

  void run(const Stage& stage) {
    check_step(stage);
    if (stage.op->is_extern()) check_extern(stage);
    if (stage.op->is_scan()) check_scan(stage);
  }

 private:
  // The initial state of a scan and the values of its steps are not visible to other stages or to
  // the caller.
  void check_step(const Stage& stage) {
    const std::optional<StageId> begun = stage.scan < 0 ? s_.scan_written_by(stage.id) : stage.scan;
    if (!begun) return;
    const std::string& scan = s_.stage(*begun).name();
    const bool argument =
        std::any_of(lowering_.arguments.begin(), lowering_.arguments.end(),
                    [&](const Argument& a) { return s_.find(operation_of(a.tensor)) == stage.id; });
    if (argument || stage.is_output) {
      sink_.error(lowering_.location, Code::ScanPlace,
                  fmt::format("pass the result of '{}', or compute a copy from it", scan),
                  "'{}' is a part of the scan '{}', not an array that the caller could pass",
                  stage.name(), scan);
    }
    if (stage.scan < 0) return;
    for (const StageId reader : links_.readers_of(stage.id)) {
      if (reader == stage.scan || s_.stage(reader).scan == stage.scan) continue;
      sink_.error(s_.stage(reader).op->location, Code::ScanPlace,
                  fmt::format("read the result of '{}'", scan),
                  "'{}' reads '{}', which exists only in the steps of the scan '{}'",
                  s_.stage(reader).name(), stage.name(), scan);
    }
  }

  void check_extern(const Stage& stage) {
    if (stage.attachment.kind == AttachKind::At) {
      sink_.error(
          stage.attachment.location, Code::ExternPlace, "leave it at the root",
          "the extern '{}' is computed inside '{}', but its statement writes all of its outputs",
          stage.name(), s_.stage(stage.attachment.stage).name());
      return;
    }
    if (scope_of(s_, stage.id) != StorageScope{} || stage.layout) {
      sink_.error(stage.scope_location, Code::ExternPlace,
                  "write to a buffer, and copy from there with cache_read",
                  "the statement of the extern '{}' writes elements in global memory, not in '{}'",
                  stage.name(), to_string(scope_of(s_, stage.id)));
    }
  }

  void check_scan(const Stage& stage) {
    const StorageScope scope = scope_of(s_, stage.id);
    if (scope != StorageScope{} || stage.layout) {
      sink_.error(stage.scope_location, Code::ScanPlace,
                  "leave it in a row-major buffer, and copy from there with cache_read",
                  "the scan '{}' cannot be stored in '{}': its steps read back elements, which "
                  "needs global memory",
                  stage.name(), to_string(scope));
    }
    const ScanStep step = step_of(*stage.op);
    for (const Op& op : step.operations) {
      const bool inlined = s_.stage(*s_.find(op)).attachment.kind == AttachKind::Inline;
      if (!inlined) check_reads(*op, rows_of(*stage.op, step), sink_);
    }
  }

  // The rows that the steps compute.
  static arith::Ranges rows_of(const Operation& scan, const ScanStep& step) {
    const int64_t first = *int_value(scan.scan_axis->min);
    const int64_t* steps = int_value(scan.scan_axis->extent);
    arith::Interval rows{first, arith::Interval::kNone};
    if (steps != nullptr) rows.max = first + *steps - 1;
    arith::Ranges ranges;
    for (const ExprNode* row : step.rows) ranges.set(Expr(row), rows);
    return ranges;
  }

  const Lowering& lowering_;
  const Schedule& s_;
  const StageLinks& links_;
  DiagnosticSink& sink_;
};

}  // namespace

void check_operation(const Lowering& lowering, const StageLinks& links, const Stage& stage,
                     DiagnosticSink& sink) {
  OperationChecker(lowering, links, sink).run(stage);
}

}  // namespace texloom::lower
