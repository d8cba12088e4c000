#include "lower/separate_steps.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/same_thread.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// An access of a result, and the thread loops around it.
struct Access {
  const BufferNode* buffer = nullptr;
  Exprs indices;
  std::vector<ThreadTag> tags;
  SourceLocation location;
};

class Separator {
 public:
  explicit Separator(const ScanResults& results) : results_(results) {}

  SeparatedSteps run(const Stmt& loops) {
    collect(loops);
    for (const Access& write : writes_) {
      for (const Access& read : reads_) {
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

  // -- The accesses, by variables of the threads that loops of one tag have in common.

  void collect(const Stmt& loops) {
    walk(
        loops, [&](const For& n) { variables_.insert(n.var.get()); },
        [&](const Let& n) { variables_.insert(n.var.get()); });
    note(loops, {});
  }

  void note(const Stmt& s, const std::vector<ThreadTag>& tags) {
    if (const auto* loop = as<For>(s); loop != nullptr && loop->loop == LoopKind::Thread) {
      std::vector<ThreadTag> inner = tags;
      inner.push_back(loop->tag);
      if (!is_int(loop->extent, 1)) threads_.emplace(loop->tag, loop->var);
      const auto thread = threads_.find(loop->tag);
      if (thread == threads_.end()) return note(loop->body, inner);
      return note(substitute(loop->body, {{loop->var, thread->second}}), inner);
    }
    const auto* store = as<Store>(s);
    if (store != nullptr && is_result(store->buffer)) {
      writes_.push_back({store->buffer.get(), store->indices, tags, store->location});
    }
    for_each_child(
        s, [&](const Expr& e) { note_reads(e, tags, store); },
        [&](const Stmt& child) { note(child, tags); });
  }

  // What a store replaces is its own thread's.
  void note_reads(const Expr& e, const std::vector<ThreadTag>& tags, const Store* store) {
    walk(e, [&](const Load& load) {
      if (!is_result(load.buffer)) return;
      const bool own = store != nullptr && load.buffer.same_as(store->buffer) &&
                       std::equal(load.indices.begin(), load.indices.end(), store->indices.begin(),
                                  [](const Expr& a, const Expr& b) { return equal(a, b); });
      if (!own) reads_.push_back({load.buffer.get(), load.indices, tags, load.location});
    });
  }

  // -- Which threads they are of.

  void check(const Access& write, const Access& read) {
    const auto behind_first = [](const Exprs& indices) {
      return Exprs(indices.begin() + 1, indices.end());
    };
    const EqualWhereMet met(behind_first(write.indices), behind_first(read.indices), variables_,
                            results_.ranges);
    for (const auto& [tag, var] : threads_) {
      // Where the tag has no loop around it, the first of its threads does what the others wait
      // for.
      const auto around = [&tag = tag](const Access& access) {
        return std::find(access.tags.begin(), access.tags.end(), tag) != access.tags.end();
      };
      if (around(write) && around(read) && met.holds(var)) continue;
      exchanged_.insert(write.buffer);
      if (tag.block && !across_blocks_) across_blocks_ = across_blocks(write, read, tag);
    }
  }

  Diagnostic across_blocks(const Access& write, const Access& read, ThreadTag tag) const {
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
  std::map<ThreadTag, Expr>
      threads_;  // that a kernel has several of; the variable of the first loop
  EqualWhereMet::Variables variables_;
  std::vector<Access> writes_, reads_;
  std::unordered_set<const BufferNode*> exchanged_;  // among threads
  std::optional<Diagnostic> across_blocks_;
};

}  // namespace

SeparatedSteps separate_steps(const Stmt& loops, const ScanResults& results) {
  return Separator(results).run(loops);
}

}  // namespace texloom::lower
