#include "lower/schedule/check_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ir/arith/simplify.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class ArgumentChecker {
 public:
  ArgumentChecker(const Lowering& lowering, DiagnosticSink& sink)
      : lowering_(lowering), s_(lowering.schedule), sink_(sink) {}

  void run() {
    std::set<std::pair<StageId, int>> seen;
    for (const Argument& argument : lowering_.arguments) {
      const std::string& name = argument.tensor->name;
      const auto id = s_.find(operation_of(argument.tensor));
      if (!id) {  // a parameter that nothing reads or writes
        check_row_major(argument, "read by nothing", "read it in a stage");
        continue;
      }
      if (!seen.emplace(*id, argument.tensor->output).second) {
        sink_.error(lowering_.location, Code::BadArguments, "name each argument once",
                    "the argument '{}' is named twice", name);
      }
      check_copied(argument, s_.stage(*id));
      if (argument.declaration) check_declaration(argument);
    }
    for (const StageId id : s_.order()) {
      const Stage& stage = s_.stage(id);
      const bool input = stage.op->is_placeholder() && stage.scan < 0;
      if (!input || seen.contains({id, 0})) continue;
      sink_.error(lowering_.location, Code::BadArguments,
                  fmt::format("add '{}' to the argument list", stage.name()),
                  "the input '{}' is not among the arguments", stage.name());
    }
  }

 private:
  void check_row_major(const Argument& argument, std::string_view why, std::string_view way_out) {
    const auto& declared = argument.declaration;
    if (!declared || !(declared->scope.texture || declared->layout || declared->has_origin)) return;
    sink_.error(declared->location, Code::BadBinding,
                fmt::format("declare a row-major buffer, or {}", way_out),
                "the argument '{}' is {}, so it can have neither a texture nor a layout",
                argument.tensor->name, why);
  }

  // A stage that is computed inside a reader is copied from there to the caller's array; an inlined
  // stage is not copied.
  void check_copied(const Argument& argument, const Stage& stage) {
    if (stage.attachment.kind == AttachKind::Root) return;
    if (stage.attachment.kind == AttachKind::Inline) {
      check_row_major(argument, "inlined", "leave out its compute_inline");
    } else {
      check_row_major(argument, "computed inside a reader", "leave out its compute_at");
    }
    if (stage.attachment.kind == AttachKind::At && (stage.pipeline || stage.double_buffered)) {
      sink_.error(stage.pipeline ? stage.pipeline->location : stage.double_buffer_location,
                  Code::BadArguments,
                  "leave it out of the arguments, or compute it where it is read",
                  "cannot apply {} to the argument '{}': it would be computed ahead of its "
                  "readers, and results computed ahead are not copied to the caller",
                  stage.pipeline ? "pipeline" : "double_buffer", stage.name());
    }
  }

  void check_declaration(const Argument& argument) {
    const BufferDeclaration& d = *argument.declaration;
    const Exprs& extents = argument.tensor->shape;
    const bool same_shape =
        std::equal(d.shape.begin(), d.shape.end(), extents.begin(), extents.end(),
                   [](const Expr& a, const Expr& b) { return arith::prove_equal(a, b, {}); });
    if (d.type == argument.tensor->type && same_shape && d.scope.memory == MemoryScope::Global) {
      return check_place_in_image(d, argument.tensor->name);
    }
    sink_.error(d.location, Code::BadBinding,
                "declare it with the tensor's shape and dtype, in global memory or a texture",
                "the tensor '{}' is {}[{}], but its buffer is declared as {}[{}] in {}",
                argument.tensor->name, to_string(argument.tensor->type), listed(extents),
                to_string(d.type), listed(d.shape), to_string(d.scope));
  }

  static std::string listed(const Exprs& shape) {
    std::vector<std::string> extents;
    for (const Expr& extent : shape) extents.push_back(ir::to_string(extent));
    return fmt::format("{}", fmt::join(extents, ", "));
  }

  void check_place_in_image(const BufferDeclaration& d, const std::string& tensor) {
    if (d.has_origin && !d.scope.texture && !d.exact_image)
      sink_.error(d.location, Code::BadBinding,
                  "declare it with scope=\"texture\", or without origin=True",
                  "the tensor '{}' is declared with origin=True, but is in a buffer", tensor);
    if (!d.exact_image || (d.scope.texture && !d.has_origin)) return;
    sink_.error(d.location, Code::BadBinding,
                d.has_origin ? "leave out origin=True, or exact_image=True"
                             : "declare it with scope=\"texture\", or without exact_image=True",
                "the tensor '{}' is declared with exact_image=True, but {}", tensor,
                d.has_origin ? "may begin anywhere in its image" : "is in a buffer");
  }

  const Lowering& lowering_;
  const Schedule& s_;
  DiagnosticSink& sink_;
};

}  // namespace

void check_arguments(const Lowering& lowering, DiagnosticSink& sink) {
  ArgumentChecker(lowering, sink).run();
}

}  // namespace texloom::lower
