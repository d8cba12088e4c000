// Compiles a graph to a package.
//
// The decisions are made in this order:
//
// 1. Each node offers its alternatives, with costs (graph/scopes/offers.h).
// 2. The cheapest combination is chosen, conversions included (graph/scopes/choice.h). Images that
//    are not worth their memory are given up (graph/scopes/images.h), and so are textures that save
//    too little (graph/scopes/decide.h).
// 3. The planner of textures may fold tensors of that combination, for at most kFoldBudget of its
//    cost (graph/scopes/folds.h). With these folds, and no others, the combination is chosen once
//    more.
// 4. The kernels of each call site are compiled, side by side on all processors
//    (graph/call_sites.h). Textures that may share an image have origins; other textures have none
//    (graph/image_use.h).
// 5. The temporaries are placed (runtime/plan/workspace.h). The parts of an in-place concatenation
//    lie in its result. If the graph has symbols, temporaries are placed at each run, for its
//    sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "graph/passes/passes.h"
#include "graph/scopes/choice_problem.h"
#include "runtime/package/package.h"

namespace texloom::graph {

struct GraphOptions {
  StoragePreference storage = StoragePreference::Any;
  CostModel model = {};
  // Costs that were measured, or that follow from measurements or from a device's profile. If
  // `costs` is empty, `model` gives the cost of each alternative that declares none.
  CostSource costs = {};
  ChoiceRules rules = {};
  // Sites that need not be compiled again; compile_graph() adds the sites that it compiles. Null:
  // all sites are compiled.
  std::shared_ptr<CompiledSites> compiled = nullptr;
  std::uint64_t buffer_alignment = kBufferAlignment;
  // Whether the planner of textures may fold tensors. False for measurements, because the costs of
  // call sites are costs with unfolded tensors.
  bool may_fold = true;
  // Whether to add the form of kernels that the driver `host` interprets.
  bool interpreted = false;
  compile::CompileOptions compile = {};
};

// The decisions of a compilation, for people.
struct GraphSummary {
  struct ChosenNode {
    std::string node;
    std::string alternative;  // "in place" or "copy" for a concatenation, "in place" for a view
    double cost = 0;          // nanoseconds
    std::vector<std::string> members = {};  // the members of a fused operator
  };
  struct Conversion {
    std::string tensor, from, to;  // storages as text
  };
  // The parts of a run in order, each with its number of kernel launches, or 0 if it depends on
  // symbols. A cost has a key only if the source of costs gave it for this call site, without
  // folds.
  struct Run {
    std::string what;  // the node; "convert x" for a conversion
    SiteCost cost;
    std::int64_t launches = 0;
    std::string signature = {};  // of the call site (graph/call_sites.h); "" for a custom operator
    std::vector<lower::KernelWork> work = {};  // of its kernels, as in SiteFacts
  };
  struct Fold {
    std::string tensor;
    std::int64_t fold = 1;
  };
  std::vector<GraphPassReport> passes;  // earlier passes; set by the caller of compile_graph()
  std::vector<ChosenNode> nodes;
  std::vector<Conversion> conversions;
  std::vector<Fold> folds;
  std::vector<std::string> in_buffers;  // tensors for which an image is not worth its memory
  std::optional<double> small_gain;     // the gain of unused textures (graph/scopes/decide.h)
  std::vector<Run> runs;
  double cost = 0;                 // nanoseconds; with folds, the cost of the second choice
  double lower_bound = 0;          // a lower bound of every choice with these folds
  bool costs_are_default = false;  // the default model gave all costs, and no source gave any
  std::size_t call_sites = 0;      // invocations of compiled kernels, conversions among them
  std::size_t signatures = 0;      // different signatures of these call sites
  // Launches and calls in a run; a call site may have several. 0 if the number depends on symbols.
  std::int64_t launches = 0;
  // If the graph has symbols, tensors whose sizes depend on symbols do not count in these bytes.
  std::uint64_t workspace_bytes = 0;  // the bytes of temporaries that share memory
  std::uint64_t least_bytes = 0;      // a lower bound of every plan of these temporaries
  std::uint64_t temporary_bytes = 0;  // the sum over all temporaries
  std::uint64_t constant_bytes = 0;   // packed
};
// A line for each decision.
std::string to_string(const GraphSummary& summary);

// The choice that was made, and the problem with all options.
struct ScopeChoice {
  ChoiceProblem problem;
  Choice choice;
  std::vector<std::string> tensors;                // a name for each tensor of the problem
  std::vector<std::vector<std::string>> storages;  // indexed by tensor, then by storage
  std::vector<std::string> nodes;                  // a name for each input, then for each node
  std::vector<std::vector<std::string>> options;   // indexed by node, then by option
  std::vector<std::vector<std::string>> keys;      // of the costs of options (site_costs.h)
};

struct CompiledGraph {
  runtime::Package package;  // has one variant; the bytes of constants are in `values`
  std::vector<std::shared_ptr<const std::vector<std::byte>>> values;
  std::vector<std::string>
      objects;  // the object files of native code (compile/native/static_kernels.h)
  GraphSummary summary;
  ScopeChoice scopes;
};

// Fails like verify(), stored_as() and compile::compile(), and with BadGraph for a constant without
// a value, and for an operator without alternatives. NoStorageChoice: no choice is within the
// limits. GraphTooLarge: too many launches, or memory that cannot be planned.
CompiledGraph compile_graph(const Graph& graph, const GraphOptions& options,
                            compile::Interruption interruption);
CompiledGraph compile_graph(const Graph& graph, const GraphOptions& options = {});

}  // namespace texloom::graph
