#include "lower/barriers/own_elements.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "ir/accesses.h"
#include "ir/arith/interval.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The limit on accesses that replace one access whose indices contain conditions.
constexpr size_t kMostPlaces = 32;

struct ElementAccess {
  const BufferNode* buffer = nullptr;
  bool writes = false;
  Exprs indices;
};

bool reads_any(const Expr& e, const std::unordered_set<const BufferNode*>& buffers) {
  bool found = false;
  walk(e, [&](const Load& n) { found = found || buffers.contains(n.buffer.get()); });
  return found;
}

// Assumes the parts of a conjunction that come before the first read of these buffers. Threads for
// which one of these parts is false do not evaluate the others. Returns whether no part reads the
// buffers.
bool assume_first_parts(arith::Ranges& ranges, const Expr& condition,
                        const std::unordered_set<const BufferNode*>& buffers) {
  const auto* both = as<Binary>(condition);
  if (both != nullptr && both->op == BinaryOp::And) {
    return assume_first_parts(ranges, both->a, buffers) &&
           assume_first_parts(ranges, both->b, buffers);
  }
  if (reads_any(condition, buffers)) return false;
  ranges.assume(condition);
  return true;
}

// The condition of a Select in the indices; null if there is none.
Expr condition_in(const Exprs& indices) {
  Expr found;
  for (const Expr& index : indices) {
    walk(index, [&](const Select& n) {
      if (!found) found = n.condition;
    });
  }
  return found;
}

Exprs decided(const Exprs& indices, const Expr& condition, bool holds) {
  Exprs result;
  for (const Expr& index : indices) {
    result.push_back(rewrite(index, [&](const Select& n, const Expr& self) {
      if (!equal(n.condition, condition)) return self;
      return holds ? n.if_true : n.if_false;
    }));
  }
  return result;
}

// Adds an access for each combination of conditions in the indices. Returns false if there are more
// than kMostPlaces combinations.
bool add_places(std::vector<ElementAccess>& accesses, const ElementAccess& access) {
  std::vector<Exprs> undecided{access.indices};
  for (size_t places = 1; !undecided.empty();) {
    const Exprs indices = std::move(undecided.back());
    undecided.pop_back();
    const Expr condition = condition_in(indices);
    if (!condition) {
      accesses.push_back({access.buffer, access.writes, indices});
      continue;
    }
    if (++places > kMostPlaces) return false;
    for (const bool holds : {false, true}) undecided.push_back(decided(indices, condition, holds));
  }
  return true;
}

}  // namespace

bool keep_to_own_elements(const Stmt& s, const std::unordered_set<const BufferNode*>& buffers,
                          const Exprs& threads, const EqualIndices::Variables& varying,
                          const arith::Ranges& outside) {
  arith::Ranges ranges = outside;
  if (const auto* guard = as<If>(s)) assume_first_parts(ranges, guard->condition, buffers);
  std::vector<ElementAccess> accesses;
  bool known = true;
  for_each_access(s, [&](const BufferAccess& n) {
    if (!buffers.contains(n.buffer.get())) return;
    const Exprs indices(n.indices.begin(), n.indices.end());
    known = known && !n.foreign && add_places(accesses, {n.buffer.get(), n.writes(), indices});
  });
  if (!known) return false;
  // The conditions may leave one thread along an axis.
  Exprs several;
  std::copy_if(threads.begin(), threads.end(), std::back_inserter(several),
               [&](const Expr& thread) { return !arith::bounds(thread, ranges).is_point(); });
  // Variables of loops inside the statement may have different values whenever two threads access
  // an element.
  EqualIndices::Variables variables = varying;
  for (const Expr& thread : several) variables.insert(thread.get());
  walk(
      s, [&](const For& n) { variables.insert(n.var.get()); },
      [&](const Let& n) { variables.insert(n.var.get()); });
  const auto keep_apart = [&](const ElementAccess& write, const ElementAccess& other) {
    if (write.buffer != other.buffer) return true;
    const EqualIndices met(write.indices, other.indices, variables, ranges);
    return met.never() || std::all_of(several.begin(), several.end(),
                                      [&](const Expr& thread) { return met.holds(thread); });
  };
  return std::all_of(accesses.begin(), accesses.end(), [&](const ElementAccess& write) {
    return !write.writes ||
           std::all_of(accesses.begin(), accesses.end(),
                       [&](const ElementAccess& other) { return keep_apart(write, other); });
  });
}

}  // namespace texloom::lower
