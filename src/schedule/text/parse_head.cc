// The head of a schedule's text: symbols, reducers and, in parse_intrinsic.cc, tensor intrinsics.

#include <algorithm>
#include <set>

#include "ir/reducer.h"
#include "schedule/text/parse.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

void ScheduleParser::head() {
  for (;;) {
    if (reader_.accept_word("symbol")) {
      symbol();
    } else if (reader_.accept_word("reducer")) {
      reducer();
    } else if (reader_.accept_word("intrinsic")) {
      intrinsic();
    } else {
      return;
    }
  }
}

void ScheduleParser::symbol() {
  const NamedToken name = reader_.name("the name of a symbol");
  reader_.expect(":");
  const Token at = reader_.peek();
  const Type type = reader_.type();
  if (!type.is_scalar()) {
    reader_.wrong(at, "use a scalar type", "the symbol {} has the type {}", name.token.text,
                  to_string(type));
  }
  head_.names.bind(reader_, name, type);
}

// "name", or "tuple(name, name)".
std::vector<NamedToken> ScheduleParser::operand_names() {
  if (!reader_.at_word("tuple") || !reader_.at("(", 1)) return {reader_.name("a variable")};
  reader_.next();
  std::vector<NamedToken> names;
  do {
    reader_.next();
    names.push_back(reader_.name("a variable"));
  } while (reader_.at(","));
  reader_.expect(")");
  return names;
}

// "float32", or "tuple(int32, float32)".
std::vector<Type> ScheduleParser::types() {
  if (!reader_.accept_word("tuple")) return {reader_.type()};
  if (!reader_.at("(")) reader_.fail_expected("'('");
  std::vector<Type> list;
  do {
    reader_.next();
    list.push_back(reader_.type());
  } while (reader_.at(","));
  reader_.expect(")");
  return list;
}

// ", i: int32, n: int32"
Exprs ScheduleParser::reducer_parameters(Scope& scope) {
  Exprs parameters;
  while (reader_.accept(",")) {
    const NamedToken name = reader_.name("a variable");
    if (scope.names.find_variable(name.name)) {
      reader_.wrong(name.token, "give the parameters different names", "the name {} is used twice",
                    name.token.text);
    }
    reader_.expect(":");
    parameters.push_back(scope.names.bind(reader_, name, reader_.type()));
  }
  return parameters;
}

void ScheduleParser::reducer() {
  const NamedToken name = reader_.name("the name of a reducer");
  reader_.expect("(");
  const std::vector<NamedToken> lhs = operand_names();
  reader_.expect(",");
  const std::vector<NamedToken> rhs = operand_names();
  Scope constants(reader_);
  const Exprs parameters = reducer_parameters(constants);
  reader_.expect(")");
  reader_.expect(":");
  const Token at = reader_.peek();
  const std::vector<Type> types = this->types();
  if (std::any_of(types.begin(), types.end(), [](Type t) { return !t.is_scalar(); })) {
    reader_.wrong(at, "use a scalar type", "the reducer combines vectors");
  }
  if (lhs.size() != types.size() || rhs.size() != types.size() || types.size() > kMaxOutputs) {
    reader_.wrong(at, "give two operands for each type",
                  "the reducer has {} left and {} right operands, and {} types", lhs.size(),
                  rhs.size(), types.size());
  }
  // The combined values may use the operands and the parameters; the identities may use only the
  // parameters.
  Scope values(reader_, &constants.names);
  Reducer r;
  r.name = name.name;
  std::set<std::string> known;
  const auto bind = [&](const std::vector<NamedToken>& names, Exprs& operands) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (constants.names.find_variable(names[i].name) || !known.insert(names[i].name).second) {
        reader_.wrong(names[i].token, "give the operands different names",
                      "the name {} is used twice", names[i].token.text);
      }
      operands.push_back(values.names.bind(reader_, names[i], types[i]));
    }
  };
  bind(lhs, r.lhs);
  bind(rhs, r.rhs);
  r.results = reducer_part(values, "result", types);
  reader_.expect(",");
  reader_.expect_word("identity");
  r.identities = reducer_part(constants, "identity", types);
  head_.names.add_reducer(reader_, name, {r, parameters});
}

Exprs ScheduleParser::reducer_part(Scope& scope, std::string_view what,
                                   const std::vector<Type>& types) {
  reader_.expect("=");
  const Token first = reader_.peek();
  Exprs values = scope.exprs.values();
  if (values.size() != types.size()) {
    reader_.wrong(first, "give one for each type", "the {} has {} values, not {}", what,
                  values.size(), types.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->size > kMaxReducerSize) {
      reader_.wrong(first, "combine two values only", "the {} has more than {} parts", what,
                    kMaxReducerSize);
    }
    if (values[i]->type == types[i]) continue;
    reader_.wrong(first, "convert it, as in float32(x)", "the {} is {}, not {}", what,
                  to_string(values[i]->type), to_string(types[i]));
  }
  return values;
}

}  // namespace texloom::schedule
