// Directives in the text form, each a line below its operation.

#include <limits>
#include <utility>

#include "ir/text/parse_layout.h"
#include "schedule/ignored_annotation.h"
#include "schedule/text/parse.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Far more than the loops that may be nested. Limits the time to find a leaf.
constexpr size_t kMaxAxes = 4'000;

// Refuses directives that cause warnings: a text has final loops, and no user sees them.
void refuse_dropped(TextReader& reader, const Token& word, const Stage& stage,
                    const std::vector<IterVar>& axes, std::string_view now) {
  for (const Diagnostic& d : dropped_annotations(stage, axes, now, {})) {
    reader.wrong(word, d.help, "{}", d.message);
  }
}

}  // namespace

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
  } else if (reader_.accept_word("predicate")) {
    predicate(word);
  } else if (reader_.accept_word("align")) {
    align(word);
  } else if (reader_.accept_word("double_buffer")) {
    const SourceLocation location = place(word);
    at_word(reader_, word, [&] { schedule_.double_buffer(current_, location); });
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
  } else if (reader_.accept_word("tensorize")) {
    tensorize(word);
  } else if (reader_.accept_word("pragma")) {
    pragma(word);
  } else {
    return loop_kind(word);
  }
  return true;
}

bool ScheduleParser::loop_kind(const Token& word) {
  for (const LoopKind kind : {LoopKind::Serial, LoopKind::Unrolled, LoopKind::Vectorized,
                              LoopKind::Parallel, LoopKind::Thread}) {
    if (!reader_.accept_word(directive_for(kind))) continue;
    loop(word, kind);
    return true;
  }
  return false;
}

void ScheduleParser::refuse_second_place(const Token& word) {
  const bool pending = !pending_.empty() && pending_.back().stage == current_;
  if (!pending && own().attachment.kind == AttachKind::Root) return;
  reader_.wrong(word, "attach it only once", "'{}' is attached already", own().name());
}

void ScheduleParser::scope(const Token& word) {
  const Token at = reader_.peek();
  Storage storage{memory_scope(), {}};
  if (reader_.accept_word("layout")) {
    const Exprs extents =
        at_word(reader_, word, [&] { return extents_of(own().op->shape, own().name(), {}); });
    storage.layout = layout(storage.scope, open_shape(extents));
  }
  const SourceLocation location = place(word);
  at_word(reader_, at, [&] { schedule_.set_storage(current_, std::move(storage), location); });
}

void ScheduleParser::align(const Token& word) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  const IterVar axis = own_axis();
  const int64_t factor = reader_.integer("a factor", 1, kLargest);
  reader_.expect(",");
  const int64_t offset = reader_.integer("an offset", 0, kLargest);
  const SourceLocation location = place(word);
  at_word(reader_, word,
          [&] { schedule_.storage_align(current_, axis, factor, offset, location); });
}

void ScheduleParser::pragma(const Token& word) {
  const IterVar axis = own_axis();
  const NamedToken key = reader_.name("the key of a pragma");
  reader_.expect("=");
  const NamedToken value = reader_.name("a value in quotes");
  const SourceLocation location = place(word);
  at_word(reader_, word, [&] { schedule_.pragma(current_, axis, key.name, value.name, location); });
}

void ScheduleParser::pipeline(const Token& word) {
  reader_.expect_word("stages");
  reader_.expect("=");
  const int64_t stages =
      reader_.integer("a number of stages", 0, std::numeric_limits<int64_t>::max());
  const bool is_async = reader_.accept_word("async");
  const SourceLocation location = place(word);
  at_word(reader_, word, [&] { schedule_.pipeline(current_, stages, is_async, location); });
}

void ScheduleParser::predicate(const Token& word) {
  Scope scope(reader_);
  for (const bool block : {true, false}) {
    for (uint8_t dim = 0; dim < 3; ++dim) {
      scope.names.bind(reader_, {word, to_string(ThreadTag{block, dim})}, kInt32);
    }
  }
  const Expr e = scope.exprs.expr();
  const SourceLocation location = place(word);
  at_word(reader_, word, [&] { schedule_.set_store_predicate(current_, e, location); });
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
    reader_.wrong(name.token, "give it a different name", "{} is an axis already", name.token.text);
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
  refuse_dropped(reader_, word, own(), {r.parent}, "split");
  reader_.expect("->");
  const NamedToken outer = new_name();
  reader_.expect(",");
  const NamedToken inner = new_name();
  if (inner.name == outer.name) {
    reader_.wrong(inner.token, "give it a different name", "both parts are named {}",
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
  refuse_dropped(reader_, word, own(), {r.outer, r.inner}, "fused");
  reader_.expect("->");
  const NamedToken name = new_name();
  const SourceLocation location = place(word);
  const bool reduces = r.outer->kind == IterKind::Reduction || r.inner->kind == IterKind::Reduction;
  r.fused = add_axis(name, reduces ? IterKind::Reduction : IterKind::Data, {}, {}, location);
  at_word(reader_, word, [&] { schedule_.add_relation(current_, r, location); });
}

// The preceding relations implement the transform.
void ScheduleParser::transform(const Token& word) {
  if (own().transform) {
    reader_.wrong(word, "combine both into one transform", "'{}' is transformed already",
                  own().name());
  }
  AxisTransform t{{own_shape(word), {}}, {}, own().relations.size(), {}};
  const Token start = reader_.peek();
  DigitParser old_axes(reader_);
  old_axes.axes();
  if (old_axes.names().size() != t.map.shape.size()) {
    reader_.fail_at(start, Code::BadLayout,
                    fmt::format("the transform takes {} axes, but the tensor has {}",
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

// One name is one axis of virtual threads in the whole text.
IterVar ScheduleParser::thread_axis() {
  if (!reader_.accept_word("vthread")) return make_thread_axis(reader_.thread_tag());
  const NamedToken name = reader_.name("the name of virtual threads");
  IterVar& thread = virtual_threads_[name.name];
  if (!thread) thread = make_virtual_thread_axis(name.name, reader_.line_of(name.token));
  return thread;
}

void ScheduleParser::loop(const Token& word, LoopKind kind) {
  const NamedToken name = reader_.name("the name of an axis");
  const IterVar axis = this->axis(current_, name);
  if (own().attributes_of(axis) != nullptr) {
    reader_.wrong(name.token, "give each loop one directive",
                  "another directive already applies to {}", name.token.text);
  }
  IterVar thread;
  if (kind == LoopKind::Thread) thread = thread_axis();
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
