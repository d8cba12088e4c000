// Tensor intrinsics at the head of a schedule's text.

#include <fmt/format.h>

#include "ir/text/parse_buffer.h"
#include "ir/text/parse_stmt.h"
#include "schedule/text/parse.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

// "a: global float32[4, 8] strides=(s, 1) offset=o multiple=4 in local"
TensorView ScheduleParser::view(TextNames& names) {
  const NamedToken own = reader_.name("the name of a buffer");
  reader_.expect(":");
  const Declaration declaration = parse_declaration(reader_, names);
  TensorView v;
  v.buffer = names.declare(reader_, own, declaration, reader_.line_of(own.token));
  const auto variable = [&] {
    return names.bind(reader_, reader_.name("the name of a variable"), kInt32);
  };
  if (reader_.accept_word("strides")) {
    reader_.expect("=");
    reader_.expect("(");
    do {
      v.strides.push_back(reader_.at_name() ? variable()
                                            : make_int(reader_.integer("a stride", 0, INT32_MAX)));
    } while (reader_.accept(","));
    reader_.expect(")");
  }
  if (reader_.accept_word("offset")) {
    reader_.expect("=");
    v.offset = variable();
  }
  if (reader_.accept_word("multiple")) {
    reader_.expect("=");
    v.offset_factor = reader_.integer("a factor of the offset", 1, INT32_MAX);
  }
  if (reader_.accept_word("in")) v.scope = memory_scope();
  return v;
}

// "computes (i < 4) = reduce(...)", over elements of the inputs.
Op ScheduleParser::computation(const NamedToken& name, std::vector<IntrinsicInput>& inputs,
                               const TextNames& scalars) {
  const Token word = reader_.expect_word("computes");
  Scope scope(reader_, &scalars);
  for (IntrinsicInput& input : inputs) {
    const BufferNode& b = *input.view.buffer;
    Exprs shape;
    for (const int64_t extent : b.shape) shape.push_back(make_int(extent));
    const Op op = make_placeholder(b.name, b.type, std::move(shape), b.location);
    input.tensor = output_of(op);
    scope.names.add_tensors(reader_, input.name, {input.tensor});
  }
  const std::vector<IterVar> axes = data_axes(scope);
  reader_.expect("=");
  const Token at = reader_.peek();
  const Expr e = body(scope, axes);
  return at_word(reader_, at, [&] { return make_compute(name.name, "", axes, e, place(word)); });
}

// "scalar s: float32"
Exprs ScheduleParser::scalars(TextNames& names) {
  Exprs list;
  while (reader_.accept_word("scalar")) {
    const NamedToken own = reader_.name("the name of a scalar");
    reader_.expect(":");
    list.push_back(names.bind(reader_, own, reader_.type()));
  }
  return list;
}

void ScheduleParser::intrinsic() {
  const NamedToken name = reader_.name("the name of a tensor intrinsic");
  const SourceLocation location = place(name.token);
  TextNames of_scalars(&head_.names);
  Exprs scalars = this->scalars(of_scalars);
  TextNames names(&of_scalars);
  ExprParser exprs(reader_, names);
  exprs.set_form({.logical = true, .widened = false});
  std::vector<IntrinsicInput> inputs;
  while (reader_.accept_word("reads")) {
    const Token own = reader_.peek();
    TensorView v = view(names);
    inputs.push_back({{own, v.buffer->name}, std::move(v), {}});
  }
  std::vector<TensorView> writes;
  while (reader_.accept_word("writes")) writes.push_back(view(names));
  const Op op = computation(name, inputs, of_scalars);
  const auto statement = [&](std::string_view word) -> Stmt {
    if (!reader_.accept_word(word)) return {};
    reader_.expect("{");
    Stmt s = StmtParser(reader_, names, exprs).statements();
    reader_.expect("}");
    return s;
  };
  if (!reader_.at_word("body")) reader_.fail_expected("'body'");
  IntrinsicStatements statements;
  statements.body = statement("body");
  statements.reset = statement("reset");
  statements.update = statement("update");
  // The views in the order in which the computation reads them. Their number is checked later.
  std::vector<TensorView> reads;
  for (const Tensor& t : op->inputs) {
    for (const IntrinsicInput& input : inputs) {
      if (input.tensor->same_tensor(*t)) reads.push_back(input.view);
    }
  }
  for (size_t i = reads.size(); i < inputs.size(); ++i) reads.push_back(inputs[i].view);
  const TensorIntrinsic made = at_word(reader_, name.token, [&] {
    return make_tensor_intrinsic({name.name, op, std::move(reads), std::move(writes),
                                  std::move(scalars), std::move(statements), location});
  });
  if (intrinsics_.emplace(name.name, made).second) return;
  reader_.wrong(name.token, "rename one of them", "{} is an intrinsic already", name.token.text);
}

void ScheduleParser::tensorize(const Token& word) {
  const IterVar axis = own_axis();
  const NamedToken name = reader_.name("the name of a tensor intrinsic");
  const auto found = intrinsics_.find(name.name);
  if (found == intrinsics_.end()) {
    reader_.wrong(name.token,
                  fmt::format("declare it before the parameters, such as: intrinsic {} reads a: "
                              "global float32[2] writes b: global float32[2] computes (i < 2) = "
                              "a[i] * 2.0 body {{ b[0] = a[0] * 2.0 b[1] = a[1] * 2.0 }}",
                              name.token.text),
                  "there is no tensor intrinsic {}", name.token.text);
  }
  const SourceLocation location = place(word);
  at_word(reader_, word, [&] { schedule_.tensorize(current_, axis, found->second, location); });
}

}  // namespace texloom::schedule
