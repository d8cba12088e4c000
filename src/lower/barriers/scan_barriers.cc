#include "lower/barriers/scan_barriers.h"

#include <algorithm>
#include <unordered_set>

#include "ir/accesses.h"
#include "ir/visit.h"
#include "lower/barriers/thread_accesses.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

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

  ScanWithBarriers run(const Stmt& loops) {
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
            fmt::format("a step of the scan '{}' reads elements of '{}' that other blocks along {} "
                        "may have computed, but all steps run in one launch",
                        results_.name, read->buffer->name, to_string(tag)),
            "bind axes of all stages of a step, or bind the axes that a step mixes to threads of "
            "one block",
            {}};
  }

  // -- Barriers.

  bool writes_exchanged(const Stmt& s) const {
    return any_access(s, [&](const BufferAccess& n) {
      return n.writes() && exchanged_.contains(n.buffer.get());
    });
  }

  // Inserts barriers between the stages of a step, where all threads of the block arrive.
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
  std::unordered_set<const BufferNode*> exchanged_;  // between threads
};

}  // namespace

ScanWithBarriers insert_scan_barriers(const Stmt& loops, const ScanResults& results) {
  return Separator(results).run(loops);
}

bool exchanges_across_blocks(const Stmt& plan, const ScanResults& results) {
  return any_of(plan, [&](const Nest& kernel) {
    const auto blocks = [](ThreadTag tag) { return tag.block; };
    return !accesses_in(kernel.body, results).with_reads(0, blocks).empty();
  });
}

}  // namespace texloom::lower
