#include "lower/separate_steps.h"

#include <algorithm>
#include <unordered_set>

#include "ir/visit.h"
#include "lower/thread_accesses.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

class Separator {
 public:
  Separator(const Stmt& loops, const ScanResults& results)
      : results_(results),
        accesses_(loops, [&](const Buffer& b) { return is_result(b); }, results.ranges) {}

  SeparatedSteps run(const Stmt& loops) {
    for (const ThreadAccess& write : accesses_.writes()) {
      for (const ThreadAccess& read : accesses_.reads()) {
        if (read.buffer == write.buffer) check(write, read);
      }
    }
    if (across_blocks_ || exchanged_.empty()) return {loops, across_blocks_};
    return {with_barriers(loops), {}};
  }

 private:
  bool is_result(const Buffer& b) const {
    return std::any_of(results_.buffers.begin(), results_.buffers.end(),
                       [&](const Buffer& own) { return own.same_as(b); });
  }

  // The first axis counts the steps.
  void check(const ThreadAccess& write, const ThreadAccess& read) {
    for (const ThreadTag tag : accesses_.tags_apart(write, read, 1)) {
      exchanged_.insert(write.buffer);
      if (tag.block && !across_blocks_) across_blocks_ = across_blocks(write, read, tag);
    }
  }

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
  ThreadAccesses accesses_;
  std::unordered_set<const BufferNode*> exchanged_;  // among threads
  std::optional<Diagnostic> across_blocks_;
};

}  // namespace

SeparatedSteps separate_steps(const Stmt& loops, const ScanResults& results) {
  return Separator(loops, results).run(loops);
}

bool exchanges_across_blocks(const Stmt& plan, const ScanResults& results) {
  const auto is_result = [&](const Buffer& b) {
    return std::any_of(results.buffers.begin(), results.buffers.end(),
                       [&](const Buffer& own) { return own.same_as(b); });
  };
  bool found = false;
  walk(plan, [&](const Nest& kernel) {
    const ThreadAccesses accesses(kernel.body, is_result, results.ranges);
    for (const ThreadAccess& write : accesses.writes()) {
      for (const ThreadAccess& read : accesses.reads()) {
        if (read.buffer != write.buffer) continue;
        const std::vector<ThreadTag> apart = accesses.tags_apart(write, read, 0);
        found = found ||
                std::any_of(apart.begin(), apart.end(), [](ThreadTag tag) { return tag.block; });
      }
    }
  });
  return found;
}

}  // namespace texloom::lower
