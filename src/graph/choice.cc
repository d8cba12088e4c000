#include "graph/choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "support/check.h"

namespace texloom::graph {
namespace {

// What later nodes need to know of a tensor.
struct Held {
  std::size_t stored = 0;
  std::uint32_t present = 0;  // a bit for each storage that it is in, conversions included

  auto operator<=>(const Held&) const = default;
};
// Of the tensors that later nodes read.
using State = std::map<std::size_t, Held>;

struct Partial {
  double cost = 0;
  std::vector<std::size_t> options;

  bool is_better_than(const Partial& other) const {
    if (cost != other.cost) return cost < other.cost;
    return options < other.options;
  }
};

using Partials = std::map<State, Partial>;

// Adds the option to the state and returns what it costs there.
double add(const ChoiceProblem& problem, const ChoiceOption& option, State& state) {
  double cost = option.cost;
  for (const StoredTensor& read : option.reads) {
    Held& held = state.at(read.tensor);
    const std::uint32_t bit = std::uint32_t{1} << read.storage;
    if ((held.present & bit) != 0) continue;
    held.present |= bit;
    cost += problem.conversions[read.tensor][held.stored][read.storage];
  }
  for (const StoredTensor& write : option.writes)
    state[write.tensor] = {write.storage, std::uint32_t{1} << write.storage};
  return cost;
}

class Search {
 public:
  Search(const ChoiceProblem& problem, std::size_t max_partial)
      : problem_(problem), max_partial_(max_partial), last_read_(problem.conversions.size(), -1) {
    for (const auto& storages : problem.conversions) TL_CHECK(storages.size() <= kMaxStorages);
    for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
      TL_CHECK(!problem.nodes[node].empty());
      for (const ChoiceOption& option : problem.nodes[node]) {
        for (const StoredTensor& read : option.reads)
          last_read_[read.tensor] = static_cast<std::ptrdiff_t>(node);
      }
    }
    // What the nodes from each one on cost at least.
    rest_.assign(problem.nodes.size() + 1, 0);
    for (std::size_t node = problem.nodes.size(); node-- > 0;)
      rest_[node] = rest_[node + 1] + least_cost(problem.nodes[node]);
  }

  Choice run() {
    Partials partials;
    partials.emplace(State{}, Partial{});
    double dropped = std::numeric_limits<double>::infinity();
    for (std::size_t node = 0; node < problem_.nodes.size(); ++node) {
      partials = after(node, partials);
      if (partials.size() > max_partial_)
        dropped = std::min(dropped, drop_expensive(partials) + rest_[node + 1]);
    }
    TL_CHECK(partials.size() == 1, "no tensor is read after the last node");
    Partial& best = partials.begin()->second;
    return {std::move(best.options), best.cost, std::min(best.cost, dropped)};
  }

 private:
  static double least_cost(const std::vector<ChoiceOption>& options) {
    return std::min_element(options.begin(), options.end(),
                            [](const auto& a, const auto& b) { return a.cost < b.cost; })
        ->cost;
  }

  Partials after(std::size_t node, const Partials& before) const {
    Partials partials;
    for (const auto& [state, partial] : before) {
      for (std::size_t i = 0; i < problem_.nodes[node].size(); ++i) {
        State next = state;
        Partial longer = partial;
        longer.cost += add(problem_, problem_.nodes[node][i], next);
        longer.options.push_back(i);
        std::erase_if(next, [&](const auto& held) {
          return last_read_[held.first] <= static_cast<std::ptrdiff_t>(node);
        });
        const auto [found, is_new] = partials.try_emplace(std::move(next), longer);
        if (!is_new && longer.is_better_than(found->second)) found->second = std::move(longer);
      }
    }
    return partials;
  }

  // Returns the cost of the cheapest one that is dropped.
  double drop_expensive(Partials& partials) const {
    std::vector<Partials::iterator> order;
    for (auto it = partials.begin(); it != partials.end(); ++it) order.push_back(it);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a->second.is_better_than(b->second); });
    const double dropped = order[max_partial_]->second.cost;
    for (std::size_t i = max_partial_; i < order.size(); ++i) partials.erase(order[i]);
    return dropped;
  }

  const ChoiceProblem& problem_;
  std::size_t max_partial_;
  std::vector<std::ptrdiff_t> last_read_;  // by tensor: the last node that may read it, or -1
  std::vector<double> rest_;
};

}  // namespace

Choice choose(const ChoiceProblem& problem, std::size_t max_partial) {
  return Search(problem, max_partial).run();
}

double cost_of(const ChoiceProblem& problem, const std::vector<std::size_t>& options) {
  State state;
  double cost = 0;
  for (std::size_t node = 0; node < options.size(); ++node)
    cost += add(problem, problem.nodes[node][options[node]], state);
  return cost;
}

}  // namespace texloom::graph
