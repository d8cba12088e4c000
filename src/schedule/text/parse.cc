#include "schedule/text/parse.h"

#include <fmt/ranges.h>

#include <utility>

#include "ir/scope.h"
#include "ir/text/parse_layout.h"
#include "ir/visit.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

ScheduleParser::TensorType ScheduleParser::tensor_type() {
  const Token at = reader_.peek();
  TensorType t{reader_.type(), {}};
  if (!t.type.is_scalar()) {
    reader_.wrong(at, "declare more elements instead", "an element is {}, not a scalar", at.text);
  }
  reader_.expect("[");
  if (reader_.accept("]")) return t;
  do {
    t.shape.push_back(head_.exprs.domain("an extent"));
  } while (reader_.accept(","));
  if (!reader_.accept("]")) reader_.fail_expected("',' or ']'");
  return t;
}

StorageScope ScheduleParser::memory_scope() {
  const NamedToken name = reader_.name("a memory scope");
  if (const std::optional<StorageScope> scope = parse_scope(name.name)) return *scope;
  reader_.wrong(name.token, fmt::format("use one of {}", fmt::join(scope_spellings(), ", ")),
                "unknown memory scope {}", name.token.text);
}

LayoutPattern ScheduleParser::layout(const StorageScope& scope, const Shape& shape) {
  reader_.expect("=");
  const Token at = reader_.peek();
  const LayoutParser layout(reader_);
  layout.bind(shape, Code::BadLayout);
  at_word(reader_, at, [&] { check_storage({scope, layout.pattern()}, {}); });
  return layout.pattern();
}

// -- Operations.

Schedule ScheduleParser::operations() {
  for (;;) {
    if (reader_.at_word("placeholder")) {
      placeholder();
    } else if (reader_.at_word("compute")) {
      compute();
    } else if (reader_.at_word("extern")) {
      external();
    } else if (reader_.at_word("scan")) {
      scan();
    } else if (reader_.peek().kind == TokenKind::End) {
      break;
    } else if (current_ < 0) {
      reader_.fail_expected("'placeholder', 'compute', 'extern' or 'scan'");
    } else if (!directive()) {
      reader_.fail_expected("a directive, 'placeholder', 'compute', 'extern' or 'scan'");
    }
  }
  for (const PendingAttachment& pending : pending_) attach(pending);
  return std::move(schedule_);
}

StageId ScheduleParser::stage(const NamedToken& name) const {
  if (const auto found = stages_.find(name.name); found != stages_.end()) return found->second;
  reader_.wrong(name.token, "name a placeholder or compute of this text",
                "there is no tensor {} here", name.token.text);
}

Tensor ScheduleParser::named_tensor() {
  const NamedToken name = reader_.name("the name of a tensor");
  return head_.names.tensor(reader_, name, output_number());
}

void ScheduleParser::begin_stage(const NamedToken& name, const Op& origin) {
  current_ = schedule_.append_stage(origin);
  head_.names.add_tensors(reader_, name, outputs_of(origin));
  stages_.emplace(name.name, current_);
  names_.push_back(name);
  axes_.emplace_back();
}

void ScheduleParser::placeholder() {
  const Token word = reader_.next();
  const NamedToken name = reader_.name("the name of a placeholder");
  reader_.expect(":");
  TensorType t = tensor_type();
  begin_stage(name, make_placeholder(name.name, t.type, std::move(t.shape), place(word)));
}

std::vector<IterVar> ScheduleParser::data_axes(Scope& scope) {
  reader_.expect("(");
  if (reader_.accept(")")) return {};
  const Token at = reader_.peek();
  std::vector<IterVar> axes = scope.exprs.axes_until(")", IterKind::Data);
  for (const IterVar& axis : axes) {
    if (is_int(axis->min, 0)) continue;
    reader_.wrong(at, "write i < n, and add to the index instead",
                  "the axis {} does not begin at 0", spell_name(axis->name()));
  }
  return axes;
}

Expr ScheduleParser::body(Scope& scope, const std::vector<IterVar>& axes) {
  const Token at = reader_.peek();
  Exprs values = scope.exprs.values();
  Expr e = values.size() == 1 ? values.front() : make_tuple(std::move(values));
  const auto refuse = [&](const auto&) {
    reader_.wrong(at, "vectorize a loop instead", "the expression computes vectors");
  };
  walk(
      e, [&](const Broadcast& n) { refuse(n); }, [&](const Ramp& n) { refuse(n); },
      [&](const Pack& n) { refuse(n); });
  if (const auto* reduce = as<Reduce>(e)) {
    for (const IterVar& axis : reduce->axes) {
      for (const IterVar& data : axes) {
        if (!data->var.same_as(axis->var)) continue;
        reader_.wrong(at, "give the reduction its own axis", "{} is an axis already",
                      spell_name(axis->name()));
      }
    }
  }
  return e;
}

// Checks that the values of a compute have the declared types.
void ScheduleParser::check_types(const Token& at, const NamedToken& name,
                                 const std::vector<Type>& types, const Expr& body) const {
  const Exprs values = values_of(body);
  if (values.size() != types.size()) {
    reader_.wrong(at, "declare a type for each value",
                  "{} has {} types, but its expression has {} values", name.token.text,
                  types.size(), values.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (values[i]->type == types[i]) continue;
    reader_.wrong(at, "convert the expression, as in float32(x)",
                  "{} is declared {}, but its expression is {}", name.token.text,
                  to_string(types[i]), to_string(values[i]->type));
  }
}

std::string ScheduleParser::tag() {
  return reader_.accept_word("tag") ? reader_.name("a tag").name : "";
}

Ref<OperationAttributes> ScheduleParser::attributes() {
  if (!reader_.accept_word("attributes")) return {};
  return Ref<OperationAttributes>(
      new OperationAttributes(reader_.name("attributes in quotes").name));
}

void ScheduleParser::compute() {
  const Token word = reader_.next();
  const NamedToken name = reader_.name("the name of a compute");
  Scope scope(reader_, &head_.names);
  const std::vector<IterVar> axes = data_axes(scope);
  reader_.expect(":");
  const Token type_at = reader_.peek();
  const std::vector<Type> types = this->types();
  reader_.expect("=");
  const Token body_at = reader_.peek();
  const Expr now = body(scope, axes);
  check_types(type_at, name, types, now);
  const SourceLocation location = place(word);
  Expr first = now;
  Token first_at = body_at;
  const bool has_origin = reader_.accept_word("origin");
  if (has_origin) {
    reader_.expect("=");
    first_at = reader_.peek();
    first = body(scope, axes);
    check_types(first_at, name, types, first);
  }
  const std::string tag = this->tag();
  const Ref<OperationAttributes> attributes = this->attributes();
  const auto operation = [&](const Token& at, const Expr& e) {
    return at_word(reader_, at,
                   [&] { return make_compute(name.name, tag, axes, e, location, attributes); });
  };
  const Op origin = has_origin ? operation(first_at, first) : Op();
  const Op op = operation(body_at, now);
  begin_stage(name, has_origin ? origin : op);
  if (has_origin) schedule_.set_body(current_, now);
  for (const IterVar& leaf : own().leaves) axes_.back().emplace(leaf->name(), leaf);
}

}  // namespace texloom::schedule
