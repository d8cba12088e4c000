#include "lower/schedule/apply_declarations.h"

#include <map>

#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

// The outputs of one computation must have the same storage, since kernels compute them together.
void check_storage_of_outputs(const Stage& stage, const Argument& first, const Argument& second) {
  const BufferDeclaration& a = *first.declaration;
  const BufferDeclaration& b = *second.declaration;
  if (a.scope == b.scope && a.layout == b.layout) return;
  fail(b.location, Code::BadLayout,
       "declare all outputs of a computation in one scope, with one layout",
       "'{}' computes '{}' and '{}', whose declared storages differ", stage.name(),
       first.tensor->name, second.tensor->name);
}

}  // namespace

void apply_declarations(Lowering& lowering) {
  std::map<StageId, const Argument*> declared;
  for (const Argument& argument : lowering.arguments) {
    const auto id = lowering.schedule.find(operation_of(argument.tensor));
    if (!id || lowering.schedule.stage(*id).attachment.kind != AttachKind::Root) continue;
    Stage& stage = lowering.schedule.stage(*id);
    if (!stage.op->is_placeholder()) stage.is_output = true;
    // An input is in global memory; check_schedule refuses a declaration that says otherwise.
    const bool fits =
        argument.declaration &&
        (!stage.op->is_placeholder() || argument.declaration->scope.memory == MemoryScope::Global);
    if (fits) {
      const auto [earlier, is_first] = declared.emplace(*id, &argument);
      if (!is_first) check_storage_of_outputs(stage, *earlier->second, argument);
      stage.scope = argument.declaration->scope;
      stage.layout = argument.declaration->layout;
      stage.scope_location = argument.declaration->location;
    }
  }
}

void apply_transforms(Lowering& lowering) {
  Schedule& s = lowering.schedule;
  for (const StageId id : s.order()) {
    Stage& stage = s.stage(id);
    if (!stage.transform || stage.attachment.kind == AttachKind::Inline) continue;
    const SourceLocation& where = stage.transform->location;
    if (stage.layout) {
      fail(where, Code::BadLayout, "leave one of them out",
           "'{}' has both a layout= and a transform_layout", stage.name());
    }
    if (stage.attachment.kind == AttachKind::At) {
      fail(where, Code::BadLayout, "give it a layout=, which describes the part that is computed",
           "cannot apply transform_layout to '{}': only a part of it is computed at a time, inside "
           "'{}'",
           stage.name(), s.stage(stage.attachment.stage).name());
    }
    const StorageScope scope =
        stage.op->is_placeholder() ? stage.scope.value_or(StorageScope{}) : scope_of(s, id);
    const Layout layout = transformed_layout(*stage.transform, scope, stage.name()).tensor;
    stage.layout = pattern_of(layout, axis_names(layout.shape.size()));
    if (!stage.scope_location.known()) stage.scope_location = where;
  }
}

}  // namespace texloom::lower
