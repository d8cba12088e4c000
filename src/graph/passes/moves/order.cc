#include "graph/passes/moves/order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace texloom::graph {
namespace {

// A digit before a move, or a part of one.
struct Digit {
  std::size_t number = 0;   // of the digit
  std::int64_t weight = 1;  // within the digit: the product of the extents of its lower parts
  std::int64_t extent = 1;
};

// Joins digits that stay neighbors. `digits`: as they are after the move.
Order simplified(const std::vector<Digit>& digits) {
  std::vector<Digit> before = digits;
  std::ranges::sort(before, [](const Digit& a, const Digit& b) {
    return a.number != b.number ? a.number < b.number : a.weight > b.weight;
  });
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> place;
  std::erase_if(before, [](const Digit& each) { return each.extent == 1; });
  for (std::size_t i = 0; i < before.size(); ++i) place[{before[i].number, before[i].weight}] = i;
  std::vector<std::vector<std::size_t>> joined;  // by the places after the move
  for (const Digit& each : digits) {
    if (each.extent == 1) continue;
    const std::size_t own = place.at({each.number, each.weight});
    if (!joined.empty() && joined.back().back() + 1 == own) {
      joined.back().push_back(own);
    } else {
      joined.push_back({own});
    }
  }
  std::vector<std::size_t> first;  // of each joined digit, in the order before the move
  for (const auto& each : joined) first.push_back(each.front());
  std::ranges::sort(first);
  Order order{std::vector<std::int64_t>(joined.size(), 1), {}};
  for (const auto& each : joined) {
    const auto number =
        static_cast<std::size_t>(std::ranges::lower_bound(first, each.front()) - first.begin());
    order.digits.push_back(number);
    for (const std::size_t part : each) order.extents[number] *= before[part].extent;
  }
  return order;
}

// Takes a part of this extent off the low end of the last digit.
Digit take_low(std::vector<Digit>& digits, std::int64_t extent) {
  Digit& last = digits.back();
  Digit low = last;
  low.extent = extent;
  last.extent /= extent;
  last.weight *= extent;
  if (last.extent == 1) digits.pop_back();
  return low;
}

}  // namespace

Order order_of(const Move& move) {
  std::vector<Digit> digits;
  if (move.is_view) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : move.before) elements *= extent;
    digits.push_back({0, 1, elements});
  } else {
    for (const Run& run : move.runs)
      digits.push_back({run.before.front(), 1, move.before[run.before.front()]});
  }
  return simplified(digits);
}

std::optional<Order> composed(const Order& first, const Order& second) {
  std::vector<Digit> made, taken;  // the digits after the first move, those before the second one
  for (const std::size_t digit : first.digits) made.push_back({digit, 1, first.extents[digit]});
  for (std::size_t i = 0; i < second.extents.size(); ++i)
    taken.push_back({i, 1, second.extents[i]});
  // Parts of the digits of both, from the lowest one on.
  std::map<std::size_t, std::vector<Digit>> parts;  // of the first move, by digits of the second
  while (!made.empty() && !taken.empty()) {
    const std::int64_t a = made.back().extent, b = taken.back().extent;
    const std::int64_t extent = std::min(a, b);
    if (a % extent != 0 || b % extent != 0) return std::nullopt;
    const Digit part = take_low(made, extent);
    parts[take_low(taken, extent).number].push_back(part);
  }
  std::vector<Digit> digits;
  for (const std::size_t digit : second.digits)
    digits.insert(digits.end(), parts[digit].rbegin(), parts[digit].rend());
  return simplified(digits);
}

}  // namespace texloom::graph
