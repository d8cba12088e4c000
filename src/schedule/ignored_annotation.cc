#include "schedule/ignored_annotation.h"

#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

std::string annotation(const AxisAttributes& attributes) {
  switch (attributes.loop) {
    case LoopKind::Thread:
    case LoopKind::Virtual:
      return "bound to " + attributes.thread->name();
    case LoopKind::Serial:
      return attributes.intrinsic ? "tensorized" : "";
    case LoopKind::Vectorized:
    case LoopKind::Unrolled:
    case LoopKind::Parallel:
      return std::string(to_string(attributes.loop));
  }
  TL_UNREACHABLE();
}

std::vector<Diagnostic> dropped_annotations(const Stage& stage, const std::vector<IterVar>& axes,
                                            std::string_view now, const SourceLocation& where) {
  std::vector<Diagnostic> warnings;
  for (const IterVar& axis : axes) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    if (attributes == nullptr || attributes->thread || attributes->intrinsic) continue;
    const std::string was = annotation(*attributes);
    if (was.empty()) continue;
    warnings.push_back(
        {Severity::Warning,
         Code::AnnotationIgnored,
         where,
         fmt::format("the axis '{}' of '{}' was {} and is now {}, which drops the annotation",
                     axis->name(), stage.name(), was, now),
         "vectorize and unroll after all splits and fuses",
         {}});
  }
  return warnings;
}

std::optional<Diagnostic> ignored_annotation(const Stage& stage, const IterVar& axis,
                                             std::string_view directive,
                                             const SourceLocation& where) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes == nullptr || !attributes->thread) return std::nullopt;
  return Diagnostic{Severity::Warning,
                    Code::AnnotationIgnored,
                    where,
                    fmt::format("{} of '{}' of '{}' has no effect: the axis is {}", directive,
                                axis->name(), stage.name(), annotation(*attributes)),
                    "split the axis, bind the outer part, annotate the inner one",
                    {}};
}

}  // namespace texloom::schedule
