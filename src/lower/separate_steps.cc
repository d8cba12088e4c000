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
    const ThreadAccesses accesses = accesses_in(loops, results_);
    const std::vector<Exchange> of_blocks =
        accesses.with_reads(1, [](ThreadTag tag) { return tag.block; });
    if (!of_blocks.empty()) return {loops, across_blocks(of_blocks.front())};
    for (const Exchange& each : accesses.with_reads(1, [](ThreadTag) { return true; })) {
      exchanged_.insert(each.write->buffer);
    }
    if (exchanged_.empty()) return {loops, {}};
    return {with_barriers(loops), {}};
  }

 private:
  Diagnostic across_blocks(const Exchange& exchange) const {
    const auto& [write, read, tag] = exchange;
    return {Severity::Error,
            Code::ScanAcrossBlocks,
            read->location.known() ? read->location : write->location,
            fmt::format("a step of the scan '{}' reads elements of '{}' that blocks along {} may "
                        "have computed for one another, and a step is no launch by itself",
                        results_.name, read->buffer->name, to_string(tag)),
            "bind axes of all that a step computes, or leave those that a step mixes to the "
            "threads of one block",
            {}};
  }

  // -- Barriers.

  bool writes_exchanged(const Stmt& s) const {
    bool found = false;
    const auto note = [&](const Buffer& b) { found = found || exchanged_.contains(b.get()); };
    walk(
        s, [&](const Store& n) { note(n.buffer); },
        [&](const Pointer& n) {
          if (writes(n.access)) note(n.buffer);
        });
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
};

}  // namespace

SeparatedSteps separate_steps(const Stmt& loops, const ScanResults& results) {
  return Separator(results).run(loops);
}

bool exchanges_across_blocks(const Stmt& plan, const ScanResults& results) {
  bool found = false;
  walk(plan, [&](const Nest& kernel) {
    const auto blocks = [](ThreadTag tag) { return tag.block; };
    found = found || !accesses_in(kernel.body, results).with_reads(0, blocks).empty();
  });
  return found;
}

}  // namespace texloom::lower
