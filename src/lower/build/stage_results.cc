#include "lower/build/stage_results.h"

#include <utility>

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

Exprs loads(const ResultElement& element, const SourceLocation& where) {
  Exprs values;
  for (const Buffer& b : element.buffers) values.push_back(make_load(b, element.indices, where));
  return values;
}

Stmt stores(const ResultElement& element, Exprs values, bool read_element,
            const SourceLocation& where) {
  const bool lets = read_element && values.size() > 1;
  const Exprs computed = values;
  Stmts list;
  for (size_t i = 0; i < values.size(); ++i) {
    const Buffer& own = element.buffers[i];
    if (lets) values[i] = make_var(own->name + ".next", values[i]->type, where);
    list.push_back(make_store(own, element.indices, values[i], where));
  }
  Stmt body = make_seq(std::move(list));
  for (size_t i = values.size(); lets && i-- > 0;) {
    body = make_let(values[i], computed[i], std::move(body), where);
  }
  return body;
}

Exprs combined(const Reducer& reducer, const Exprs& lhs, const Exprs& rhs) {
  Substitution operands;
  for (size_t i = 0; i < lhs.size(); ++i) {
    operands.emplace(reducer.lhs[i], lhs[i]);
    operands.emplace(reducer.rhs[i], rhs[i]);
  }
  Exprs values;
  for (const Expr& result : reducer.results) values.push_back(substitute(result, operands));
  return values;
}

Stmt guarded(const std::vector<Expr>& guards, Stmt store) {
  Expr all = make_bool(true);
  for (const Expr& guard : guards) all = all && guard;
  return make_if(all, std::move(store));
}

}  // namespace texloom::lower
