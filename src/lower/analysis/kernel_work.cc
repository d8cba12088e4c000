#include "lower/analysis/kernel_work.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/accesses.h"
#include "ir/analysis/fragments.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {
namespace {

using ir::as;
using ir::Expr;
using ir::Stmt;

struct SameStructure {
  std::size_t operator()(const Expr& e) const { return structural_hash(e); }
  bool operator()(const Expr& a, const Expr& b) const { return equal(a, b); }
};

// A loop of a thread, or the whole kernel.
struct Loop {
  double runs = 1;  // how often a thread runs the body
  // What was counted, because it changes with this loop, but with no inner one: expressions as
  // nodes, and the structures of operations and reads.
  std::unordered_set<const void*> counted = {};
  std::unordered_set<Expr, SameStructure, SameStructure> structures = {};
  double waits = 0;  // how often an iteration waits for global memory, at most once
};

// When a value changes: in which of the enclosing loops, by depth, and also within an iteration if
// it is not fixed.
struct Change {
  std::size_t depth = 0;
  bool is_fixed = true;

  void also(const Change& other) {
    depth = std::max(depth, other.depth);
    is_fixed = is_fixed && other.is_fixed;
  }
};

class Worker {
 public:
  explicit Worker(const ir::Kernel& kernel)
      : shares_fragments_(ir::has_fragment_steps(kernel.body)), loops_(1) {
    for (const ir::Expr& extent : kernel.grid) work_.blocks *= number(extent);
    for (const int64_t extent : kernel.block) work_.block_threads *= static_cast<double>(extent);
    for (const ir::ThreadAxis& axis : kernel.axes) changes_[axis.var.get()] = {};
    for (const ir::KernelParam& param : kernel.params) {
      if (param.buffer && param.access == ir::Access::Read) only_read_.insert(param.buffer.get());
    }
    work_.turns = stmt(kernel.body) + loops_.front().waits;
  }

  std::optional<KernelWork> work() {
    if (!is_known_) return std::nullopt;
    const double threads = work_.blocks * work_.block_threads;
    for (double* each : {&work_.operations, &work_.fragment_products, &work_.buffer_bytes,
                         &work_.texture_bytes, &work_.shared_bytes})
      *each *= threads;
    for (const auto& [buffer, bytes] : touched_)
      work_.distinct_bytes += std::min(bytes * threads, bytes_of(*buffer));
    return work_;
  }

 private:
  double number(const Expr& e) {
    const int64_t* value = int_value(e);
    if (value == nullptr) is_known_ = false;
    return value == nullptr ? 1 : static_cast<double>(*value);
  }

  static double bytes_of(const ir::BufferNode& buffer) {
    const ir::Layout& layout = buffer.layout;
    return static_cast<double>(layout.row_count() * layout.col_count() * layout.lane_count() *
                               buffer.type.bytes());
  }

  std::size_t depth() const { return loops_.size() - 1; }

  // In which loop a value is computed.
  Loop& loop_of(const Change& change) {
    return change.is_fixed ? loops_[std::max(change.depth, outermost_)] : loops_.back();
  }

  // Counts a statement; returns how often it waits in loops within it.
  double stmt(const Stmt& s) {
    if (as<ir::While>(s) != nullptr) is_known_ = false;
    if (const auto* loop = as<ir::For>(s)) return loop_turns(*loop);
    if (const auto* copies = as<ir::AsyncCopies>(s)) return begin(*copies);
    if (const auto* copies = as<ir::AwaitCopies>(s)) wait(1.0 / (copies->pending + 1));
    if (const auto* step = as<ir::FragmentStep>(s)) return fragment_step(*step);
    if (const auto* last = as<ir::LastBlock>(s)) return in_last_block(*last);
    if (const auto* let = as<ir::Let>(s)) {
      Change change = expr(let->value);
      if (!change.is_fixed) change = {depth(), true};
      changes_[let->var.get()] = change;
      return stmt(let->body);
    }
    if (const auto* allocated = as<ir::Allocate>(s)) allocate(*allocated->buffer);
    for_each_child(s, [&](const Expr& e) { expr(e); }, [](const Stmt&) {});
    see_access(s, [&](const ir::BufferAccess& access) { move(access, {depth(), false}, nullptr); });
    double turns = 0;
    for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { turns += stmt(child); });
    return turns;
  }

  double loop_turns(const ir::For& loop) {
    const double extent = number(loop.extent);
    loops_.push_back({.runs = loops_.back().runs * extent});
    changes_[loop.var.get()] = {depth(), true};
    const double inner = stmt(loop.body);
    const double waits = loops_.back().waits;
    loops_.pop_back();
    if (loop.loop != ir::LoopKind::Unrolled) return extent * (inner + waits);
    wait(waits);
    return extent * inner;
  }

  void wait(double times) { loops_.back().waits = std::max(loops_.back().waits, times); }

  // The copies of a group are read without waiting: an AwaitCopies waits for them.
  double begin(const ir::AsyncCopies& copies) {
    const double before = loops_.back().waits;
    stmt(copies.body);
    loops_.back().waits = before;
    return 0;
  }

  // All threads of a SIMD-group share a step.
  double fragment_step(const ir::FragmentStep& step) {
    const double runs = loops_.back().runs / ir::kFragmentThreads;
    if (step.op == ir::FragmentOp::Mma)
      work_.fragment_products += runs * ir::kFragmentElements * ir::kFragmentSide;
    for (const Expr& operand : step.operands) {
      const auto* part = as<ir::Pointer>(operand);
      if (part == nullptr) {
        expr(operand);
        continue;
      }
      for (const Expr& index : part->indices) expr(index);
      const auto bytes = static_cast<double>(ir::kFragmentElements * part->buffer->type.bytes());
      if (!is_private(part->buffer->memory))
        count(*part->buffer, runs * bytes, loops_.back(), reads(part->access));
    }
    return 0;
  }

  // One block of each group runs the body, and computes nothing of it before.
  double in_last_block(const ir::LastBlock& last) {
    expr(last.index);
    loops_.push_back({.runs = loops_.back().runs / number(last.count)});
    const std::size_t outside = std::exchange(outermost_, depth());
    const double turns = stmt(last.body) + loops_.back().waits;
    outermost_ = outside;
    loops_.pop_back();
    return turns;
  }

  void allocate(const ir::BufferNode& buffer) {
    const double bytes = bytes_of(buffer);
    if (buffer.memory == ir::MemoryScope::Local) work_.registers += bytes / 4;
    if (buffer.memory == ir::MemoryScope::Fragment && shares_fragments_)
      work_.registers += bytes / 4 / ir::kFragmentThreads;
    if (buffer.memory == ir::MemoryScope::Shared) work_.block_shared_bytes += bytes;
  }

  // Counts an expression; returns when it changes.
  Change expr(const Expr& e) {
    if (const auto found = changes_.find(e.get()); found != changes_.end()) return found->second;
    for (std::size_t at = 0; at < loops_.size(); ++at) {
      if (loops_[at].counted.count(e.get()) != 0) return {at, true};
    }
    Change change;
    for_each_child(e, [&](const Expr& child) { change.also(expr(child)); });
    if (as<ir::ForeignCall>(e) != nullptr) is_known_ = false;
    see_access(e, [&](const ir::BufferAccess& access) {
      if (only_read_.count(access.buffer.get()) == 0) change.is_fixed = false;
      move(access, change, &e);
    });
    Loop& loop = loop_of(change);
    if (is_operation(e) && !(change.is_fixed && is_known(loop, e)))
      work_.operations += loop.runs * e->type.lanes;
    if (change.is_fixed) loop.counted.insert(e.get());
    return change;
  }

  // Whether an equal operation or read was counted for this loop; remembers it.
  static bool is_known(Loop& loop, const Expr& e) { return !loop.structures.insert(e).second; }

  static bool is_operation(const Expr& e) {
    const auto* binary = as<ir::Binary>(e);
    const bool has_name = binary != nullptr || as<ir::Fma>(e) != nullptr ||
                          as<ir::Call>(e) != nullptr || as<ir::Select>(e) != nullptr;
    return has_name && e->type.is_float();
  }

  // Counts an access; `value` is what is read, null for a write.
  void move(const ir::BufferAccess& access, const Change& change, const Expr* value) {
    if (access.foreign) is_known_ = false;
    if (is_private(access.buffer->memory)) return;
    Loop& loop = loop_of(change);
    if (change.is_fixed && value != nullptr && is_known(loop, *value)) return;
    const auto bytes = static_cast<double>(access.type.lanes * access.buffer->type.bytes());
    count(*access.buffer, loop.runs * bytes, loop, value != nullptr);
  }

  // Counts bytes of shared or global memory that are read or written in a loop.
  void count(const ir::BufferNode& buffer, double bytes, Loop& loop, bool is_read) {
    if (buffer.memory == ir::MemoryScope::Shared) {
      work_.shared_bytes += bytes;
      return;
    }
    if (is_read) loop.waits = 1;
    (buffer.is_texture() ? work_.texture_bytes : work_.buffer_bytes) += bytes;
    touched_[&buffer] += bytes;
  }

  KernelWork work_;
  bool is_known_ = true;
  bool shares_fragments_;      // whether SIMD-groups hold fragments together
  std::vector<Loop> loops_;    // the outermost is the whole kernel
  std::size_t outermost_ = 0;  // the depth of the outermost loop in which values are computed now
  std::unordered_map<const void*, Change> changes_;  // of variables
  std::unordered_set<const ir::BufferNode*> only_read_;
  std::unordered_map<const ir::BufferNode*, double> touched_;  // bytes of a thread
};

}  // namespace

std::optional<KernelWork> work_of(const ir::Kernel& kernel) { return Worker(kernel).work(); }

std::vector<KernelWork> work_of(const ir::Program& program) {
  std::vector<KernelWork> list;
  for (const ir::Kernel& kernel : program.kernels) {
    const auto work = work_of(kernel);
    if (!work) return {};
    list.push_back(*work);
  }
  return list;
}

}  // namespace texloom::lower
