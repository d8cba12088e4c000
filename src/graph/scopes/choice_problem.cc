#include "graph/scopes/choice_problem.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

// Makes the cost infinite for each option that `is_allowed` refuses, unless no option would be
// left.
void forbid(std::vector<ChoiceOption>& options,
            const std::function<bool(std::size_t)>& is_allowed) {
  const auto allows = [&](std::size_t i) { return options[i].cost < kInfinite && is_allowed(i); };
  bool any = false;
  for (std::size_t i = 0; i < options.size(); ++i) any = any || allows(i);
  if (!any) return;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!allows(i)) options[i].cost = kInfinite;
  }
}

class Problem {
 public:
  Problem(const Graph& graph, const Offers& offers, const ChoiceRules& rules)
      : graph_(graph), offers_(offers), rules_(rules) {}

  ChoiceProblem make() {
    add_conversions();
    for (const TensorId input : graph_.inputs) add_input(input);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) add_node(n);
    if (rules_.max_live_bytes) add_memory(static_cast<double>(*rules_.max_live_bytes));
    return std::move(problem_);
  }

 private:
  void add_conversions() {
    for (const auto& table : offers_.conversions) {
      auto& costs = problem_.conversions.emplace_back();
      for (const auto& row : table) {
        auto& to = costs.emplace_back();
        for (const SiteCost& each : row) to.push_back(each.ns);
      }
    }
  }

  bool may_be(TensorId tensor, std::size_t storage) const {
    return !rules_.in_buffers.contains(tensor) || !offers_.storages[tensor][storage].is_texture();
  }

  void add_input(TensorId input) {
    auto& options = problem_.nodes.emplace_back();
    for (std::size_t i = 0; i < offers_.storages[input].size(); ++i)
      options.push_back({.cost = 0, .reads = {}, .writes = {{input, i}}});
    forbid(options, [&](std::size_t i) { return may_be(input, i); });
  }

  void add_node(std::size_t n) {
    const Node& node = graph_.nodes[n];
    auto& options = problem_.nodes.emplace_back();
    for (const Offer& offer : offers_.nodes[n]) {
      ChoiceOption option{.cost = offer.cost.ns, .reads = {}, .writes = {}};
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (graph_.tensors[node.inputs[i]].role != TensorRole::Constant)
          option.reads.push_back({node.inputs[i], offer.storages[i]});
      }
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        option.writes.push_back({node.outputs[i], offer.storages[node.inputs.size() + i]});
      options.push_back(std::move(option));
    }
    if (!rules_.fixed.empty() && !rules_.fixed[n].empty())
      forbid(options,
             [&](std::size_t i) { return name_of(node, offers_.nodes[n][i]) == rules_.fixed[n]; });
    forbid(options, [&](std::size_t i) {
      for (const auto* list : {&options[i].reads, &options[i].writes}) {
        for (const StoredTensor& each : *list) {
          if (!may_be(static_cast<TensorId>(each.tensor), each.storage)) return false;
        }
      }
      return true;
    });
  }

  void add_memory(double most) {
    ChoiceLimit& limit = problem_.limits.emplace_back();
    limit.most = most;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      auto& uses = limit.uses.emplace_back();
      for (const Stored& stored : offers_.storages[i])
        uses.push_back(static_cast<double>(bytes_of(stored, graph_.tensors[i].type).value()));
    }
  }

  const Graph& graph_;
  const Offers& offers_;
  const ChoiceRules& rules_;
  ChoiceProblem problem_;
};

}  // namespace

ChoiceProblem choice_problem(const Graph& graph, const Offers& offers, const ChoiceRules& rules) {
  if (rules.max_live_bytes && !graph.symbols.empty())
    fail({}, Code::NoStorageChoice, "give the graph's inputs fixed shapes, or set no memory limit",
         "the memory limit of {} bytes cannot be checked for the graph '{}', because the sizes of "
         "its tensors differ from run to run",
         *rules.max_live_bytes, graph.name);
  return Problem(graph, offers, rules).make();
}

}  // namespace texloom::graph
