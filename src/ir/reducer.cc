#include "ir/reducer.h"

#include <algorithm>

namespace texloom::ir {

bool is_operand(const Reducer& reducer, const Var& v) {
  const auto same = [&](const Expr& operand) { return operand.get() == &v; };
  return std::any_of(reducer.lhs.begin(), reducer.lhs.end(), same) ||
         std::any_of(reducer.rhs.begin(), reducer.rhs.end(), same);
}

Exprs parameters_of(const Reducer& reducer) {
  Exprs parameters;
  for (const Exprs* list : {&reducer.results, &reducer.identities}) {
    for (const Expr& e : *list) {
      walk(e, [&](const Var& v) {
        const auto same = [&](const Expr& known) { return known.get() == &v; };
        if (is_operand(reducer, v) || std::any_of(parameters.begin(), parameters.end(), same)) {
          return;
        }
        parameters.emplace_back(&v);
      });
    }
  }
  return parameters;
}

Reducer substitute(Reducer reducer, const Substitution& values) {
  for (Expr& e : reducer.results) e = substitute(e, values);
  for (Expr& e : reducer.identities) e = substitute(e, values);
  return reducer;
}

}  // namespace texloom::ir
