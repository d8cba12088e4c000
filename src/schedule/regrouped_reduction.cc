#include "schedule/regrouped_reduction.h"

#include "ir/interpret/associative.h"

namespace texloom::schedule {

std::optional<Diagnostic> regrouped_reduction(const Stage& stage, std::string_view how,
                                              const SourceLocation& where) {
  if (!stage.op->is_compute()) return std::nullopt;
  const auto* reduce = ir::as<ir::Reduce>(stage.op->body);
  if (reduce == nullptr || !ir::depends_on_grouping(reduce->reducer)) return std::nullopt;
  return Diagnostic{
      Severity::Warning,
      Code::NotAssociative,
      where,
      fmt::format("the reduction of '{}' is {}, which combines partial results, but its reducer "
                  "'{}' is not associative: (a . b) . c is not a . (b . c)",
                  stage.name(), how, reduce->reducer.name),
      "leave the reduction in one thread, or give a reducer such as a sum of negated values",
      {}};
}

}  // namespace texloom::schedule
