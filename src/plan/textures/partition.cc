#include "plan/textures/partition.h"

#include <algorithm>
#include <bit>
#include <map>

#include "support/check.h"

namespace texloom::plan {
namespace {

using Mask = std::uint64_t;  // a set of chosen items

// The chosen items in the form that the search uses, numbered in the order of the search. An item
// matters later if a later item is apart from it or live together with it.
struct Chosen {
  std::vector<std::int64_t> texels;
  std::vector<Mask> apart;
  std::vector<std::vector<Mask>> live;  // for each item: its live sets, without later items
  std::vector<Mask> matter;             // for each item: the items up to it that matter later
};

Mask bit(std::size_t k) { return Mask{1} << k; }

// Orders the chosen items by their first live sets, which are listed in the order of time.
std::vector<int> in_order(const PartitionProblem& problem, std::vector<int> chosen) {
  std::vector<std::size_t> first(problem.texels.size(), problem.live_sets.size());
  for (std::size_t s = problem.live_sets.size(); s-- > 0;) {
    for (const int item : problem.live_sets[s]) first[item] = s;
  }
  std::sort(chosen.begin(), chosen.end(),
            [&](int a, int b) { return std::pair(first[a], a) < std::pair(first[b], b); });
  return chosen;
}

Chosen describe(const PartitionProblem& problem, const std::vector<int>& order) {
  Chosen result;
  std::vector<int> number(problem.texels.size(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) number[order[k]] = static_cast<int>(k);
  const auto mask_of = [&](const std::vector<int>& items) {
    Mask mask = 0;
    for (const int item : items) mask |= number[item] < 0 ? 0 : bit(number[item]);
    return mask;
  };
  std::vector<Mask> sets;
  for (const std::vector<int>& set : problem.live_sets) sets.push_back(mask_of(set));
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::vector<Mask> related;  // for each item: items that are apart from it or live with it
  for (std::size_t k = 0; k < order.size(); ++k) {
    result.texels.push_back(problem.texels[order[k]]);
    result.apart.push_back(mask_of(problem.apart[order[k]]));
    related.push_back(result.apart[k]);
    std::vector<Mask>& live = result.live.emplace_back();
    for (const Mask set : sets) {
      if ((set & bit(k)) == 0) continue;
      related[k] |= set;
      live.push_back(set & (bit(k) | (bit(k) - 1)));
    }
    std::sort(live.begin(), live.end());
    live.erase(std::unique(live.begin(), live.end()), live.end());
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    Mask matter = 0;
    for (std::size_t j = 0; j <= k; ++j) {
      const Mask later = k == 63 ? 0 : ~(bit(k + 1) - 1);
      if ((related[j] & later) != 0) matter |= bit(j);
    }
    result.matter.push_back(matter);
  }
  return result;
}

// The states of the search: for the same parts, there are several lists of the parts' peaks. Parts
// without items that matter later are kept for their peaks; they come first, by rising peak.
using Parts = std::vector<Mask>;
using Peaks = std::vector<std::int64_t>;
using States = std::map<Parts, std::vector<Peaks>>;

class PartitionSearch {
 public:
  PartitionSearch(const PartitionProblem& problem, Chosen chosen, const PartitionLimits& limits)
      : max_peak_(problem.max_peak), chosen_(std::move(chosen)), limits_(limits) {}

  // False if the search gave up.
  bool run() {
    states_ = {{Parts(), {Peaks()}}};
    for (std::size_t k = 0; k < chosen_.texels.size(); ++k) {
      next_.clear();
      for (const auto& [parts, peaks] : states_) {
        for (std::size_t p = 0; p <= parts.size(); ++p) {
          if (p == parts.size() || (parts[p] & chosen_.apart[k]) == 0) add(k, parts, p, peaks);
        }
        if (steps_ > limits_.steps || is_over()) return false;
      }
      states_.swap(next_);
    }
    return true;
  }

  std::int64_t least() const {
    std::int64_t least = limits_.below;
    for (const auto& [parts, all] : states_) {
      for (const Peaks& peaks : all) least = std::min(least, sum(peaks));
    }
    return least;
  }

  std::int64_t steps() const { return steps_; }

 private:
  bool is_over() {
    constexpr std::int64_t kInterval = 10'000;  // steps
    if (!limits_.is_over || steps_ < next_question_) return false;
    next_question_ = steps_ + kInterval;
    return limits_.is_over();
  }

  static std::int64_t sum(const Peaks& peaks) {
    std::int64_t result = 0;
    for (const std::int64_t peak : peaks) result += peak;
    return result;
  }

  // The most texels that are live together with item k in a part that item k joins.
  std::int64_t load(std::size_t k, Mask part) const {
    std::int64_t most = chosen_.texels[k];
    for (const Mask set : chosen_.live[k]) {
      std::int64_t texels = chosen_.texels[k];
      for (Mask rest = set & part; rest != 0; rest &= rest - 1) {
        texels += chosen_.texels[static_cast<std::size_t>(std::countr_zero(rest))];
      }
      most = std::max(most, texels);
    }
    return most;
  }

  // Adds the states in which item k joins part p (or a new one).
  void add(std::size_t k, const Parts& parts, std::size_t p, const std::vector<Peaks>& all) {
    const bool is_new = p == parts.size();
    const std::int64_t peak = load(k, is_new ? 0 : parts[p]);
    ++steps_;
    if (peak > max_peak_) return;
    Parts joined = parts;
    if (is_new) joined.push_back(0);
    joined[p] |= bit(k);
    for (Mask& part : joined) part &= chosen_.matter[k];
    for (const Peaks& peaks : all) {
      Peaks grown = peaks;
      if (is_new) grown.push_back(0);
      grown[p] = std::max(grown[p], peak);
      ++steps_;
      if (sum(grown) < limits_.below) insert(joined, std::move(grown));
    }
  }

  // Sorts the parts and adds the state, unless a state with the same parts has no larger peak.
  void insert(const Parts& parts, Peaks peaks) {
    sorted_.clear();
    for (std::size_t p = 0; p < parts.size(); ++p) sorted_.emplace_back(parts[p], peaks[p]);
    std::sort(sorted_.begin(), sorted_.end());
    Parts key;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      key.push_back(sorted_[p].first);
      peaks[p] = sorted_[p].second;
    }
    const auto no_larger = [](const Peaks& a, const Peaks& b) {
      return std::equal(a.begin(), a.end(), b.begin(), std::less_equal<>());
    };
    std::vector<Peaks>& others = next_[std::move(key)];
    steps_ += static_cast<std::int64_t>(others.size());
    for (const Peaks& other : others) {
      if (no_larger(other, peaks)) return;
    }
    std::erase_if(others, [&](const Peaks& other) { return no_larger(peaks, other); });
    others.push_back(std::move(peaks));
  }

  std::int64_t max_peak_;
  Chosen chosen_;
  PartitionLimits limits_;
  States states_;
  States next_;
  std::vector<std::pair<Mask, std::int64_t>> sorted_;
  std::int64_t steps_ = 0;
  std::int64_t next_question_ = 0;
};

}  // namespace

std::optional<std::int64_t> least_partition(const PartitionProblem& problem,
                                            std::vector<int> chosen, const PartitionLimits& limits,
                                            std::int64_t* steps) {
  TL_CHECK(chosen.size() <= kMaxPartitioned);
  const std::vector<int> order = in_order(problem, std::move(chosen));
  PartitionSearch search(problem, describe(problem, order), limits);
  const bool finished = search.run();
  if (steps != nullptr) *steps += search.steps();
  return finished ? std::optional(search.least()) : std::nullopt;
}

}  // namespace texloom::plan
