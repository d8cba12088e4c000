#include "lower/kernels/partition_loops.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ir/analysis/code_size.h"
#include "ir/analysis/limits.h"
#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "lower/kernels/index_conditions.h"
#include "lower/kernels/kernel_buffers.h"
#include "lower/loops/simplify_program.h"
#include "support/floor_division.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using arith::Interval;
using arith::Ranges;

namespace {

constexpr int64_t kMaxAddedStores = 256;  // in one kernel
constexpr int64_t kMaxStoresForATest = 4;
constexpr int64_t kMaxPieces = 5;  // per loop

// Whether this is a quotient or a remainder by a positive constant.
bool is_division_by_constant(const Binary& n) {
  const int64_t* divisor = int_value(n.b);
  return (n.op == BinaryOp::FloorDiv || n.op == BinaryOp::FloorMod) && divisor != nullptr &&
         *divisor > 0 && arith::is_index_type(n.type);
}

bool divides_by_constants(const Stmt& s) {
  return any_of(s, [](const Binary& n) { return is_division_by_constant(n); });
}

// The iterations at which a loop is cut: each begins a piece.
using Points = std::set<int64_t>;

// The iterations up to `extent` at which floor((factor * i + offset) / divisor) changes. nullopt if
// there are too many.
std::optional<Points> steps(int64_t factor, int64_t offset, int64_t divisor, int64_t extent) {
  for (const int64_t number : {factor, offset, divisor, extent}) {
    if (number != static_cast<int32_t>(number)) return std::nullopt;  // keeps products exact
  }
  const auto quotient = [&](int64_t i) { return floor_div(factor * i + offset, divisor); };
  const int64_t first = std::min(quotient(0), quotient(extent - 1));
  const int64_t last = std::max(quotient(0), quotient(extent - 1));
  if (last - first >= kMaxPieces) return std::nullopt;
  Points points;
  for (int64_t q = first + 1; q <= last; ++q) {
    const Interval beyond = arith::quotient_range({q * divisor - offset, Interval::kNone}, factor);
    points.insert(factor > 0 ? beyond.min : beyond.max + 1);
  }
  return points;
}

// The number of integers in a bounded interval.
int64_t size(Interval i) { return std::max<int64_t>(i.max - i.min + 1, 0); }

class Partitioner {
 public:
  Partitioner(const Kernel& kernel, const Target& target)
      : axes_(kernel.axes),
        conditional_barriers_(target.quirks.conditional_barriers),
        has_barriers_(contains<Barrier>(kernel.body)) {
    known_ = ranges_of_params(kernel);
    for (const ThreadAxis& axis : axes_) known_.enter(axis.var, axis.extent);
    everywhere_ = known_;
    walk(kernel.body, [&](const For& loop) { everywhere_.enter_also(loop); });
    divides_by_constants_ = divides_by_constants(kernel.body);
  }

  // Partitions statements outside all serial loops.
  Stmt outside_loops(const Stmt& s) {
    if (const auto* n = as<Allocate>(s)) {
      return make_allocate(n->buffer, outside_loops(n->body), n->location);
    }
    const auto* seq = as<Seq>(s);
    const Stmts statements = seq != nullptr ? seq->statements : Stmts{s};
    Stmts result, run;
    const auto end_run = [&] {
      if (!run.empty()) result.push_back(versioned(make_seq(std::exchange(run, {}))));
    };
    for (const Stmt& each : statements) {
      if (as<Allocate>(each) != nullptr) {
        end_run();
        result.push_back(outside_loops(each));
      } else if (const auto* last = as<LastBlock>(each)) {
        // A copy of it would be under a condition.
        end_run();
        result.push_back(make_last_block(last->counters, last->index, last->count, last->flag,
                                         outside_loops(last->body), last->location));
      } else if (const IndexConditions tests(each); interior_blocks(tests.all()).empty()) {
        end_run();
        result.push_back(cut(each, tests, known_));
      } else {
        run.push_back(each);
      }
    }
    end_run();
    return make_seq(std::move(result));
  }

 private:
  struct Limit {
    Expr var;
    int64_t extent;
    Interval interior;
  };

  // -- Blocks of the grid.

  // The interior along each blockIdx: the values for which all tests hold, counting only tests that
  // hold for most values. Leaves out axes without such tests.
  std::vector<Limit> interior_blocks(std::span<const IndexCondition> tests) const {
    std::vector<Limit> limits;
    for (const ThreadAxis& axis : axes_) {
      const int64_t* extent = int_value(axis.extent);
      if (!axis.tag.block || extent == nullptr) continue;
      const Interval interior = interior_of(axis.var, *extent, tests);
      if (size(interior) < *extent) limits.push_back({axis.var, *extent, interior});
    }
    return limits;
  }

  // Whether more than half of the blocks are in the interior.
  static bool are_most(const std::vector<Limit>& limits) {
    double share = 1;
    for (const Limit& l : limits) share *= double(size(l.interior)) / double(l.extent);
    return share > 0.5;
  }

  Stmt versioned(const Stmt& s) {
    const IndexConditions tests(s);
    const std::vector<Limit> limits = interior_blocks(tests.all());
    const bool repeated = as<For>(s) != nullptr || as<Seq>(s) != nullptr;
    if (limits.empty() || !repeated || !are_most(limits) || !pays(s, tests) ||
        !may_be_conditional(s) || !take(count_stores(s))) {
      return cut(s, tests, known_);
    }
    Expr interior = make_bool(true);
    for (const Limit& l : limits) {
      if (l.interior.min > 0) interior = interior && l.var >= make_int(l.interior.min, l.var->type);
      if (l.interior.max < l.extent - 1) {
        interior = interior && l.var < make_int(l.interior.max + 1, l.var->type);
      }
    }
    Ranges inside = known_;
    inside.assume(interior);
    const Stmt without_tests = simplified(s, inside);
    return make_seq(
        {make_if(interior, cut(without_tests, IndexConditions(without_tests), inside), s->location),
         make_if(make_not(interior), s, s->location)});
  }

  // Whether the target allows the statement under a guard on which all threads of a block agree.
  // Targets that forbid barriers under a guard also forbid loops under it, in kernels with barriers
  // (Quirks::conditional_barriers).
  bool may_be_conditional(const Stmt& s) const {
    return conditional_barriers_ || !has_barriers_ || !(contains<Barrier>(s) || contains<For>(s));
  }

  // Whether the copied statements contain enough tests to make a copy worthwhile.
  static bool pays(const Stmt& s, const IndexConditions& tests) {
    return count_stores(s) <= kMaxStoresForATest * static_cast<int64_t>(tests.all().size());
  }

  // -- Serial loops.

  // `tests` are the tests of the statement or of an enclosing statement.
  Stmt cut(const Stmt& s, const IndexConditions& tests, const Ranges& known) {
    if (tests.all().empty() && !divides_by_constants_) return s;
    const auto* loop = as<For>(s);
    const int64_t* extent = loop == nullptr ? nullptr : int_value(loop->extent);
    if (extent == nullptr || *extent < 2) return inner_loops(s, tests, known);
    const Interval interior = interior_of(loop->var, *extent, tests.inside(*loop));
    Points points{0, interior.min, interior.max + 1, *extent};
    const Points changes = division_steps(*loop, *extent);
    if (points.size() + changes.size() - 1 <= kMaxPieces) {
      points.insert(changes.begin(), changes.end());
    }
    const auto pieces = static_cast<int64_t>(points.size()) - 1;
    if (pieces == 1 || !take((pieces - 1) * count_stores(loop->body))) {
      return inner_loops(s, tests, known);
    }
    Stmts result;
    for (auto begin = points.begin(), end = std::next(begin); end != points.end(); ++begin, ++end) {
      result.push_back(piece(*loop, {*begin, *end - 1}, known));
    }
    return make_seq(std::move(result));
  }

  // The iterations at which a quotient of only the loop's variable changes, as at the folds of a
  // texture. Leaves out quotients that change often.
  Points division_steps(const For& loop, int64_t extent) const {
    Points points;
    if (!divides_by_constants_) return points;
    walk(loop.body, [&](const Binary& n) {
      if (!is_division_by_constant(n) || !uses_var(n.a, loop.var)) return;
      const arith::LinearSum sum = arith::linear_sum(n.a, {});
      const bool alone = sum.terms.size() == 1 && sum.terms.front().atom.same_as(loop.var);
      if (!alone) return;
      const auto more = steps(sum.terms.front().coefficient, sum.constant, *int_value(n.b), extent);
      if (more) points.insert(more->begin(), more->end());
    });
    return points;
  }

  Stmt inner_loops(const Stmt& s, const IndexConditions& tests, const Ranges& known) {
    Ranges inside = known;
    if (const auto* loop = as<For>(s)) inside.enter(*loop);
    if (const auto* guard = as<If>(s)) inside.assume(guard->condition);
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return cut(child, tests, inside); });
  }

  // The loop over the iterations in the interval, without the tests that are decided in this
  // interval.
  Stmt piece(const For& loop, Interval iterations, const Ranges& known) {
    const Stmt body = iterations.min == 0
                          ? loop.body
                          : substitute(loop.body, {{loop.var, loop.var + iterations.min}});
    const Stmt result = simplified(make_for(loop.var, make_int(size(iterations), loop.extent->type),
                                            loop.loop, body, loop.location),
                                   known);
    const IndexConditions tests(result);
    const auto* shorter = as<For>(result);
    const bool same_loop = shorter != nullptr && shorter->var.same_as(loop.var);
    return same_loop ? inner_loops(result, tests, known) : cut(result, tests, known);
  }

  // -- Blocks and serial loops.

  // The part of 0 to extent - 1 in which all tests hold, counting only tests that hold in more than
  // half of these values. Returns all values if the part is at most half of them.
  Interval interior_of(const Expr& var, int64_t extent,
                       std::span<const IndexCondition> tests) const {
    const Interval all{0, extent - 1};
    Interval interior = all;
    for (const IndexCondition& test : tests) {
      const Interval certain = meet(where_certain(test, var, everywhere_), all);
      if (size(certain) > extent / 2) interior = meet(interior, certain);
    }
    return size(interior) > extent / 2 ? interior : all;
  }

  bool take(int64_t stores) {
    if (added_ + stores > kMaxAddedStores) return false;
    added_ += stores;
    return true;
  }

  const std::vector<ThreadAxis>& axes_;
  bool conditional_barriers_;
  bool has_barriers_;
  Ranges known_;       // the facts outside all loops
  Ranges everywhere_;  // the ranges of all loops of the kernel
  bool divides_by_constants_ = false;
  int64_t added_ = 0;
};

}  // namespace

void partition_loops(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    Kernel partitioned = kernel;
    partitioned.body = Partitioner(kernel, lowering.target).outside_loops(kernel.body);
    update_access(partitioned);  // some accesses are gone with the tests
    // Each copy has its own arrays, which may exceed the limits.
    if (exceeded_limits(partitioned, lowering.target).empty()) kernel = std::move(partitioned);
  }
}

}  // namespace texloom::lower
