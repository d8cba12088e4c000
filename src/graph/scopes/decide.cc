#include "graph/scopes/decide.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "graph/scopes/folds.h"
#include "graph/scopes/images.h"
#include "graph/scopes/invocations.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

constexpr double kTexelBytes = 16;

// Fails with the reason why the search found no choice.
[[noreturn]] void fail_without_choice(const Graph& graph, const ChoiceRules& rules,
                                      const Choice& choice) {
  if (!rules.max_live_bytes)
    fail({}, Code::NoStorageChoice, "measure again, or compile without costs",
         "no choice of storages for '{}' has a finite cost", graph.name);
  const bool is_proven = choice.lower_bound == std::numeric_limits<double>::infinity();
  if (is_proven)
    fail({}, Code::NoStorageChoice, "allow more memory, or compile the graph in parts",
         "{} bytes are too few for the tensors of '{}' that are live at once, in any choice of "
         "storages",
         *rules.max_live_bytes, graph.name);
  fail({}, Code::NoStorageChoice, "allow more memory, or compile the graph in parts",
       "no choice of storages for '{}' was found within {} bytes: there are too many choices to "
       "try all",
       graph.name, *rules.max_live_bytes);
}

class Decisions {
 public:
  Decisions(const Graph& graph, const DecisionOptions& options, SiteCosts& costs)
      : graph_(graph), options_(options), costs_(costs) {}

  Decision decide() {
    Decision decision = chosen({}, {});
    if (decision.choice.options.empty())
      fail_without_choice(graph_, options_.rules, decision.choice);
    if (options_.storage == StoragePreference::Any && options_.rules.fixed.empty()) {
      leave_images(decision);
      if (costs_.has_source()) give_up_small_gain(decision);
    }
    if (options_.may_fold) fold(decision);
    return decision;
  }

 private:
  ChoiceRules rules_without(const std::set<TensorId>& in_buffers) const {
    ChoiceRules rules = options_.rules;
    rules.in_buffers.insert(in_buffers.begin(), in_buffers.end());
    return rules;
  }

  Decision chosen(const Folds& folds, std::set<TensorId> in_buffers) const {
    Decision decision{.offers = collect_offers(graph_, options_.storage, costs_,
                                               options_.buffer_alignment, folds),
                      .problem = {},
                      .choice = {},
                      .folds = folds,
                      .in_buffers = std::move(in_buffers)};
    decision.problem = choice_problem(graph_, decision.offers, rules_without(decision.in_buffers));
    decision.choice = choose(decision.problem, options_.rules.max_partial);
    return decision;
  }

  void leave_images(Decision& decision) const {
    std::set<TensorId> tensors =
        tensors_out_of_images(graph_, decision.offers, options_.rules, decision.choice,
                              kTexelBytes / costs_.model().bytes_per_ns);
    if (!tensors.empty()) decision = chosen({}, std::move(tensors));
  }

  // The number of textures that the nodes read and write.
  std::ptrdiff_t textures(const Decision& decision, const Choice& choice) const {
    std::ptrdiff_t count = 0;
    for (std::size_t n = 0; n < choice.options.size(); ++n) {
      const ChoiceOption& option = decision.problem.nodes[n][choice.options[n]];
      for (const auto* list : {&option.reads, &option.writes})
        count += std::count_if(list->begin(), list->end(), [&](const StoredTensor& each) {
          return decision.offers.storages[each.tensor][each.storage].is_texture();
        });
    }
    return count;
  }

  // The best choice in which textures occur only at nodes that have no other offer. The choice has
  // no options if it exceeds the memory limit.
  Choice without_textures(const Offers& offers) const {
    std::set<TensorId> all;
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) all.insert(id);
    return choose(choice_problem(graph_, offers, rules_without(all)), options_.rules.max_partial);
  }

  void give_up_small_gain(Decision& decision) const {
    Choice without = without_textures(decision.offers);
    if (without.options.empty() ||
        textures(decision, without) >= textures(decision, decision.choice))
      return;
    const double gain = 1 - decision.choice.cost / without.cost;
    if (gain >= options_.rules.least_gain) return;
    decision.in_buffers.clear();
    decision.small_gain = gain;
    take_without_textures(decision, std::move(without));
  }

  // Takes the choice without textures. The lower bound is that of the problem with textures, so the
  // bound holds for all choices.
  void take_without_textures(Decision& decision, Choice without) const {
    decision.problem = choice_problem(graph_, decision.offers, options_.rules);
    const Choice best = choose(decision.problem, options_.rules.max_partial);
    without.lower_bound = std::min(without.cost, best.lower_bound);
    decision.choice = std::move(without);
  }

  void fold(Decision& decision) const {
    const Invocations invocations = invocations_of(graph_, decision.offers, decision.choice);
    const Folds folds = choose_folds(graph_, decision.offers, invocations, decision.choice.cost);
    if (folds.empty()) return;
    Decision folded = chosen(folds, decision.in_buffers);
    if (decision.small_gain) {
      folded.small_gain = decision.small_gain;
      take_without_textures(folded, without_textures(folded.offers));
    }
    // Folds may add padding, so that no choice of the folded graph is within the memory limit.
    if (!folded.choice.options.empty()) decision = std::move(folded);
  }

  const Graph& graph_;
  const DecisionOptions& options_;
  SiteCosts& costs_;
};

}  // namespace

Decision decide(const Graph& graph, const DecisionOptions& options, SiteCosts& costs) {
  return Decisions(graph, options, costs).decide();
}

}  // namespace texloom::graph
