// Joins the compiled kernels of a graph to one launch plan.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/call_sites.h"
#include "graph/scopes/invocations.h"
#include "lower/analysis/kernel_work.h"
#include "runtime/package/package.h"
#include "runtime/plan/plan.h"

namespace texloom::graph {

struct Assembly {
  // The plan's arguments are the graph's inputs, then the graph's outputs. The plan has no
  // workspace if the graph has symbols.
  runtime::LaunchPlan plan;
  std::vector<std::optional<std::uint32_t>> nodes;      // indexed by outermost step
  std::vector<std::size_t> invocations;                 // by outermost step
  std::vector<std::string> signatures;                  // by invocation; "" for an OperatorCall
  std::vector<std::vector<lower::KernelWork>> work;     // by invocation (SiteFacts::work)
  std::vector<std::optional<runtime::TensorRef>> refs;  // indexed by tensor
  std::vector<std::size_t> storages;  // indexed by tensor: the storage in which `refs` has it
  std::vector<std::shared_ptr<const std::vector<std::byte>>> values;  // the constants of the plan
  std::vector<std::string> objects;  // the object files that the plan's native code was linked of
};

// `interpreted` as in GraphOptions. Fails like CallSites::sites(), and with BadGraph for a constant
// without a value, or GraphTooLarge for too many launches or for memory that cannot be planned.
Assembly assemble(const Graph& graph, const Offers& offers, const Invocations& invocations,
                  CallSites& sites, std::uint64_t buffer_alignment, bool interpreted);

}  // namespace texloom::graph
