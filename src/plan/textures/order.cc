#include "plan/textures/order.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "plan/textures/fold.h"
#include "plan/textures/random.h"

namespace texloom::plan {
namespace {

using Rows = std::vector<std::vector<std::int64_t>>;

void sort_rows(Rows& rows) {
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
}

// For each item of the problem, the operators that use it, ascending.
Rows users_of(const TextureProblem& problem) {
  std::unordered_map<std::int64_t, std::size_t> position;
  for (const TextureItem& item : problem.items) position.emplace(item.id, position.size());
  Rows users(problem.items.size());
  for (std::size_t t = 0; t < problem.operators.size(); ++t) {
    for (const auto* ids : {&problem.operators[t].inputs, &problem.operators[t].outputs}) {
      for (const std::int64_t id : *ids) {
        users[position.at(id)].push_back(static_cast<std::int64_t>(t));
      }
    }
  }
  sort_rows(users);
  return users;
}

// Sets of operators, one bit for each.
class Relation {
 public:
  explicit Relation(std::size_t count) : words_((count + 63) / 64), bits_(words_ * count) {}
  void set(std::size_t row, std::size_t column) { word(row, column) |= mask(column); }
  bool has(std::size_t row, std::size_t column) const {
    return (bits_[row * words_ + column / 64] & mask(column)) != 0;
  }
  void unite(std::size_t row, std::size_t other) {
    for (std::size_t w = 0; w < words_; ++w) bits_[row * words_ + w] |= bits_[other * words_ + w];
  }

 private:
  static std::uint64_t mask(std::size_t column) { return std::uint64_t{1} << (column % 64); }
  std::uint64_t& word(std::size_t row, std::size_t column) {
    return bits_[row * words_ + column / 64];
  }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// Changes an order step by step, towards fewer live texels.
class OrderSearch {
 public:
  explicit OrderSearch(const TextureProblem& problem)
      : users_(users_of(problem)), before_(predecessors(problem)), after_(before_.size()) {
    for (const TextureItem& item : problem.items) {
      texels_.push_back(least_texels(item, folds(item, problem.max_width, problem.max_height)));
    }
    for (std::size_t t = 0; t < before_.size(); ++t) {
      for (const std::int64_t b : before_[t]) after_[b].push_back(static_cast<std::int64_t>(t));
    }
  }

  // The cost of an order: the live texels at the worst time, then their sum over all times.
  using Cost = std::pair<std::int64_t, double>;

  Cost cost(const OperatorOrder& order) {
    steps_ += static_cast<std::int64_t>(order.size() + texels_.size());
    place(order);
    change_.assign(order.size() + 1, 0);
    for (std::size_t i = 0; i < texels_.size(); ++i) {
      std::int64_t first = position_[users_[i].front()];
      std::int64_t last = first;
      for (const std::int64_t user : users_[i]) {
        first = std::min(first, position_[user]);
        last = std::max(last, position_[user]);
      }
      change_[first] += texels_[i];
      change_[last + 1] -= texels_[i];
    }
    Cost result{0, 0};
    std::int64_t live = 0;
    for (const std::int64_t change : change_) {
      live += change;
      result.first = std::max(result.first, live);
      result.second += static_cast<double>(live);
    }
    return result;
  }

  // Repeatedly runs the operator after which the fewest texels are live, among those that can run.
  OperatorOrder greedy() {
    std::vector<std::size_t> missing(before_.size());
    std::vector<std::int64_t> ready;
    for (std::size_t t = 0; t < before_.size(); ++t) {
      missing[t] = before_[t].size();
      if (missing[t] == 0) ready.push_back(static_cast<std::int64_t>(t));
    }
    std::vector<std::size_t> uses_left(users_.size());
    std::vector<std::vector<std::size_t>> used(before_.size());
    for (std::size_t i = 0; i < users_.size(); ++i) {
      uses_left[i] = users_[i].size();
      for (const std::int64_t user : users_[i]) used[user].push_back(i);
    }
    OperatorOrder order;
    while (!ready.empty()) {
      const auto growth = [&](std::int64_t t) {
        std::int64_t sum = 0;
        for (const std::size_t i : used[t]) {
          if (uses_left[i] == users_[i].size()) sum += texels_[i];
          if (uses_left[i] == 1) sum -= texels_[i];
        }
        return sum;
      };
      const auto next =
          std::min_element(ready.begin(), ready.end(), [&](std::int64_t a, std::int64_t b) {
            return std::pair(growth(a), a) < std::pair(growth(b), b);
          });
      const std::int64_t t = *next;
      ready.erase(next);
      order.push_back(t);
      for (const std::size_t i : used[t]) --uses_left[i];
      for (const std::int64_t later : after_[t]) {
        if (--missing[later] == 0) ready.push_back(later);
      }
    }
    return order;
  }

  // Moves single operators, or runs of operators, to other places that dependences allow.
  OperatorOrder improve(OperatorOrder order, std::int64_t steps,
                        const std::function<bool()>& is_over) {
    const std::int64_t stop = steps_ + steps;
    Cost best = cost(order);
    for (int count = 1; steps_ < stop && order.size() > 1; ++count) {
      if (count % 64 == 0 && is_over && is_over()) break;
      steps_ += 8;  // the cost of a move that is not allowed
      const Move move = random_move(order);
      if (!is_allowed(move, order)) continue;
      OperatorOrder other = order;
      carry_out(move, other);
      const Cost changed = cost(other);
      if (changed > best) {
        place(order);
        continue;
      }
      best = changed;
      order = std::move(other);
    }
    return order;
  }

 private:
  void place(const OperatorOrder& order) {
    position_.resize(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) {
      position_[order[p]] = static_cast<std::int64_t>(p);
    }
  }

  // Moves the run [begin, end) of an order to just before position `to`, which is outside the run.
  struct Move {
    std::size_t begin, end, to;
  };

  Move random_move(const OperatorOrder& order) {
    const std::size_t begin = random_.below(order.size());
    const std::size_t longest = random_.below(2) == 0 ? 1 : 8;
    const std::size_t end = std::min(order.size(), begin + 1 + random_.below(longest));
    return {begin, end, random_.below(order.size() + 1)};
  }

  // Whether the move changes the order and passes no operator that depends on the run or that the
  // run depends on. position_ describes the order.
  bool is_allowed(const Move& move, const OperatorOrder& order) const {
    if (move.to >= move.begin && move.to <= move.end) return false;
    const bool up = move.to < move.begin;
    const auto low = static_cast<std::int64_t>(up ? move.to : move.end);
    const auto high = static_cast<std::int64_t>(up ? move.begin : move.to);
    for (std::size_t p = move.begin; p < move.end; ++p) {
      for (const std::int64_t other : (up ? before_ : after_)[order[p]]) {
        if (position_[other] >= low && position_[other] < high) return false;
      }
    }
    return true;
  }

  static void carry_out(const Move& move, OperatorOrder& order) {
    const auto at = [&](std::size_t p) { return order.begin() + static_cast<std::ptrdiff_t>(p); };
    if (move.to < move.begin) {
      std::rotate(at(move.to), at(move.begin), at(move.end));
    } else {
      std::rotate(at(move.begin), at(move.end), at(move.to));
    }
  }

  Rows users_;
  Rows before_;
  Rows after_;
  std::vector<std::int64_t> texels_;  // the texels of each item
  std::vector<std::int64_t> position_;
  std::vector<std::int64_t> change_;
  std::int64_t steps_ = 0;
  Random random_{1};
};

// Removes sets that are subsets of another set nearby in the list.
void keep_largest(std::vector<std::vector<int>>& sets) {
  constexpr std::size_t kNear = 32;
  std::vector<std::vector<int>> largest;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    bool is_part = false;
    const std::size_t end = std::min(sets.size(), s + kNear);
    for (std::size_t o = s < kNear ? 0 : s - kNear; o < end && !is_part; ++o) {
      if (o == s || sets[o].size() < sets[s].size()) continue;
      if (sets[o].size() == sets[s].size() && o > s) continue;  // of equal sets, the first stays
      is_part = std::includes(sets[o].begin(), sets[o].end(), sets[s].begin(), sets[s].end());
    }
    if (!is_part && !sets[s].empty()) largest.push_back(sets[s]);
  }
  sets = std::move(largest);
}

}  // namespace

std::vector<std::vector<std::int64_t>> predecessors(const TextureProblem& problem) {
  std::unordered_map<std::int64_t, std::int64_t> writer;
  for (std::size_t t = 0; t < problem.operators.size(); ++t) {
    for (const std::int64_t id : problem.operators[t].outputs) {
      writer[id] = static_cast<std::int64_t>(t);
    }
  }
  Rows before(problem.operators.size());
  for (std::size_t t = 0; t < before.size(); ++t) {
    before[t] = problem.operators[t].after;
    for (const std::int64_t id : problem.operators[t].inputs) {
      if (const auto found = writer.find(id); found != writer.end()) {
        before[t].push_back(found->second);
      }
    }
  }
  sort_rows(before);
  return before;
}

TextureProblem reordered(const TextureProblem& problem, const OperatorOrder& order) {
  std::vector<std::int64_t> position(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) {
    position[order[p]] = static_cast<std::int64_t>(p);
  }
  TextureProblem result = problem;
  const Rows users = users_of(problem);
  for (std::size_t i = 0; i < users.size(); ++i) {
    Lifetime life{position[users[i].front()], position[users[i].front()]};
    for (const std::int64_t user : users[i]) {
      life.first = std::min(life.first, position[user]);
      life.last = std::max(life.last, position[user]);
    }
    result.items[i].lifetime = life;
  }
  return result;
}

std::vector<OperatorOrder> likely_orders(const TextureProblem& problem, std::int64_t steps,
                                         const std::function<bool()>& is_over) {
  OperatorOrder given(problem.operators.size());
  std::iota(given.begin(), given.end(), std::int64_t{0});
  OrderSearch search(problem);
  std::vector<OperatorOrder> orders = {search.greedy()};
  orders.push_back(search.improve(orders[0], steps / 2, is_over));
  orders.push_back(search.improve(given, steps / 2, is_over));
  orders.push_back(given);
  std::stable_sort(orders.begin(), orders.end(),
                   [&](const auto& a, const auto& b) { return search.cost(a) < search.cost(b); });
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

std::vector<std::vector<int>> always_live_sets(const TextureProblem& problem,
                                               const TextureInstance& instance) {
  const std::size_t count = problem.operators.size();
  const Rows before = predecessors(problem);
  Relation earlier(count);  // has(t, s): s runs before t in every order, or is t
  for (std::size_t t = 0; t < count; ++t) {
    earlier.set(t, t);
    for (const std::int64_t b : before[t]) earlier.unite(t, static_cast<std::size_t>(b));
  }
  const Rows users = users_of(problem);
  std::vector<std::vector<int>> sets(count);
  for (std::size_t k = 0; k < instance.size(); ++k) {
    const auto& mine = users[instance.positions[k]];
    // An operator between two users in every order is between them in the given order, too.
    for (auto t = static_cast<std::size_t>(mine.front());
         t <= static_cast<std::size_t>(mine.back()); ++t) {
      const bool begun = std::any_of(mine.begin(), mine.end(),
                                     [&](std::int64_t user) { return earlier.has(t, user); });
      const bool goes_on = begun && std::any_of(mine.begin(), mine.end(), [&](std::int64_t user) {
                             return earlier.has(static_cast<std::size_t>(user), t);
                           });
      if (goes_on) sets[t].push_back(static_cast<int>(k));
    }
  }
  keep_largest(sets);
  return sets;
}

}  // namespace texloom::plan
