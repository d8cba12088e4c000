#include "graph/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/passes/divide_moments.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/fold_scales.h"
#include "graph/passes/fuse.h"
#include "graph/passes/fuse_attention.h"
#include "graph/passes/join_in_place.h"
#include "graph/passes/join_kernels.h"
#include "graph/passes/join_products.h"
#include "graph/passes/merge_equal_nodes.h"
#include "graph/passes/moves/compose_moves.h"
#include "graph/passes/moves/sink_moves.h"
#include "graph/passes/multiply_halves.h"
#include "graph/passes/store_halves.h"
#include "graph/verify/verify.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

// The order matters: an unread node would keep its inputs from being fused, and so would a second
// reader that computes equal values.
constexpr std::array kPasses = {
    GraphPass{"remove_dead_nodes", remove_dead_nodes,
              "remove nodes whose outputs nothing reads, and tensors that nothing uses"},
    GraphPass{"sink_moves", sink_moves,
              "compute element-wise operators before views and permutations",
              /*is_default=*/true, /*suits_textures=*/false},
    GraphPass{"join_products", join_products,
              "join products of one matrix by several constants, for attention"},
    GraphPass{"fuse_attention", fuse_attention,
              "put the products and the softmax of attention into one kernel"},
    GraphPass{"fold_scales", fold_scales,
              "fold factors and shifts of channels into the weights of convolutions and products"},
    GraphPass{"fold_constants", fold_constants, "compute operators of constants"},
    GraphPass{"merge_equal_nodes", merge_equal_nodes,
              "compute once what several operators compute of the same inputs"},
    GraphPass{"compose_moves", compose_moves,
              "put chains of moves into one kernel for each result"},
    GraphPass{"divide_moments", divide_moments,
              "compute means and variances of large groups of channels from those of parts",
              /*is_default=*/true, /*suits_textures=*/false},
    GraphPass{"store_halves", store_halves,
              "store float32 tensors as float16, with precision=\"fp16\"", false},
    GraphPass{"multiply_halves", multiply_halves,
              "multiply float16 in attention whose operands are stored as such", false},
    GraphPass{"join_in_place", join_in_place,
              "write the parts of concatenations in the memory of the whole"},
    GraphPass{"fuse", fuse, "put operators into the kernels of the operators that read them"},
    GraphPass{"join_kernels", join_kernels,
              "join convolutions, scales and products with a contraction that is their only reader",
              /*is_default=*/true, /*suits_textures=*/false},
};

std::string known_names() {
  std::string names;
  for (const GraphPass& pass : kPasses)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", pass.name);
  return names;
}

}  // namespace

std::span<const GraphPass> graph_passes() { return kPasses; }

const GraphPass* find_graph_pass(std::string_view name) {
  const auto* found = std::find_if(kPasses.begin(), kPasses.end(),
                                   [&](const GraphPass& pass) { return pass.name == name; });
  return found == kPasses.end() ? nullptr : found;
}

std::vector<GraphPassReport> run_graph_passes(Graph& graph, std::span<const std::string> names,
                                              const SourceLocation& location,
                                              const KernelLibrary& kernels) {
  std::vector<GraphPassReport> reports;
  for (const std::string& name : names) {
    const GraphPass* pass = find_graph_pass(name);
    if (pass == nullptr)
      fail(location, Code::UnknownName, fmt::format("the passes are {}", known_names()),
           "there is no pass '{}' over graphs", name);
    const std::size_t before = graph.nodes.size();
    if (const auto* run = std::get_if<GraphPass::Run>(&pass->run)) {
      (*run)(graph);
    } else {
      std::get<GraphPass::RunForTarget>(pass->run)(graph, graph.target, kernels);
    }
    verify(graph);
    reports.push_back({name, before, graph.nodes.size()});
  }
  return reports;
}

}  // namespace texloom::graph
