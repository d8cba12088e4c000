#include "ir/verify/verify_text.h"

#include <fmt/format.h>

#include "ir/buffer.h"
#include "ir/verify/verify.h"
#include "ir/verify/verify_stages.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

// Larger expressions are shown as their kind, since shared parts make their texts far larger than
// their graphs.
constexpr int kMaxTextNodes = 100;

bool is_small(const Expr& e, int& budget) {
  if (!e || --budget < 0) return false;
  bool fits = true;
  for_each_child(e, [&](const Expr& child) { fits = fits && is_small(child, budget); });
  return fits;
}

}  // namespace

std::string text_of(const Expr& e) {
  int budget = kMaxTextNodes;
  if (!e) return "null";
  return is_small(e, budget) ? to_string(e) : std::string(name_of(e->kind));
}

std::string text_of(const Stmt& s) {
  return visit(
      s,
      [](const Store& n) {
        std::string indices;
        for (const Expr& e : n.indices) indices += (indices.empty() ? "" : ", ") + text_of(e);
        return fmt::format("{}[{}] = {}", n.buffer->name, indices, text_of(n.value));
      },
      [](const TextureStore& n) {
        return fmt::format("texture2d.store({}, x={}, y={}, {})", n.texture->name, text_of(n.x),
                           text_of(n.y), text_of(n.value));
      },
      [](const Evaluate& n) { return "evaluate " + text_of(n.call); },
      [](const Prefetch& n) { return "prefetch " + n.buffer->name; },
      [](const For& n) { return fmt::format("loop {} < {}", text_of(n.var), text_of(n.extent)); },
      [](const If& n) { return "if " + text_of(n.condition); },
      [](const While& n) { return "while " + text_of(n.condition); },
      [](const Let& n) { return fmt::format("let {} = {}", text_of(n.var), text_of(n.value)); },
      [](const Shuffle& n) {
        return fmt::format("shuffle {} = {} by {}", text_of(n.var), text_of(n.value),
                           text_of(n.offset));
      },
      [](const LastBlock& n) {
        return fmt::format("last_block {}[{}]", n.counters->name, text_of(n.index));
      },
      [](const Nest& n) { return "nest " + n.result->name; },
      [](const Pipelined& n) { return "pipelined " + n.buffer->name; },
      [](const Allocate& n) { return "alloca " + n.buffer->name; },
      [](const Free& n) { return "free " + n.buffer->name; },
      [](const FragmentStep& n) { return fmt::format("fragment.{}", to_string(n.op)); },
      [](const Launch& n) { return fmt::format("launch {}", n.kernel); },
      [&](const auto&) { return std::string(name_of(s->kind)); });
}

std::string text_of(const Buffer& buffer) { return buffer->name; }

std::string_view to_string(Rule rule) {
  switch (rule) {
    case Rule::Nodes:
      return "nodes";
    case Rule::Types:
      return "types";
    case Rule::Buffers:
      return "buffers";
    case Rule::Definitions:
      return "definitions";
    case Rule::Visibility:
      return "visibility";
    case Rule::Textures:
      return "textures";
    case Rule::Access:
      return "access";
    case Rule::Axes:
      return "axes";
    case Rule::Barriers:
      return "barriers";
    case Rule::Bounds:
      return "bounds";
    case Rule::Limits:
      return "limits";
    case Rule::Fragments:
      return "fragments";
    case Rule::Padding:
      return "padding";
    case Rule::Plan:
      return "plan";
  }
  TL_UNREACHABLE();
}

}  // namespace texloom::ir
