#include "schedule/text/print.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ir/reducer.h"
#include "ir/text/lexer.h"
#include "ir/visit.h"
#include "schedule/derived_axes.h"
#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// "x", or "tuple(x, y)" for several.
std::string one_or_tuple(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts.front();
  return fmt::format("tuple({})", fmt::join(texts, ", "));
}

std::string types_text(const std::vector<Type>& types) {
  std::vector<std::string> texts;
  for (const Type type : types) texts.push_back(ir::to_string(type));
  return one_or_tuple(texts);
}

}  // namespace

SchedulePrinter::SchedulePrinter(const Schedule& schedule, PrintOptions options, bool attributes)
    : schedule_(schedule), options_(options), attributes_(attributes) {
  const size_t count = schedule.order().size();
  names_.resize(count);
  axis_names_.resize(count);
  PrintNames tensors;
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    names_[static_cast<size_t>(id)] = tensors.name(&stage, stage.name());
    for (const auto* axes : {&stage.op->axes, &stage.op->reduce_axes, &stage.origin->reduce_axes}) {
      for (const IterVar& axis : *axes) axis_vars_.insert(axis->var.get());
    }
  }
  for (const StageId id : schedule.order()) {
    for (const Op& op : {schedule.stage(id).op, schedule.stage(id).origin}) {
      note_operation(*op);
      note_reducer(*op);
    }
  }
  for (const StageId id : schedule.order()) note_intrinsics(schedule.stage(id));
  for (const StageId id : schedule.order()) {
    axis_names_[static_cast<size_t>(id)] = axis_names(schedule.stage(id));
  }
}

void SchedulePrinter::note_operation(const Operation& op) {
  note_symbols(op.shape);
  for (const IterVar& axis : op.reduce_axes) note_symbols({axis->min, axis->extent});
  note_symbols(scalars_in(op));
}

void SchedulePrinter::note_reducer(const Operation& op) {
  const auto* reduce = op.is_compute() ? as<Reduce>(op.body) : nullptr;
  if (reduce == nullptr) return;
  const auto [known, added] = reducer_names_.try_emplace(key_of(reduce->reducer));
  if (!added) return;
  known->second = reducer_spellings_.name(&known->second, reduce->reducer.name);
  reducers_.push_back(known->first);
}

// Makes a reduction that note_reducer() has seen refer to its reducer by the name at the head.
void SchedulePrinter::name_reducer(const Expr& body, PrintNames& names) const {
  const auto* n = as<Reduce>(body);
  if (n != nullptr)
    names.alias(n->reducer.lhs.front().get(), reducer_names_.at(key_of(n->reducer)));
}

void SchedulePrinter::note_symbols(const Exprs& extents) {
  for (const Expr& extent : extents) {
    walk(extent, [&](const Var& v) {
      const auto known = [&](const Expr& symbol) { return symbol.get() == &v; };
      if (axis_vars_.contains(&v) || std::any_of(symbols_.begin(), symbols_.end(), known)) return;
      symbols_.emplace_back(&v);
      symbol_names_.name(&v, v.name);
    });
  }
}

SchedulePrinter::ReducerKey SchedulePrinter::key_of(const Reducer& r) {
  PrintNames names;
  const auto text = [&](const Exprs& values) {
    std::vector<std::string> texts;
    for (const Expr& e : values) texts.push_back(to_string(e, names, {}));
    return one_or_tuple(texts);
  };
  std::vector<Type> types;
  for (const Expr& var : r.lhs) types.push_back(var->type);
  const std::string lhs = text(r.lhs), rhs = text(r.rhs);
  // Names the parameters independently of the stage, so that stages share one reducer.
  std::string parameters;
  for (const Expr& var : parameters_of(r)) {
    parameters += fmt::format(", {}: {}", names.name(var.get(), "axis"), ir::to_string(var->type));
  }
  const std::string results = text(r.results);
  return {r.name, fmt::format("({}, {}{}): {} = {}, identity={}", lhs, rhs, parameters,
                              types_text(types), results, text(r.identities))};
}

// Names all axes of the stage, in the order of its text, and what its expressions read. An axis may
// share its name with a tensor or a reducer: these never occur where a variable may.
PrintNames SchedulePrinter::axis_names(const Stage& stage) const {
  PrintNames names = symbol_names_;
  if (stage.op->is_scan()) names.name(stage.op->scan_axis->var.get(), stage.op->scan_axis->name());
  for (const auto* axes : {&stage.op->axes, &stage.op->reduce_axes, &stage.origin->reduce_axes}) {
    for (const IterVar& axis : *axes) names.name(axis->var.get(), axis->name());
  }
  for (const IterVar& axis : unit_axes(stage)) names.name(axis->var.get(), axis->name());
  for (const Relation& relation : stage.relations) {
    for (const IterVar& axis : results_of(relation)) names.name(axis->var.get(), axis->name());
  }
  for (const Op& op : {stage.op, stage.origin}) {
    if (!op->is_compute()) continue;
    walk(op->body, [&](const TensorRead& n) {
      names.alias(n.tensor->producer.get(), name(schedule_.producer(n.tensor)));
    });
  }
  return names;
}

std::string SchedulePrinter::head() {
  std::string text;
  PrintNames names = symbol_names_;
  for (const Expr& symbol : symbols_) {
    text +=
        fmt::format("  symbol {}: {}\n", to_string(symbol, names, {}), ir::to_string(symbol->type));
  }
  for (const ReducerKey& key : reducers_) {
    text += fmt::format("  reducer {}{}\n", reducer_names_.at(key), key.second);
  }
  for (const TensorIntrinsic& intrinsic : intrinsics_) text += intrinsic_text(intrinsic);
  return text;
}

std::string SchedulePrinter::operations() {
  std::string text;
  bool after_placeholder = false;
  for (const StageId id : schedule_.order()) {
    const Stage& stage = schedule_.stage(id);
    const bool placeholder = stage.op->is_placeholder();
    if (!placeholder || !after_placeholder) text += "\n";
    text += header(stage) + directives(stage);
    after_placeholder = placeholder;
  }
  return text;
}

std::string SchedulePrinter::type_and_shape(Type type, const Exprs& shape) {
  std::string extents;
  for (const Expr& extent : shape) {
    extents += (extents.empty() ? "" : ", ") + to_string(extent, symbol_names_, {});
  }
  return fmt::format("{}[{}]", ir::to_string(type), extents);
}

std::string SchedulePrinter::body(const Stage& stage, const Expr& e) {
  PrintNames names = axis_names_[static_cast<size_t>(stage.id)];
  name_reducer(e, names);
  return to_string(e, names, options_);
}

namespace {

// The user's expression over the axes that the stage has now.
Expr origin_body(const Stage& stage) {
  Substitution axes;
  for (size_t i = 0; i < stage.op->axes.size(); ++i) {
    axes.emplace(stage.origin->axes[i]->var, stage.op->axes[i]->var);
  }
  return substitute(stage.origin->body, axes);
}

// Whether the stage is computed where scans compute their steps by default.
bool in_its_step(const Schedule& schedule, const Stage& stage) {
  const Attachment& at = stage.attachment;
  return at.stage == stage.scan && at.axis.same_as(schedule.stage(stage.scan).op->scan_axis);
}

}  // namespace

std::string SchedulePrinter::header(const Stage& stage) {
  const Operation& op = *stage.op;
  if (op.is_placeholder()) {
    return fmt::format("placeholder {}: {}{}\n", name(stage.id),
                       type_and_shape(op.types.front(), op.shape), at(op.location));
  }
  if (op.is_extern()) return extern_text(stage);
  if (op.is_scan()) return scan_text(stage);
  std::string axes;
  for (const IterVar& axis : op.axes) {
    axes += (axes.empty() ? "" : ", ") +
            to_string(axis, axis_names_[static_cast<size_t>(stage.id)], options_);
  }
  return fmt::format("compute {}({}): {} = {}{}\n", name(stage.id), axes, types_text(op.types),
                     body(stage, op.body), at(op.location));
}

std::string SchedulePrinter::input(const Tensor& tensor) const {
  return name(schedule_.producer(tensor)) + output_text(tensor->output);
}

std::string SchedulePrinter::extern_text(const Stage& stage) {
  const Operation& op = *stage.op;
  PrintNames names = symbol_names_;
  std::string text = fmt::format("extern {}{}\n", name(stage.id), at(op.location));
  for (size_t i = 0; i < op.reads.size(); ++i) {
    const Tensor &now = op.reads[i].tensor, &first = stage.origin->reads[i].tensor;
    text += fmt::format("  reads {} = {}{}\n", to_string(op.reads[i].buffer, names, options_),
                        input(now), now->same_tensor(*first) ? "" : " origin = " + input(first));
  }
  for (const Buffer& b : op.writes) {
    text += fmt::format("  writes {}\n", to_string(b, names, options_));
  }
  return text + "{\n" + to_string(op.statement, 1, names, options_) + "}\n";
}

std::string SchedulePrinter::scan_text(const Stage& stage) const {
  const Operation& op = *stage.op;
  std::string text = fmt::format("scan {}({}){}\n", name(stage.id),
                                 spell_name(op.scan_axis->name()), at(op.location));
  for (const ScanState& s : op.states) {
    text += fmt::format("  state {} init={} update={}\n", input(s.state), input(s.init),
                        input(s.update));
  }
  return text;
}

std::string SchedulePrinter::axis_name(StageId id, const IterVar& axis) {
  return axis_names_[static_cast<size_t>(id)].name(axis->var.get(), axis->name());
}

std::string SchedulePrinter::virtual_thread(const IterVar& thread) {
  return virtual_names_.name(thread.get(), thread->name());
}

std::string SchedulePrinter::axis_list(const Stage& stage, const std::vector<IterVar>& axes) {
  std::string text;
  for (const IterVar& axis : axes) text += (text.empty() ? "" : ", ") + axis_name(stage.id, axis);
  return text;
}

std::string SchedulePrinter::directives(const Stage& stage) {
  std::string text;
  const auto line = [&](const std::string& words, const std::string& place = {}) {
    text += "  " + words + place + "\n";
  };
  if (stage.op->is_compute() && !stage.origin.same_as(stage.op))
    line("origin = " + body(stage, origin_body(stage)));
  if (!stage.op->tag.empty()) line("tag " + spell_name(stage.op->tag));
  if (attributes_ && !attributes_text(*stage.op).empty())
    line("attributes " + quote(attributes_text(*stage.op)));
  if (stage.is_output) line("output");
  if (stage.scope) {
    const std::string layout = stage.layout ? " layout=" + ir::to_string(*stage.layout) : "";
    line("scope " + spell_name(ir::to_string(*stage.scope)) + layout, at(stage.scope_location));
  }
  const Attachment& attached = stage.attachment;
  if (attached.kind == AttachKind::Inline) line("inline", at(attached.location));
  if (attached.kind == AttachKind::At && !in_its_step(schedule_, stage)) {
    line(fmt::format("compute_at {}, {}", name(attached.stage),
                     axis_name(attached.stage, attached.axis)),
         at(attached.location));
  }
  for (const Alignment& a : stage.alignments) {
    line(fmt::format("align {} {}, {}", axis_name(stage.id, a.axis), a.factor, a.offset),
         at(a.location));
  }
  // Directives refuse double_buffer and pipeline for outputs. A stage that became an output later,
  // as an argument, may still have them; they are not printed.
  const bool filled_ahead = !stage.is_output;
  if (stage.double_buffered && filled_ahead)
    line("double_buffer", at(stage.double_buffer_location));
  if (stage.predicate) {
    line("predicate " + to_string(stage.predicate, axis_names_[static_cast<size_t>(stage.id)], {}),
         at(stage.predicate_location));
  }
  if (stage.pipeline && filled_ahead) {
    line(fmt::format("pipeline stages={}{}", stage.pipeline->stages,
                     stage.pipeline->is_async ? " async" : ""),
         at(stage.pipeline->location));
  }
  for (const IterVar& axis : unit_axes(stage)) {
    line("fuse -> " + axis_name(stage.id, axis), at(axis->location));
  }
  return text + relations(stage) + leaves(stage);
}

// A transform follows the relations that implement it.
std::string SchedulePrinter::relations(const Stage& stage) {
  std::string text;
  const auto transform = [&](size_t relations) {
    const std::optional<AxisTransform>& t = stage.transform;
    if (!t || t->relations != relations) return;
    text += fmt::format("  transform {}{}\n", to_string(t->map, t->separators), at(t->location));
  };
  TL_CHECK(!stage.transform || stage.transform->relations <= stage.relations.size());
  transform(0);
  for (size_t i = 0; i < stage.relations.size(); ++i) {
    text += relation(stage, stage.relations[i]);
    transform(i + 1);
  }
  return text;
}

std::string SchedulePrinter::relation(const Stage& stage, const Relation& relation) {
  const std::vector<IterVar> results = results_of(relation);
  const std::string made = axis_list(stage, results) + at(results.front()->location) + "\n";
  if (const auto* fuse = std::get_if<FuseRelation>(&relation)) {
    return fmt::format("  fuse {} -> {}", axis_list(stage, {fuse->outer, fuse->inner}), made);
  }
  const auto& split = std::get<SplitRelation>(relation);
  const bool by_factor = split.factor > 0;
  return fmt::format("  split {} {}={}{} -> {}", axis_name(stage.id, split.parent),
                     by_factor ? "factor" : "nparts", by_factor ? split.factor : split.nparts,
                     split.exact ? " exact" : "", made);
}

// The order of the loops if the relations do not determine it, and the kind of each loop.
std::string SchedulePrinter::leaves(const Stage& stage) {
  std::string text;
  const auto same = [](const IterVar& a, const IterVar& b) { return a.same_as(b); };
  const std::vector<IterVar> natural = leaves_in_order_of_relations(stage);
  if (!std::equal(natural.begin(), natural.end(), stage.leaves.begin(), stage.leaves.end(), same)) {
    text += fmt::format("  reorder {}\n", axis_list(stage, stage.leaves));
  }
  for (const IterVar& leaf : stage.leaves) {
    const AxisAttributes* attributes = stage.attributes_of(leaf);
    if (attributes == nullptr) continue;
    const std::string axis = axis_name(stage.id, leaf), place = at(attributes->location);
    switch (attributes->loop) {
      case LoopKind::Serial:
      case LoopKind::Parallel:
      case LoopKind::Unrolled:
      case LoopKind::Vectorized:
        text += attributes->intrinsic
                    ? fmt::format("  tensorize {} {}{}\n", axis,
                                  intrinsic_name(attributes->intrinsic), place)
                    : fmt::format("  {} {}{}\n", directive_for(attributes->loop), axis, place);
        break;
      case LoopKind::Thread:
        text += fmt::format("  bind {} {}{}\n", axis, attributes->thread->name(), place);
        break;
      case LoopKind::Virtual:
        text += fmt::format("  bind {} vthread {}{}\n", axis, virtual_thread(attributes->thread),
                            place);
        break;
    }
  }
  for (const Pragma& p : stage.pragmas) {
    text += fmt::format("  pragma {} {}={}{}\n", axis_name(stage.id, p.axis), spell_name(p.key),
                        quote(p.value), at(p.location));
  }
  return text;
}

std::string to_string(const Schedule& schedule) {
  const std::string text = SchedulePrinter(schedule, {}).operations();
  return text.substr(std::min<size_t>(1, text.size()));
}

}  // namespace texloom::schedule
