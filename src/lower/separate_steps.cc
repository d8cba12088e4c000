#include "lower/separate_steps.h"

#include <algorithm>
#include <unordered_set>

#include "ir/visit.h"
#include "lower/thread_accesses.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

ThreadAccesses accesses_in(const Stmt& loops, const ScanResults& results) {
  const auto is_result = [&](const Buffer& b) {
    return std::any_of(results.buffers.begin(), results.buffers.end(),
                       [&](const Buffer& own) { return own.same_as(b); });
  };
  return {loops, is_result, results.ranges};
}

class Separator {
 public:
  explicit Separator(const ScanResults& results) : results_(results) {}

  SeparatedSteps run(const Stmt& loops) {
    // The first axis counts the steps.
    accesses_in(loops, results_)
        .for_each_exchange(1, [&](const auto& write, const auto& read, ThreadTag tag) {
          exchanged_.insert(write.buffer);
          if (tag.block && !across_blocks_) across_blocks_ = across_blocks(write, read, tag);
        });
    if (across_blocks_ || exchanged_.empty()) return {loops, across_blocks_};
    return {with_barriers(loops), {}};
  }

 private:
  Diagnostic across_blocks(const ThreadAccess& write, const ThreadAccess& read,
                           ThreadTag tag) const {
    return {Severity::Error,
            Code::ScanAcrossBlocks,
            read.location.known() ? read.location : write.location,
            fmt::format("a step of the scan '{}' reads elements of '{}' that blocks along {} may "
                        "have computed for one another, and a step is no launch by itself",
                        results_.name, read.buffer->name, to_string(tag)),
            "bind axes of all that a step computes, or leave those that a step mixes to the "
            "threads of one block",
            {}};
  }

  // -- Barriers.

  bool writes_exchanged(const Stmt& s) const {
    bool found = false;
    walk(s, [&](const Store& n) { found = found || exchanged_.contains(n.buffer.get()); });
    return found;
  }

  // Between the stages of a step: all threads of the block come there.
  Stmt with_barriers(const Stmt& s) const {
    if (const auto* n = as<Allocate>(s)) {
      return make_allocate(n->buffer, with_barriers(n->body), n->location);
    }
    if (const auto* n = as<For>(s); n != nullptr && n->var.same_as(results_.step)) {
      return make_for(n->var, n->extent, n->loop, with_barriers(n->body), n->location);
    }
    if (const auto* n = as<Seq>(s)) {
      Stmts statements;
      for (const Stmt& each : n->statements) statements.push_back(with_barriers(each));
      return make_seq(std::move(statements));
    }
    return writes_exchanged(s) ? make_seq({s, make_barrier(s->location)}) : s;
  }

  const ScanResults& results_;
  std::unordered_set<const BufferNode*> exchanged_;  // among threads
  std::optional<Diagnostic> across_blocks_;
};

}  // namespace

SeparatedSteps separate_steps(const Stmt& loops, const ScanResults& results) {
  return Separator(results).run(loops);
}

bool exchanges_across_blocks(const Stmt& plan, const ScanResults& results) {
  bool found = false;
  walk(plan, [&](const Nest& kernel) {
    accesses_in(kernel.body, results)
        .for_each_exchange(
            0, [&](const auto&, const auto&, ThreadTag tag) { found = found || tag.block; });
  });
  return found;
}

}  // namespace texloom::lower
