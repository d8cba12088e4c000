// Compiles a graph to a package.
//
// The decisions are made in this order:
//
// 1. Each node offers its alternatives, with costs (graph/offers.h).
// 2. The cheapest combination is chosen, conversions included (graph/choice.h).
// 3. The planner of textures may fold tensors of that combination, for at most kFoldBudget of its
//    cost (graph/folds.h). With these folds, and no others, the combination is chosen once more.
// 4. The kernels of each call site are compiled (graph/call_sites.h). Textures that may share an
//    image have origins; those that may not (arguments, constants, exact images) have none.
// 5. The temporaries are placed (runtime/plan_workspace.h). Parts of concatenations in place lie in
//    the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "graph/offers.h"
#include "graph/passes/passes.h"
#include "runtime/package/package.h"

namespace texloom::graph {

struct GraphOptions {
  StoragePreference storage = StoragePreference::Any;
  CostModel model = {};
  // Where a temporary in a buffer may begin: at multiples of so many bytes. Devices ask for at most
  // this (hal::DeviceLimits::buffer_offset_alignment).
  std::uint64_t buffer_alignment = 512;
  // Adds the form of kernels that the driver `host` interprets.
  bool interpreted = false;
  compile::CompileOptions compile = {};
};

// What was decided, for people.
struct GraphSummary {
  struct ChosenNode {
    std::string node;
    std::string alternative;  // "in place" or "copy" for a concatenation, "in place" for a view
    double cost = 0;          // nanoseconds
    std::vector<std::string> members = {};  // of a fused operator
  };
  struct Conversion {
    std::string tensor, from, to;  // storages as text
  };
  struct Fold {
    std::string tensor;
    std::int64_t fold = 1;
  };
  std::vector<GraphPassReport> passes;  // that ran before, as the caller of compile_graph() says
  std::vector<ChosenNode> nodes;
  std::vector<Conversion> conversions;
  std::vector<Fold> folds;
  double cost = 0;             // nanoseconds, of the second choice if there are folds
  double lower_bound = 0;      // no choice with these folds costs less
  std::size_t call_sites = 0;  // invocations of compiled kernels, conversions among them
  std::size_t signatures = 0;  // of these, the ones that differ
  std::int64_t launches = 0;   // of kernels in a run, and calls; a call site may have several
  std::uint64_t workspace_bytes = 0;  // of temporaries, where they share memory
  std::uint64_t temporary_bytes = 0;  // the sum over all of them
  std::uint64_t constant_bytes = 0;   // packed
};
// A line for each decision.
std::string to_string(const GraphSummary& summary);

struct CompiledGraph {
  runtime::Package package;  // of one variant; its constants' bytes are in `values`
  std::vector<std::shared_ptr<const std::vector<std::byte>>> values;
  GraphSummary summary;
};

// Fails like verify(), stored_as() and compile::compile(), and with BadGraph for a constant without
// a value, and for an operator without alternatives.
CompiledGraph compile_graph(const Graph& graph, const GraphOptions& options,
                            compile::Interruption interruption);
CompiledGraph compile_graph(const Graph& graph, const GraphOptions& options = {});

}  // namespace texloom::graph
