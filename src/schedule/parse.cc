#include "schedule/parse.h"

#include <fmt/ranges.h>

#include <utility>

#include "ir/parse_layout.h"
#include "ir/scope.h"
#include "ir/visit.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// Reducers are told from one another by their text.
constexpr uint32_t kMaxReducerSize = 1'000;

}  // namespace

// -- The head.

void ScheduleParser::head() {
  for (;;) {
    if (reader_.accept_word("symbol")) {
      symbol();
    } else if (reader_.accept_word("reducer")) {
      reducer();
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
  if (!type.is_integer() || !type.is_scalar()) {
    reader_.wrong(at, "use an integer type", "the symbol {} is {}", name.token.text,
                  to_string(type));
  }
  head_.names.bind(reader_, name, type);
}

void ScheduleParser::reducer() {
  const NamedToken name = reader_.name("the name of a reducer");
  reader_.expect("(");
  const NamedToken lhs = reader_.name("a variable");
  reader_.expect(",");
  const NamedToken rhs = reader_.name("a variable");
  reader_.expect(")");
  reader_.expect(":");
  const Token at = reader_.peek();
  const Type type = reader_.type();
  if (!type.is_scalar()) reader_.wrong(at, "use a scalar type", "the reducer combines vectors");
  if (lhs.name == rhs.name) {
    reader_.wrong(rhs.token, "give the two values names of their own", "both are named {}",
                  rhs.token.text);
  }
  // It speaks of nothing but its two values, its identity of nothing at all.
  Scope values(reader_), nothing(reader_);
  Reducer r;
  r.name = name.name;
  r.lhs = values.names.bind(reader_, lhs, type);
  r.rhs = values.names.bind(reader_, rhs, type);
  const auto value = [&](Scope& scope, std::string_view what) {
    reader_.expect("=");
    const Token first = reader_.peek();
    Expr e = scope.exprs.expr();
    if (e->size > kMaxReducerSize) {
      reader_.wrong(first, "combine two values only", "the {} has more than {} parts", what,
                    kMaxReducerSize);
    }
    if (e->type == type) return e;
    reader_.wrong(first, "convert it, as in float32(x)", "the {} is {}, not {}", what,
                  to_string(e->type), to_string(type));
  };
  r.result = value(values, "result");
  reader_.expect(",");
  reader_.expect_word("identity");
  r.identity = value(nothing, "identity");
  head_.names.add_reducer(reader_, name, r);
}

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
    } else if (reader_.peek().kind == TokenKind::End) {
      break;
    } else if (current_ < 0) {
      reader_.fail_expected("'placeholder' or 'compute'");
    } else if (!directive()) {
      reader_.fail_expected("a directive, 'placeholder' or 'compute'");
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

void ScheduleParser::begin_stage(const NamedToken& name, const Op& origin) {
  current_ = schedule_.append_stage(origin);
  head_.names.add_tensor(reader_, name, output_of(origin));
  stages_.emplace(name.name, current_);
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
  Expr e = scope.exprs.expr();
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
        reader_.wrong(at, "give the reduction an axis of its own", "{} is an axis already",
                      spell_name(axis->name()));
      }
    }
  }
  return e;
}

void ScheduleParser::compute() {
  const Token word = reader_.next();
  const NamedToken name = reader_.name("the name of a compute");
  Scope scope(reader_, &head_.names);
  const std::vector<IterVar> axes = data_axes(scope);
  reader_.expect(":");
  const Token type_at = reader_.peek();
  const Type type = reader_.type();
  reader_.expect("=");
  const Token body_at = reader_.peek();
  const Expr now = body(scope, axes);
  if (now->type != type) {
    reader_.wrong(type_at, "convert the expression, as in float32(x)",
                  "{} is declared {}, its expression is {}", name.token.text, to_string(type),
                  to_string(now->type));
  }
  const SourceLocation location = place(word);
  Expr first = now;
  Token first_at = body_at;
  const bool has_origin = reader_.accept_word("origin");
  if (has_origin) {
    reader_.expect("=");
    first_at = reader_.peek();
    first = body(scope, axes);
    if (first->type != type) {
      reader_.wrong(first_at, "the two expressions have one type", "{} is {}, its origin {}",
                    name.token.text, to_string(type), to_string(first->type));
    }
  }
  const std::string tag = reader_.accept_word("tag") ? reader_.name("a tag").name : "";
  const auto operation = [&](const Token& at, const Expr& e) {
    return at_word(reader_, at, [&] { return make_compute(name.name, tag, axes, e, location); });
  };
  const Op op = operation(body_at, now);
  begin_stage(name, has_origin ? operation(first_at, first) : op);
  if (has_origin) schedule_.set_body(current_, now);
  for (const IterVar& leaf : own().leaves) axes_.back().emplace(leaf->name(), leaf);
}

}  // namespace texloom::schedule
