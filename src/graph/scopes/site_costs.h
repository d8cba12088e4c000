// Costs of candidate call sites: measured, predicted by a fitted model, estimated by the profile of
// a device, or by the default model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/call_sites.h"
#include "graph/graph.h"
#include "graph/image_use.h"
#include "graph/scopes/cost_model.h"
#include "lower/analysis/kernel_work.h"

namespace texloom::graph {

// The facts about a candidate call site that measurements, estimates and models of costs use.
struct SiteFacts {
  std::string_view kind;       // the pattern of a node; "convert", "concatenate" for copies
  std::string_view signature;  // the text of the schedule, with the storages of its arguments
  std::vector<std::string_view> sources;  // of the kernels; of native code its processor, too
  double bytes = 0;                       // the bytes of all arguments, each counted once
  double operations = 0;
  std::int64_t launches = 1;
  std::int64_t textures = 0;  // the number of its arguments that are in textures
  // The work of each kernel; empty if that of one of them is not known before a run.
  std::vector<lower::KernelWork> work = {};
};

struct SiteCost {
  double ns = 0;
  // By which the source knows this cost, as that of a row in the file of costs; "" if none.
  std::string key = {};
};

// Returns the cost of a call site.
using CostSource = std::function<SiteCost(const SiteFacts&)>;

// An alternative of a node, and where its arguments are stored.
struct StoredAlternative {
  const Node& node;
  const Alternative& alternative;
  const std::vector<Stored>& stored;
};

// The costs of the sites of one graph. Without a source, the default model estimates all costs, and
// no kernel is compiled for an estimate.
class SiteCosts {
 public:
  SiteCosts(const Graph& graph, const CostModel& model, const CostSource& source, CallSites& sites);

  bool has_source() const { return static_cast<bool>(source_); }
  const CostModel& model() const { return model_; }

  // Compiles alternatives side by side, for later calls of works().
  void compile_ahead(const std::vector<StoredAlternative>& candidates);
  // Whether the kernels of an alternative can be compiled for these storages of its arguments.
  bool works(const Node& node, const Alternative& alternative, const std::vector<Stored>& stored);
  SiteCost of_node(const Node& node, const Alternative& alternative,
                   const std::vector<Stored>& stored);
  // The cost of a concatenation's kernel. `stored`: the storages of inputs, then of the output.
  SiteCost of_concatenation(const Node& node, const std::vector<Stored>& stored);
  SiteCost of_conversion(TensorId tensor, const Stored& from, const Stored& to);

 private:
  std::vector<SiteArgument> arguments(const std::vector<TensorId>& tensors,
                                      const std::vector<Stored>& stored) const;
  SiteCost cost(std::string_view kind, const lower::Lowering& program,
                const std::vector<SiteArgument>& arguments, double bytes);

  const Graph& graph_;
  const CostModel& model_;
  const CostSource& source_;
  CallSites& sites_;
  ImageUse images_;
  std::string processor_;  // for which kernels are compiled, by name; "" for devices
};

}  // namespace texloom::graph
