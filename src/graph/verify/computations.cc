#include "graph/verify/computations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/analysis/movement.h"
#include "graph/analysis/pattern.h"
#include "ir/program.h"

namespace texloom::graph {
namespace {

bool fits(const Tensor& tensor, const ir::Tensor& own) {
  const bool is_rounded = tensor.type.is_half() && own->type == ir::kFloat32;
  if (tensor.type != own->type && !is_rounded) return false;
  if (tensor.shape.size() != own->shape.size()) return false;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::optional<std::int64_t> extent = tensor.shape[i].constant();
    const std::int64_t* number = ir::int_value(own->shape[i]);
    if (number != nullptr && extent != *number) return false;
  }
  return true;
}

// An extent of an input must be a number or a single symbol of its own.
bool has_plain_extents(const ir::Tensor& input) {
  for (const ir::Expr& extent : input->shape) {
    if (ir::int_value(extent) == nullptr && extent->kind != ir::ExprKind::Var) return false;
  }
  return true;
}

// Checks the node's claims about its computation. The claims of a fused operator are checked at its
// members.
void check_claims(const Node& node, const Computation& own, DiagnosticSink& sink) {
  if (!node.members.empty()) return;
  const auto error = [&](const char* help, const std::string& claim) {
    sink.error(node.location, Code::BadGraph, help, "the computation of the node '{}' {}",
               node.name, claim);
  };
  if (node.is_view && !is_view(own))
    error("leave out the word view, or reshape its input only", "is not a view");
  if (node.joins_along && node.joins_along != joined_axis(own))
    error("leave out the word joins, or join its inputs only",
          fmt::format("does not join its inputs along axis {}", *node.joins_along));
  if (const Pattern pattern = pattern_of(own); node.pattern && *node.pattern < pattern)
    error(
        "give the pattern of the computation, or one after it in this list: elementwise, "
        "broadcast, injective, reduction, contraction, opaque",
        fmt::format("is {}, not {}", to_string(pattern), to_string(*node.pattern)));
  for (const std::size_t input : inputs_in_indices(own)) {
    if (std::ranges::find(node.coordinates, input) == node.coordinates.end())
      error("list it among the coordinates",
            fmt::format("reads its input {} as coordinates, but the node does not list it", input));
  }
}

}  // namespace

void check_computation(const Graph& graph, const Node& node, DiagnosticSink& sink) {
  if (!node.computation) return;
  const auto does_not_fit = [&](const std::string& which) {
    sink.error(node.location, Code::BadGraph, "let it compute the node's outputs from its inputs",
               "the computation of the node '{}' does not fit {}", node.name, which);
  };
  const Computation& own = *node.computation;
  if (own.inputs.size() != node.inputs.size() || own.outputs.size() != node.outputs.size())
    return does_not_fit("its numbers of inputs and outputs");
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& tensor = graph.tensors[node.inputs[i]];
    if (!fits(tensor, own.inputs[i]) || !has_plain_extents(own.inputs[i]))
      does_not_fit("its input '" + tensor.name + "'");
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Tensor& tensor = graph.tensors[node.outputs[i]];
    if (!fits(tensor, own.outputs[i])) does_not_fit("its output '" + tensor.name + "'");
  }
  check_claims(node, own, sink);
}

}  // namespace texloom::graph
