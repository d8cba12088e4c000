// Expressions of stage te in the text form: elements of tensors, axes and reductions.

#include "ir/program.h"
#include "ir/reducer.h"
#include "ir/text/parse_expr.h"
#include "ir/visit.h"

namespace texloom::ir {

Expr ExprParser::tensor_read(const NamedToken& name) {
  Tensor tensor = names_.tensor(reader_, name, output_number());
  reader_.expect("[");
  Exprs indices = list_until("]");
  if (indices.size() != tensor->shape.size()) {
    reader_.wrong(name.token, "give it one index for each axis", "{} has {} axes, not {}",
                  name.token.text, tensor->shape.size(), indices.size());
  }
  for (const Expr& index : indices) {
    if (index->type.is_integer() && index->type.is_scalar()) continue;
    reader_.wrong(name.token, "convert it, as in int32(x)", "an index of {} is {}, not an integer",
                  name.token.text, to_string(index->type));
  }
  return make_tensor_read(std::move(tensor), std::move(indices));
}

Expr ExprParser::domain(std::string_view what) {
  const Token at = reader_.peek();
  Expr value = expr();
  const int64_t* number = int_value(value);
  const bool fits = number == nullptr || (*number >= INT32_MIN && *number <= INT32_MAX);
  if (!is_scalar_index(value) || !fits) {
    reader_.wrong(at, "write an integer of 32 bits", "{} is {}, which does not fit an axis", what,
                  fits ? to_string(value->type) : std::to_string(*number));
  }
  const auto refuse = [&](const auto&) {
    reader_.wrong(at, "use constants and symbols", "{} depends on a tensor", what);
  };
  walk(value, [&](const TensorRead& n) { refuse(n); }, [&](const Reduce& n) { refuse(n); });
  return value;
}

IterVar ExprParser::axis(IterKind kind) {
  const NamedToken name = reader_.name("the name of an axis");
  const Token at = reader_.peek();
  const Type type = reader_.accept(":") ? reader_.type() : kInt32;
  if (!type.is_integer() || !type.is_scalar()) {
    reader_.wrong(at, "use an integer type", "the axis {} is {}", name.token.text, to_string(type));
  }
  Expr min = make_int(0), extent;
  if (reader_.accept("<")) {
    extent = domain("the extent");
  } else {
    if (!reader_.accept_word("from")) reader_.fail_expected("'<' or 'from'");
    min = domain("the first index");
    reader_.expect_word("extent");
    extent = domain("the extent");
  }
  Expr var = names_.bind(reader_, name, type);
  return make_iter_var(std::move(var), std::move(min), std::move(extent), kind,
                       reader_.location(reader_.line_of(name.token)));
}

std::vector<IterVar> ExprParser::axes_until(std::string_view close, IterKind kind) {
  std::vector<IterVar> axes;
  do {
    const Token at = reader_.peek();
    IterVar axis = this->axis(kind);
    for (const IterVar& other : axes) {
      if (!other->var.same_as(axis->var)) continue;
      reader_.wrong(at, "name each axis once", "{} is an axis already", at.text);
    }
    axes.push_back(std::move(axis));
    if (axes.size() > kMaxDepth) {
      reader_.wrong(at, "fuse some of them", "more than {} axes nest loops too deeply", kMaxDepth);
    }
  } while (reader_.accept(","));
  if (!reader_.accept(close)) reader_.fail_expected(fmt::format("',' or '{}'", close));
  return axes;
}

size_t ExprParser::output_number() {
  if (!reader_.accept("#")) return 0;
  return static_cast<size_t>(reader_.integer("the number of an output", 0, kMaxOutputs - 1));
}

Exprs ExprParser::values() {
  if (!reader_.at_word("tuple") || !reader_.at("(", 1)) return {expr()};
  const Token word = reader_.next();
  reader_.next();
  Exprs list = list_until(")");
  if (list.empty() || list.size() > kMaxOutputs) {
    reader_.wrong(word, "give it as many values as there are outputs",
                  "a tuple has 1 to {} values, not {}", kMaxOutputs, list.size());
  }
  return list;
}

// Values to be reduced, or initial values, of the types that the reducer combines.
Exprs ExprParser::reducer_values(const Token& name, const Reducer& reducer) {
  Exprs list = values();
  if (list.size() != reducer.results.size()) {
    reader_.wrong(name, "give it as many values as the reducer combines",
                  "the reducer combines {} at once, but {} are given", reducer.results.size(),
                  list.size());
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i]->type == reducer.results[i]->type) continue;
    reader_.wrong(name, "convert it, or declare a reducer of this type",
                  "the reducer combines {}, not {}", to_string(reducer.results[i]->type),
                  to_string(list[i]->type));
  }
  return list;
}

// "sum", or "scaled(i, n)" with the variables that replace its parameters.
Reducer ExprParser::reducer(const Token& name) {
  const DeclaredReducer& declared = names_.reducer(reader_, reader_.name("the name of a reducer"));
  Exprs given;
  if (reader_.accept("(")) {
    do {
      given.push_back(names_.variable(reader_, reader_.name("a variable")));
    } while (reader_.accept(","));
    reader_.expect(")");
  }
  if (given.size() != declared.parameters.size()) {
    reader_.wrong(name, "name a variable for each parameter, after the reducer's operands",
                  "the reducer takes {} variables, not {}", declared.parameters.size(),
                  given.size());
  }
  Substitution values;
  for (size_t i = 0; i < given.size(); ++i) {
    const Expr& parameter = declared.parameters[i];
    if (given[i]->type != parameter->type) {
      reader_.wrong(name, "declare a reducer for variables of this type",
                    "the reducer takes a variable of type {}, not {}", to_string(parameter->type),
                    to_string(given[i]->type));
    }
    values.emplace(parameter, given[i]);
  }
  return substitute(declared.reducer, values);
}

Expr ExprParser::reduce(const Token& name) {
  const Reducer reducer = this->reducer(name);
  reader_.expect(",");
  reader_.expect("[");
  std::vector<IterVar> axes = axes_until("]", IterKind::Reduction);
  reader_.expect(",");
  Exprs sources = reducer_values(name, reducer), init;
  Expr condition;
  while (reader_.accept(",")) {
    const bool where = !condition && init.empty() && reader_.at_word("where");
    if (!where && (!init.empty() || !reader_.at_word("init"))) reader_.fail_expected("')'");
    reader_.next();
    reader_.expect("=");
    if (!where) {
      init = reducer_values(name, reducer);
      continue;
    }
    condition = expr();
    if (condition->type != kBool) {
      reader_.wrong(name, "write a comparison", "the condition of reduce is {}, not bool",
                    to_string(condition->type));
    }
  }
  reader_.expect(")");
  return make_reduce(reducer, std::move(sources), std::move(axes), std::move(condition),
                     std::move(init));
}

}  // namespace texloom::ir
