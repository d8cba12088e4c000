// Tensor intrinsics at the head of a schedule's text.

#include <algorithm>

#include "ir/text/lexer.h"
#include "ir/visit.h"
#include "schedule/text/print.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

void SchedulePrinter::note_intrinsics(const Stage& stage) {
  for (const IterVar& leaf : stage.leaves) {
    const AxisAttributes* attributes = stage.attributes_of(leaf);
    if (attributes == nullptr || !attributes->intrinsic) continue;
    const TensorIntrinsic& intrinsic = attributes->intrinsic;
    const bool known = std::any_of(intrinsics_.begin(), intrinsics_.end(),
                                   [&](const TensorIntrinsic& i) { return i.same_as(intrinsic); });
    if (known) continue;
    intrinsics_.push_back(intrinsic);
    intrinsic_names_.name(intrinsic.get(), intrinsic->name);
    note_reducer(*intrinsic->computation);
  }
}

std::string SchedulePrinter::intrinsic_name(const TensorIntrinsic& intrinsic) {
  return intrinsic_names_.name(intrinsic.get(), intrinsic->name);
}

// "a: global float32[4, 8] strides=(s, 1) offset=o multiple=4 in local"
std::string SchedulePrinter::view(const TensorView& view, PrintNames& names) const {
  std::string text = to_string(view.buffer, names, options_);
  if (!view.strides.empty()) {
    std::string strides;
    for (const Expr& e : view.strides) {
      strides += (strides.empty() ? "" : ", ") + to_string(e, names, options_);
    }
    text += fmt::format(" strides=({})", strides);
  }
  if (view.offset) text += " offset=" + to_string(view.offset, names, options_);
  if (view.offset_factor != 1) text += fmt::format(" multiple={}", view.offset_factor);
  if (view.scope) text += " in " + to_string(*view.scope);
  return text;
}

std::string SchedulePrinter::intrinsic_text(const TensorIntrinsic& intrinsic) {
  const Operation& op = *intrinsic->computation;
  PrintNames names = symbol_names_;
  std::string text =
      fmt::format("  intrinsic {}{}\n", intrinsic_name(intrinsic), at(intrinsic->location));
  for (const Expr& s : intrinsic->scalars) {
    text += fmt::format("    scalar {}: {}\n", to_string(s, names, options_), to_string(s->type));
  }
  for (const TensorView& v : intrinsic->inputs) {
    text += fmt::format("    reads {}\n", view(v, names));
  }
  for (const TensorView& v : intrinsic->outputs) {
    text += fmt::format("    writes {}\n", view(v, names));
  }
  PrintNames axes = names;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Buffer& b = intrinsic->inputs[i].buffer;
    axes.alias(op.inputs[i]->producer.get(), axes.name(b.get(), b->name));
  }
  name_reducer(op.body, axes);
  std::string list;
  for (const IterVar& axis : op.axes) {
    list += (list.empty() ? "" : ", ") + to_string(axis, axes, options_);
  }
  text += fmt::format("    computes ({}) = {}{}\n", list, to_string(op.body, axes, options_),
                      at(op.location));
  const auto& [body, reset, update] = intrinsic->statements;
  const auto statement = [&](std::string_view word, const Stmt& s) {
    if (s) text += fmt::format("  {} {{\n{}  }}\n", word, to_string(s, 2, names, options_));
  };
  statement("body", body);
  statement("reset", reset);
  statement("update", update);
  return text;
}

}  // namespace texloom::schedule
