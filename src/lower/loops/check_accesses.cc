#include "lower/loops/check_accesses.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "lower/loops/copy_at_once.h"
#include "lower/loops/lanes.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Identifies one axis of the accesses to a buffer at one line.
using IndexSite = std::tuple<const BufferNode*, size_t, std::string, int>;

IndexSite site_of(const Buffer& buffer, size_t axis, const SourceLocation& where) {
  return {buffer.get(), axis, where.known() ? *where.file : "", where.known() ? where.line : 0};
}

// The number of indices of an axis, including all indices of a partially filled texel.
Expr extent_of(const BufferNode& buffer, size_t axis) {
  if (buffer.is_symbolic() && !buffer.is_texture()) return buffer.extents[axis];
  return extent_with_lanes(buffer, axis);
}

// Numbers the indices of all accesses in a program, in the order in which they are made.
class IndexSites {
 public:
  explicit IndexSites(const Stmt& body) { stmt(body, {}); }

  int number(const Buffer& buffer, size_t axis, const SourceLocation& where) const {
    return numbers_.at(site_of(buffer, axis, where));
  }
  const std::vector<CheckedIndex>& all() const { return all_; }

 private:
  void stmt(const Stmt& s, const SourceLocation& outer) {
    const SourceLocation& where = s->location.known() ? s->location : outer;
    for_each_child(
        s, [&](const Expr& e) { expr(e, where); }, [&](const Stmt& child) { stmt(child, where); });
    if (const auto* n = as<Store>(s)) add(n->buffer, where);
  }

  void expr(const Expr& e, const SourceLocation& outer) {
    for_each_child(e, [&](const Expr& child) { expr(child, outer); });
    const auto* n = as<Load>(e);
    if (n != nullptr) add(n->buffer, n->location.known() ? n->location : outer);
  }

  void add(const Buffer& buffer, const SourceLocation& where) {
    for (size_t axis = 0; axis < buffer->rank(); ++axis) {
      const auto number = static_cast<int>(all_.size());
      if (!numbers_.try_emplace(site_of(buffer, axis, where), number).second) continue;
      all_.push_back({buffer->name, axis, extent_of(*buffer, axis), where});
    }
  }

  std::vector<CheckedIndex> all_;
  std::map<IndexSite, int> numbers_;
};

int lanes_of(const Exprs& list) {
  int lanes = 1;
  for (const Expr& e : list) lanes = std::max<int>(lanes, e->type.lanes);
  return lanes;
}

// The facts that hold where an expression is evaluated.
struct Path {
  arith::Ranges ranges;  // of the statement
  Exprs conditions;      // also known to hold; scalars or vectors

  Path where(const Expr& condition, bool holds) const {
    Path further = *this;
    further.conditions.push_back(holds ? condition : make_not(condition));
    return further;
  }

  Expr condition_of(int lane) const {
    Expr all = make_bool(true);
    for (const Expr& condition : conditions) all = all && lane_of(condition, lane);
    return all;
  }

  arith::Ranges ranges_of(int lane) const {
    arith::Ranges known = ranges;
    for (const Expr& condition : conditions) known.assume(lane_of(condition, lane));
    return known;
  }
};

arith::Ranges inside(const Stmt& s, arith::Ranges ranges) {
  if (const auto* loop = as<For>(s)) ranges.enter(*loop);
  if (const auto* guard = as<If>(s)) ranges.assume(guard->condition);
  return ranges;
}

// The value before its conversion to the int32 of indices: the conversion could make an index far
// outside look valid.
Expr before_conversion(const Expr& index) {
  const auto* cast = as<Cast>(index);
  const bool integer = cast != nullptr && !cast->value->type.is_float();
  return integer && cast->value->type.bits >= 32 ? cast->value : index;
}

class AccessChecker {
 public:
  AccessChecker(const IndexSites& sites, Buffer report)
      : sites_(sites), report_(std::move(report)) {}

  // The statement, preceded by the tests of the expressions that it evaluates itself.
  Stmt stmt(const Stmt& s, const arith::Ranges& ranges) {
    Stmts tests;
    Stmt tested = after_tests(s, ranges, tests);
    tests.push_back(std::move(tested));
    return make_seq(std::move(tests));
  }

  bool has_tested() const { return has_tested_; }

 private:
  // Rewrites the statement; adds the tests that have to precede the result to `tests`.
  Stmt after_tests(const Stmt& s, const arith::Ranges& ranges, Stmts& tests) {
    const SourceLocation outer = location_;
    if (s->location.known()) location_ = s->location;
    const Path path{ranges, {}};
    Stmt result;
    if (const auto* store = as<Store>(s)) {
      result = this->store(*store, path, tests);
    } else if (const auto* let = as<Let>(s)) {
      result = this->let(*let, path, tests);
    } else {
      const arith::Ranges further = inside(s, ranges);
      result = map_children(
          s, [&](const Expr& e) { return expr(e, path, tests); },
          [&](const Stmt& child) { return stmt(child, further); });
    }
    location_ = outer;
    return result;
  }

  // A Let around stores stays one statement, which split_kernels gives to one thread and which
  // needs no barrier inside. Therefore only tests that use the variable go inside the Let.
  Stmt let(const Let& n, const Path& path, Stmts& tests) {
    const Expr value = expr(n.value, path, tests);
    Path further = path;
    further.ranges.enter(n);
    Stmts of_body;
    const auto* stored = as<Seq>(n.body);
    Stmt body = stored != nullptr && are_stores(*stored)
                    ? stores(*stored, further, of_body)
                    : after_tests(n.body, further.ranges, of_body);
    const auto inner = std::stable_partition(
        of_body.begin(), of_body.end(), [&](const Stmt& test) { return !uses_var(test, n.var); });
    std::move(of_body.begin(), inner, std::back_inserter(tests));
    of_body.erase(of_body.begin(), inner);
    const auto* guard = as<If>(body);
    if (of_body.empty() && guard != nullptr && !uses_var(guard->condition, n.var)) {
      return make_if(guard->condition, make_let(n.var, value, guard->then, n.location), n.location);
    }
    of_body.push_back(std::move(body));
    return make_let(n.var, value, make_seq(std::move(of_body)), n.location);
  }

  static bool are_stores(const Seq& seq) {
    return std::all_of(seq.statements.begin(), seq.statements.end(),
                       [](const Stmt& s) { return as<Store>(s) != nullptr; });
  }

  // Makes all of the stores, or none if one of them would be out of bounds.
  Stmt stores(const Seq& seq, const Path& path, Stmts& tests) {
    Expr all = make_bool(true);
    Stmts stored;
    for (const Stmt& s : seq.statements) {
      const Stmt tested = after_tests(s, path.ranges, tests);
      const auto* guard = as<If>(tested);
      if (guard != nullptr) all = all && guard->condition;
      stored.push_back(guard != nullptr ? guard->then : tested);
    }
    return make_if(all, make_seq(std::move(stored)));
  }

  Stmt store(const Store& n, const Path& path, Stmts& tests) {
    const Exprs indices = exprs(n.indices, path, tests);
    const Expr value = expr(n.value, path, tests);
    const Exprs safe = test(n.buffer, indices, location_, path, tests);
    Expr all = make_bool(true);
    for (const Expr& lane : safe) all = all && lane;
    return make_if(all, make_store(n.buffer, indices, value, n.location), n.location);
  }

  // The tests of an expression precede the expression.
  Expr expr(const Expr& e, const Path& path, Stmts& tests) {
    if (const auto* n = as<Load>(e)) return load(*n, path, tests);
    if (const auto* n = as<Select>(e)) {
      const Expr condition = expr(n->condition, path, tests);
      const Expr if_true = expr(n->if_true, path.where(condition, true), tests);
      const Expr if_false = expr(n->if_false, path.where(condition, false), tests);
      return make_select(condition, if_true, if_false, n->location);
    }
    const auto* n = as<Binary>(e);
    if (n != nullptr && is_logical(n->op)) {
      const Expr a = expr(n->a, path, tests);
      const Expr b = expr(n->b, path.where(a, n->op == BinaryOp::And), tests);
      return make_binary(n->op, a, b, n->location);
    }
    return map_children(e, [&](const Expr& child) { return expr(child, path, tests); });
  }
  Exprs exprs(const Exprs& list, const Path& path, Stmts& tests) {
    Exprs result;
    for (const Expr& e : list) result.push_back(expr(e, path, tests));
    return result;
  }

  Expr load(const Load& n, const Path& path, Stmts& tests) {
    const Exprs indices = exprs(n.indices, path, tests);
    const SourceLocation& where = n.location.known() ? n.location : location_;
    const Exprs safe = test(n.buffer, indices, where, path, tests);
    const Expr value = make_load_as(n.type, n.buffer, indices, n.location);
    if (safe.empty()) return value;
    const Expr condition = safe.size() == 1 ? safe.front() : make_pack(safe);
    return make_select(condition, value, make_const(0, n.type), n.location);
  }

  // Adds the statements that report lanes outside the buffer. Returns, for each lane, the condition
  // that the lane is inside; empty if all lanes are known to be inside. The enclosing conditions
  // may be vectors even if the access is scalar.
  Exprs test(const Buffer& buffer, const Exprs& indices, const SourceLocation& where,
             const Path& path, Stmts& tests) {
    std::vector<bool> tested(indices.size());
    const int lanes = std::max(lanes_of(indices), lanes_of(path.conditions));
    for (int lane = 0; lane < lanes; ++lane) {
      const Expr reached = path.condition_of(lane);
      const arith::Ranges ranges = path.ranges_of(lane);
      for (size_t axis = 0; axis < indices.size(); ++axis) {
        const Expr index = lane_of(before_conversion(indices[axis]), lane);
        const Expr holds = is_inside(index, *buffer, axis);
        if (arith::prove(holds, ranges)) continue;
        tested[axis] = true;
        const Expr number = make_int(sites_.number(buffer, axis, where));
        const Stmt report = make_store(report_, {number}, make_cast(kInt64, index), where);
        tests.push_back(make_if(reached && make_not(holds), report, where));
      }
    }
    if (std::find(tested.begin(), tested.end(), true) == tested.end()) return {};
    has_tested_ = true;
    Exprs safe(static_cast<size_t>(lanes_of(indices)), make_bool(true));
    for (size_t lane = 0; lane < safe.size(); ++lane) {
      for (size_t axis = 0; axis < indices.size(); ++axis) {
        const Expr index = lane_of(before_conversion(indices[axis]), static_cast<int>(lane));
        if (tested[axis]) safe[lane] = safe[lane] && is_inside(index, *buffer, axis);
      }
    }
    return safe;
  }

  static Expr is_inside(const Expr& index, const BufferNode& buffer, size_t axis) {
    return index >= make_int(0, index->type) &&
           index < make_cast(index->type, extent_of(buffer, axis));
  }

  const IndexSites& sites_;
  Buffer report_;
  SourceLocation location_;  // of the statement
  bool has_tested_ = false;
};

}  // namespace

void check_accesses(Lowering& lowering) {
  if (!lowering.target.checked) return;
  Program& program = lowering.program;
  const IndexSites sites(program.body);
  const auto count = static_cast<int64_t>(sites.all().size());
  const Buffer report = make_buffer("bad_indices", kInt64, {std::max<int64_t>(count, 1)},
                                    MemoryScope::Global, lowering.location);
  AccessChecker checker(sites, report);
  program.body = checker.stmt(program.body, {});
  if (!checker.has_tested()) return;
  // The tests of a group of copies are no copies.
  program.body = copy_at_once(program.body);
  program.params.push_back(report);
  lowering.checks = sites.all();
}

}  // namespace texloom::lower
