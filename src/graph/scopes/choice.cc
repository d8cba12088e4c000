#include "graph/scopes/choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "support/check.h"

namespace texloom::graph {
namespace {

// Rounding: sums of equal costs in different orders differ by less than this share.
constexpr double kRounding = 1e-12;
// The number of cheapest partial choices with which all others are compared.
constexpr std::size_t kComparedWith = 8;

std::uint32_t bit_of(std::size_t storage) { return std::uint32_t{1} << storage; }

// The state of a tensor, as later nodes need it.
struct Held {
  std::size_t tensor = 0;
  std::uint32_t written = 0;  // a bit for each storage in which its node wrote it
  std::uint32_t present = 0;  // a bit for each storage that it is in, conversions included
  std::uint32_t closed = 0;   // a bit for each storage that no later node may use

  auto operator<=>(const Held&) const = default;
};
// The states of the tensors that later nodes read, in the order of the tensors' numbers.
using State = std::vector<Held>;

Held* find(State& state, std::size_t tensor) {
  const auto found = std::lower_bound(state.begin(), state.end(), tensor,
                                      [](const Held& a, std::size_t b) { return a.tensor < b; });
  return found == state.end() || found->tensor != tensor ? nullptr : &*found;
}

// The tensors that an option uses at its node: those that it reads, converts or writes.
using Uses = std::vector<StoredTensor>;

// Adds the option to the state. Returns the cost of the option, including conversions; infinite if
// the option needs a tensor in a storage that the state has closed.
double add(const ChoiceProblem& problem, const ChoiceOption& option, State& state, Uses& uses) {
  double cost = option.cost;
  uses = option.writes;
  for (const StoredTensor& read : option.reads) {
    Held* const held = find(state, read.tensor);
    TL_CHECK(held != nullptr, "a node reads what an earlier one writes");
    uses.push_back(read);
    const std::uint32_t bit = bit_of(read.storage);
    if ((held->closed & bit) != 0) return kInfinite;
    if ((held->present & bit) != 0) continue;
    const auto& conversions = problem.conversions[read.tensor];
    const std::size_t source = source_of(conversions, held->written, read.storage);
    if ((held->closed & bit_of(source)) != 0) return kInfinite;
    uses.push_back({read.tensor, source});
    held->present |= bit;
    cost += conversions[source][read.storage];
  }
  for (const StoredTensor& write : option.writes) {
    Held* const held = find(state, write.tensor);
    if (held != nullptr) {  // the option writes the tensor in another storage, too
      held->written |= bit_of(write.storage);
      held->present = held->written;
      continue;
    }
    const Held made{write.tensor, bit_of(write.storage), bit_of(write.storage), 0};
    state.insert(std::lower_bound(state.begin(), state.end(), made), made);
  }
  return cost;
}

// A partial choice: its last option, and the preceding choice, as a position in a list of steps.
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
struct Step {
  std::size_t before = kNone;
  std::size_t option = 0;
};

struct Partial {
  double cost = 0;
  std::size_t last = kNone;
};

class Search {
 public:
  Search(const ChoiceProblem& problem, std::size_t max_partial)
      : problem_(problem),
        max_partial_(max_partial),
        last_read_(problem.conversions.size(), -1),
        last_needed_(problem.conversions.size(), -1) {
    for (const auto& storages : problem.conversions) TL_CHECK(storages.size() <= kMaxStorages);
    for (std::size_t node = 0; node < problem.nodes.size(); ++node) find_reads(node);
    // For each node, a lower bound of the cost of this node and all later ones.
    rest_.assign(problem.nodes.size() + 1, 0);
    for (std::size_t node = problem.nodes.size(); node-- > 0;)
      rest_[node] = rest_[node + 1] + least_cost(problem.nodes[node]);
  }

  Choice run() {
    Partials partials;
    partials.emplace(State{}, Partial{});
    double dropped = kInfinite;
    for (std::size_t node = 0; node < problem_.nodes.size(); ++node) {
      partials = after(node, partials);
      if (problem_.limits.empty()) drop_dominated(partials);
      if (partials.size() > max_partial_)
        dropped = std::min(dropped, drop_expensive(partials) + rest_[node + 1]);
    }
    if (partials.empty()) return {{}, kInfinite, dropped};
    TL_CHECK(partials.size() == 1, "no tensor is read after the last node");
    const Partial& best = partials.begin()->second;
    return {options_of(best.last), best.cost, std::min(best.cost, dropped)};
  }

 private:
  using Partials = std::map<State, Partial>;

  void find_reads(std::size_t node) {
    const auto& options = problem_.nodes[node];
    TL_CHECK(!options.empty());
    for (const ChoiceOption& option : options) {
      for (const StoredTensor& read : option.reads)
        last_read_[read.tensor] = static_cast<std::ptrdiff_t>(node);
    }
    for (const StoredTensor& read : options.front().reads) {
      const bool all = std::all_of(options.begin(), options.end(), [&](const ChoiceOption& option) {
        return std::any_of(option.reads.begin(), option.reads.end(),
                           [&](const auto& other) { return other.tensor == read.tensor; });
      });
      if (all) last_needed_[read.tensor] = static_cast<std::ptrdiff_t>(node);
    }
  }

  static double least_cost(const std::vector<ChoiceOption>& options) {
    return std::min_element(options.begin(), options.end(),
                            [](const auto& a, const auto& b) { return a.cost < b.cost; })
        ->cost;
  }

  std::vector<std::size_t> options_of(std::size_t last) const {
    std::vector<std::size_t> options;
    for (; last != kNone; last = steps_[last].before) options.push_back(steps_[last].option);
    std::reverse(options.begin(), options.end());
    return options;
  }

  // Whether `a` is preferred to `b`, which chooses for the same nodes.
  bool is_better(const Partial& a, const Partial& b) const {
    if (a.cost != b.cost) return a.cost < b.cost;
    bool is_less = false;
    for (std::size_t i = a.last, j = b.last; i != j; i = steps_[i].before, j = steps_[j].before) {
      if (steps_[i].option != steps_[j].option) is_less = steps_[i].option < steps_[j].option;
    }
    return is_less;
  }

  Partials after(std::size_t node, const Partials& before) {
    Partials partials;
    Uses uses;
    for (const auto& [state, partial] : before) {
      for (std::size_t i = 0; i < problem_.nodes[node].size(); ++i) {
        State next = state;
        const double cost = partial.cost + add(problem_, problem_.nodes[node][i], next, uses);
        if (cost == kInfinite) continue;
        const std::size_t step = steps_.size();
        steps_.push_back({partial.last, i});
        std::erase_if(next, [&](const Held& held) {
          return last_read_[held.tensor] <= static_cast<std::ptrdiff_t>(node);
        });
        keep(std::move(next), node, uses, 0, {cost, step}, partials);
      }
    }
    return partials;
  }

  // Keeps a partial choice if it is within the limits. If it exceeds a limit, tries to close each
  // set of storages that the last node does not use, so that later nodes cannot use these storages
  // either. The storages before place `first` are decided already.
  void keep(State state, std::size_t node, const Uses& uses, std::size_t first,
            const Partial& partial, Partials& partials) {
    if (fits(state, uses)) {
      const auto [found, is_new] = partials.try_emplace(std::move(state), partial);
      if (!is_new && is_better(partial, found->second)) found->second = partial;
      return;
    }
    for (std::size_t place = first; place < state.size() * kMaxStorages; ++place) {
      Held& held = state[place / kMaxStorages];
      const std::size_t storage = place % kMaxStorages;
      const std::uint32_t bit = bit_of(storage);
      const bool is_last =
          held.present == bit && last_needed_[held.tensor] > static_cast<std::ptrdiff_t>(node);
      const bool is_used =
          std::find(uses.begin(), uses.end(), StoredTensor{held.tensor, storage}) != uses.end();
      if ((held.present & bit) == 0 || is_last || is_used) continue;
      const Held before = held;
      held.present &= ~bit;
      held.closed |= bit;
      keep(state, node, uses, place + 1, partial, partials);
      held = before;
    }
  }

  bool fits(const State& state, const Uses& uses) const {
    for (const ChoiceLimit& limit : problem_.limits) {
      std::set<StoredTensor> live(uses.begin(), uses.end());
      for (const Held& held : state) {
        for (std::size_t s = 0; s < problem_.conversions[held.tensor].size(); ++s) {
          if ((held.present & bit_of(s)) != 0) live.insert({held.tensor, s});
        }
      }
      double sum = 0;
      for (const StoredTensor& each : live) sum += limit.uses[each.tensor][each.storage];
      if (sum > limit.most) return false;
    }
    return true;
  }

  // Removes each state that costs more than a cheaper state plus the conversions that the cheaper
  // state lacks: the cheaper state can be continued in the same way for less.
  void drop_dominated(Partials& partials) const {
    std::vector<Partials::const_iterator> order;
    for (auto it = partials.cbegin(); it != partials.cend(); ++it) order.push_back(it);
    const std::size_t count = std::min(kComparedWith, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(),
                      [](const auto& a, const auto& b) { return a->second.cost < b->second.cost; });
    std::vector<std::pair<State, double>> cheapest;
    for (std::size_t i = 0; i < count; ++i)
      cheapest.emplace_back(order[i]->first, order[i]->second.cost);
    std::erase_if(partials, [&](const auto& each) {
      return std::any_of(cheapest.begin(), cheapest.end(), [&](const auto& other) {
        return (other.second + lacking(other.first, each.first)) * (1 + kRounding) <
               each.second.cost;
      });
    });
  }

  // The greatest extra cost of a continuation from `from` over the same continuation from `to`.
  double lacking(const State& from, const State& to) const {
    double sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {  // both hold the same tensors
      const auto& conversions = problem_.conversions[from[i].tensor];
      for (std::size_t s = 0; s < conversions.size(); ++s) {
        if ((from[i].present & bit_of(s)) != 0) continue;
        const double own = conversions[source_of(conversions, from[i].written, s)][s];
        const double other = (to[i].present & bit_of(s)) != 0
                                 ? 0
                                 : conversions[source_of(conversions, to[i].written, s)][s];
        sum += std::max(0.0, own - other);
      }
    }
    return sum;
  }

  // Drops the most expensive states, and returns the cost of the cheapest dropped one.
  double drop_expensive(Partials& partials) const {
    std::vector<Partials::iterator> order;
    for (auto it = partials.begin(); it != partials.end(); ++it) order.push_back(it);
    std::sort(order.begin(), order.end(),
              [&](const auto& a, const auto& b) { return is_better(a->second, b->second); });
    const double dropped = order[max_partial_]->second.cost;
    for (std::size_t i = max_partial_; i < order.size(); ++i) partials.erase(order[i]);
    return dropped;
  }

  const ChoiceProblem& problem_;
  std::size_t max_partial_;
  std::vector<std::ptrdiff_t> last_read_;  // for each tensor, the last node that may read it, or -1
  std::vector<std::ptrdiff_t> last_needed_;  // for each tensor, the last node that must read it
  std::vector<double> rest_;
  std::vector<Step> steps_;
};

// The uses of each node, and the sum of all costs.
std::pair<std::vector<Uses>, double> followed(const ChoiceProblem& problem,
                                              const std::vector<std::size_t>& options) {
  State state;
  std::vector<Uses> uses(options.size());
  double cost = 0;
  for (std::size_t node = 0; node < options.size(); ++node)
    cost += add(problem, problem.nodes[node][options[node]], state, uses[node]);
  return {std::move(uses), cost};
}

bool keeps_within(const ChoiceLimit& limit, const std::vector<Uses>& uses) {
  std::map<StoredTensor, std::pair<std::size_t, std::size_t>> lives;  // first and last node
  for (std::size_t node = 0; node < uses.size(); ++node) {
    for (const StoredTensor& each : uses[node])
      lives.try_emplace(each, node, node).first->second.second = node;
  }
  for (std::size_t node = 0; node < uses.size(); ++node) {
    double sum = 0;
    for (const auto& [tensor, life] : lives) {
      if (life.first <= node && node <= life.second)
        sum += limit.uses[tensor.tensor][tensor.storage];
    }
    if (sum > limit.most) return false;
  }
  return true;
}

}  // namespace

std::size_t source_of(const std::vector<std::vector<double>>& conversions, std::uint32_t written,
                      std::size_t wanted) {
  std::size_t best = conversions.size();
  for (std::size_t s = 0; s < conversions.size(); ++s) {
    if ((written & bit_of(s)) == 0) continue;
    if (best == conversions.size() || conversions[s][wanted] < conversions[best][wanted]) best = s;
  }
  return best;
}

Choice choose(const ChoiceProblem& problem, std::size_t max_partial) {
  return Search(problem, max_partial).run();
}

double cost_of(const ChoiceProblem& problem, const std::vector<std::size_t>& options) {
  const auto [uses, cost] = followed(problem, options);
  for (const ChoiceLimit& limit : problem.limits) {
    if (!keeps_within(limit, uses)) return kInfinite;
  }
  return cost;
}

}  // namespace texloom::graph
