#include "lower/schedule/check_storage.h"

#include <algorithm>

#include "ir/visit.h"
#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class StorageChecker {
 public:
  StorageChecker(const Lowering& lowering, const StageLinks& links, DiagnosticSink& sink)
      : lowering_(lowering), s_(lowering.schedule), links_(links), sink_(sink) {}

  void run(const Stage& stage) {
    check_texture(stage);
    check_types(stage);
    const bool placed = stage.op->is_compute() && stage.attachment.kind != AttachKind::Inline;
    if (placed) check_visibility(stage);
  }

 private:
  void check_texture(const Stage& stage) {
    if (!scope_of(s_, stage.id).texture) return;
    if (!lowering_.target.features.images) {
      sink_.error(stage.scope_location, Code::NoImages, "keep the tensor in a buffer",
                  "'{}' is placed in a texture, but the target '{}' has no images", stage.name(),
                  to_string(lowering_.target));
    }
    for (const Type type : stage.op->types) {
      if (is_texel_type(type)) continue;
      sink_.error(
          stage.scope_location, Code::TextureElementType,
          "textures hold float16, float32 and integers of 8, 16 and 32 bits: cast the tensor, "
          "or keep it in a buffer",
          "'{}' has elements of type {}, which no texture can hold", stage.name(), to_string(type));
    }
    const bool any_rank = stage.layout.has_value();
    if (stage.op->shape.empty() || (stage.op->shape.size() > kMaxTextureRank && !any_rank)) {
      sink_.error(stage.scope_location, Code::BadShape, "use a buffer for it",
                  "'{}' has {} axes; a texture holds tensors of 1 to {}", stage.name(),
                  stage.op->shape.size(), kMaxTextureRank);
    }
    if (!stage.op->reduce_axes.empty()) {
      sink_.error(stage.scope_location, Code::TextureReduction,
                  fmt::format("accumulate in registers first: s.cache_write({}, \"local\")",
                              stage.origin->name),
                  "the reduction '{}' would read and write its texture in each step", stage.name());
    }
  }

  // Reports the stage where the type first appears, not every stage that is computed from it.
  void check_types(const Stage& stage) {
    const auto is_double = [](Type type) { return type.element() == Type::f(64); };
    const std::vector<Tensor>& inputs = stage.op->inputs;
    const bool comes_in = std::none_of(inputs.begin(), inputs.end(),
                                       [&](const Tensor& t) { return is_double(t->type); });
    if (lowering_.target.features.float64 || !comes_in) return;
    bool found = std::any_of(stage.op->types.begin(), stage.op->types.end(), is_double);
    const auto see = [&](const ExprNode& n) { found = found || is_double(n.type); };
    if (stage.op->is_compute()) walk(stage.op->body, see);
    if (stage.op->is_extern()) walk(stage.op->statement, see);
    for (const auto& [axis, attributes] : stage.attributes) {
      if (!attributes.intrinsic) continue;
      const auto& [body, reset, update] = attributes.intrinsic->statements;
      for (const Stmt& s : {body, reset, update}) {
        if (s) walk(s, see);
      }
    }
    if (!found) return;
    sink_.error(stage.op->location, Code::UnsupportedType, "compute it in float32",
                "'{}' is in float64, which the target '{}' does not support", stage.name(),
                to_string(lowering_.target));
  }

  void check_visibility(const Stage& stage) {
    const StorageScope scope = scope_of(s_, stage.id);
    const bool kept_inside =
        stage.attachment.kind == AttachKind::Root && scope.memory != MemoryScope::Global;
    if (kept_inside && stage.is_output) {
      const std::string_view memory = to_string(scope.memory);
      sink_.error(stage.scope_location, Code::ScopeTooNarrow,
                  fmt::format("compute it there and copy it out: s.cache_write({}, \"{}\")",
                              stage.origin->name, memory),
                  "'{}' is an output, which is in the caller's memory, but its scope is {} memory",
                  stage.name(), memory);
    } else if (kept_inside) {
      sink_.error(
          stage.scope_location, Code::ScopeTooNarrow,
          "attach it to a loop of a stage that reads it: s[cache].compute_at(s[reader], axis)",
          "'{}' is in {} memory but is computed at the root, in a kernel without its readers",
          stage.name(), to_string(scope.memory));
    }
    if (stage.attachment.kind != AttachKind::At || stage.scan >= 0) return;
    for (const StageId reader : links_.readers_of(stage.id)) {
      if (s_.stage(reader).attachment.kind == AttachKind::Inline) continue;
      check_encloses(s_, stage.id, reader);
    }
  }

  const Lowering& lowering_;
  const Schedule& s_;
  const StageLinks& links_;
  DiagnosticSink& sink_;
};

}  // namespace

void check_storage(const Lowering& lowering, const StageLinks& links, const Stage& stage,
                   DiagnosticSink& sink) {
  StorageChecker(lowering, links, sink).run(stage);
}

}  // namespace texloom::lower
