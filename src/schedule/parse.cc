#include "schedule/parse.h"

#include <fmt/ranges.h>

#include <limits>
#include <utility>

#include "ir/parse_layout.h"
#include "ir/scope.h"
#include "ir/visit.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// Far more than loops can stand inside one another. Looking for a leaf takes time.
constexpr size_t kMaxAxes = 4'000;
// Reducers are told from one another by their text.
constexpr uint32_t kMaxReducerSize = 1'000;

// What a directive or an operation refuses, it refuses at this word.
template <class F>
auto at_word(const TextReader& reader, const Token& word, F&& call) {
  try {
    return std::forward<F>(call)();
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    if (d.location.column > 0) throw;  // has its place in the text
    reader.fail_at(word, d.code, d.message, d.help);
  }
}

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

// -- Directives.

bool ScheduleParser::directive() {
  if (!reader_.at_name()) return false;
  const Token word = reader_.peek();
  return placement(word) || loop_directive(word);
}

bool ScheduleParser::placement(const Token& word) {
  if (reader_.accept_word("output")) {
    refuse_second_place(word);
    own().is_output = true;
  } else if (reader_.accept_word("scope")) {
    scope(word);
  } else if (reader_.accept_word("inline")) {
    refuse_second_place(word);
    const SourceLocation location = place(word);
    at_word(reader_, word, [&] { schedule_.compute_inline(current_, location); });
  } else if (reader_.accept_word("compute_at")) {
    compute_at(word);
  } else if (reader_.accept_word("pipeline")) {
    pipeline(word);
  } else {
    return false;
  }
  return true;
}

bool ScheduleParser::loop_directive(const Token& word) {
  if (reader_.accept_word("split")) {
    split(word);
  } else if (reader_.accept_word("fuse")) {
    fuse(word);
  } else if (reader_.accept_word("reorder")) {
    reorder(word);
  } else if (reader_.accept_word("transform")) {
    transform(word);
  } else if (reader_.accept_word("bind")) {
    loop(word, LoopKind::Thread);
  } else if (reader_.accept_word("vectorize")) {
    loop(word, LoopKind::Vectorized);
  } else if (reader_.accept_word("unroll")) {
    loop(word, LoopKind::Unrolled);
  } else if (reader_.accept_word("serial")) {
    loop(word, LoopKind::Serial);
  } else {
    return false;
  }
  return true;
}

void ScheduleParser::refuse_second_place(const Token& word) {
  const bool pending = !pending_.empty() && pending_.back().stage == current_;
  if (!pending && own().attachment.kind == AttachKind::Root) return;
  reader_.wrong(word, "say once where it is computed", "'{}' is attached already", own().name());
}

void ScheduleParser::scope(const Token& word) {
  const Token at = reader_.peek();
  Storage storage{memory_scope(), {}};
  if (reader_.accept_word("layout")) storage.layout = layout(storage.scope, own_shape(word));
  const SourceLocation location = place(word);
  at_word(reader_, at, [&] { schedule_.set_storage(current_, std::move(storage), location); });
}

Shape ScheduleParser::own_shape(const Token& word) {
  return at_word(reader_, word, [&] { return constant_shape(own().op->shape, own().name(), {}); });
}

void ScheduleParser::compute_at(const Token& word) {
  refuse_second_place(word);
  PendingAttachment pending{current_, reader_.name("the name of a compute"), {}, {}};
  reader_.expect(",");
  pending.axis = reader_.name("the name of an axis");
  pending.location = place(word);
  pending_.push_back(std::move(pending));
}

void ScheduleParser::pipeline(const Token& word) {
  reader_.expect_word("stages");
  reader_.expect("=");
  const int64_t stages =
      reader_.integer("a number of stages", 0, std::numeric_limits<int64_t>::max());
  const SourceLocation location = place(word);
  at_word(reader_, word, [&] { schedule_.pipeline(current_, stages, location); });
}

void ScheduleParser::attach(const PendingAttachment& pending) {
  const StageId host = stage(pending.host);
  const IterVar loop = axis(host, pending.axis);
  at_word(reader_, pending.host.token,
          [&] { schedule_.attach(pending.stage, host, loop, pending.location); });
}

NamedToken ScheduleParser::new_name() {
  NamedToken name = reader_.name("the name of a new axis");
  if (axes_.back().size() > kMaxAxes) {
    reader_.wrong(name.token, "use fewer directives", "'{}' has more than {} axes", own().name(),
                  kMaxAxes);
  }
  if (axes_.back().contains(name.name)) {
    reader_.wrong(name.token, "give it a name of its own", "{} is an axis already",
                  name.token.text);
  }
  return name;
}

IterVar ScheduleParser::add_axis(const NamedToken& name, IterKind kind, Expr min, Expr extent,
                                 const SourceLocation& location) {
  IterVar axis = make_iter_var(make_var(name.name, kInt32, location), std::move(min),
                               std::move(extent), kind, location);
  axes_.back().emplace(name.name, axis);
  return axis;
}

IterVar ScheduleParser::axis(StageId id, const NamedToken& name) const {
  const Axes& axes = axes_[static_cast<size_t>(id)];
  if (const auto found = axes.find(name.name); found != axes.end()) return found->second;
  std::string known;
  for (const auto& [spelt, axis] : axes) known += (known.empty() ? "" : ", ") + spell_name(spelt);
  reader_.wrong(name.token, known.empty() ? "it has no axes" : "it has the axes " + known,
                "'{}' has no axis {}", schedule_.stage(id).name(), name.token.text);
}

IterVar ScheduleParser::own_axis() { return axis(current_, reader_.name("the name of an axis")); }

void ScheduleParser::split(const Token& word) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  SplitRelation r;
  r.parent = own_axis();
  const bool by_factor = reader_.at_word("factor");
  if (!by_factor && !reader_.at_word("nparts")) reader_.fail_expected("'factor' or 'nparts'");
  const Token count = reader_.next();
  reader_.expect("=");
  (by_factor ? r.factor : r.nparts) = reader_.integer(count.text, 1, kLargest);
  r.exact = reader_.accept_word("exact");
  reader_.expect("->");
  const NamedToken outer = new_name();
  reader_.expect(",");
  const NamedToken inner = new_name();
  if (inner.name == outer.name) {
    reader_.wrong(inner.token, "give it a name of its own", "both parts are named {}",
                  inner.token.text);
  }
  const SourceLocation location = place(word);
  r.outer = add_axis(outer, r.parent->kind, {}, {}, location);
  r.inner = add_axis(inner, r.parent->kind, {}, {}, location);
  at_word(reader_, word, [&] { schedule_.add_relation(current_, r, location); });
}

void ScheduleParser::fuse(const Token& word) {
  if (reader_.accept("->")) {
    const NamedToken name = new_name();
    const SourceLocation location = place(word);
    const IterVar axis = add_axis(name, IterKind::Data, make_int(0), make_int(1), location);
    at_word(reader_, word, [&] { schedule_.add_unit_axis(current_, axis, location); });
    return;
  }
  FuseRelation r;
  r.outer = own_axis();
  reader_.expect(",");
  r.inner = own_axis();
  reader_.expect("->");
  const NamedToken name = new_name();
  const SourceLocation location = place(word);
  r.fused = add_axis(name, r.outer->kind, {}, {}, location);
  at_word(reader_, word, [&] { schedule_.add_relation(current_, r, location); });
}

// What stands in front of it was made for it.
void ScheduleParser::transform(const Token& word) {
  if (own().transform) {
    reader_.wrong(word, "say both in one transform", "'{}' is transformed already", own().name());
  }
  AxisTransform t{{own_shape(word), {}}, {}, own().relations.size(), {}};
  const Token start = reader_.peek();
  DigitParser old_axes(reader_);
  old_axes.axes();
  if (old_axes.names().size() != t.map.shape.size()) {
    reader_.fail_at(start, Code::BadLayout,
                    fmt::format("the transform takes {} axes, the tensor has {}",
                                old_axes.names().size(), t.map.shape.size()),
                    "name each axis of the tensor");
  }
  reader_.expect("->");
  reader_.expect("(");
  if (!reader_.accept(")")) {
    do {
      if (reader_.accept("|")) {
        t.separators.push_back(t.map.axes.size());
      } else {
        t.map.axes.push_back(with_extents(old_axes.digits(), t.map.shape));
      }
    } while (reader_.accept(","));
    if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
  }
  if (const auto problem = find_problem(t.map, old_axes.names())) {
    const Token& at = problem->axis ? old_axes.token_of(*problem->axis) : start;
    reader_.fail_at(at, Code::BadLayout, problem->text, problem->help);
  }
  t.location = place(word);
  own().transform = std::move(t);
}

void ScheduleParser::reorder(const Token& word) {
  std::vector<IterVar> axes;
  do {
    axes.push_back(own_axis());
  } while (reader_.accept(","));
  at_word(reader_, word, [&] { schedule_.reorder(current_, axes, reader_.line_of(word)); });
}

void ScheduleParser::loop(const Token& word, LoopKind kind) {
  const NamedToken name = reader_.name("the name of an axis");
  const IterVar axis = this->axis(current_, name);
  if (own().attributes_of(axis) != nullptr) {
    reader_.wrong(name.token, "say once what the loop is", "another directive speaks of {} already",
                  name.token.text);
  }
  IterVar thread;
  if (kind == LoopKind::Thread) thread = make_thread_axis(reader_.thread_tag());
  const SourceLocation location = place(word);
  at_word(reader_, word, [&] {
    if (thread) {
      schedule_.bind(current_, axis, thread, location);
    } else {
      schedule_.annotate(current_, axis, kind, location);
    }
  });
}

}  // namespace texloom::schedule
