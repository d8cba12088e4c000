#include "core/graph/alternatives.h"

namespace texloom::python {

std::vector<graph::Alternative> alternatives_of(const std::vector<AlternativeTuple>& given) {
  std::vector<graph::Alternative> list;
  for (const auto& [label, program, cost, fold_share, may_fail] : given) {
    graph::Alternative& alternative = list.emplace_back();
    alternative.name = label;
    alternative.program = program.state;
    alternative.cost = cost;
    alternative.may_fail = may_fail;
    if (fold_share) alternative.fold_share = *fold_share;
  }
  return list;
}

}  // namespace texloom::python
