#include "lower/thread_accesses.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

ThreadAccesses::ThreadAccesses(const Stmt& loops, FunctionRef<bool(const Buffer&)> wanted,
                               const arith::Ranges& ranges)
    : ranges_(ranges) {
  walk(
      loops, [&](const For& n) { variables_.insert(n.var.get()); },
      [&](const Let& n) { variables_.insert(n.var.get()); });
  collect(loops, wanted, {});
}

void ThreadAccesses::collect(const Stmt& s, Wanted wanted, const std::vector<ThreadTag>& tags) {
  if (const auto* loop = as<For>(s); loop != nullptr && loop->loop == LoopKind::Thread) {
    std::vector<ThreadTag> inner = tags;
    inner.push_back(loop->tag);
    if (!is_int(loop->extent, 1)) threads_.emplace(loop->tag, loop->var);
    const auto thread = threads_.find(loop->tag);
    if (thread == threads_.end()) return collect(loop->body, wanted, inner);
    return collect(substitute(loop->body, {{loop->var, thread->second}}), wanted, inner);
  }
  const auto* store = as<Store>(s);
  if (store != nullptr && wanted(store->buffer)) {
    writes_.push_back({store->buffer.get(), store->indices, tags, store->location});
  }
  for_each_child(
      s, [&](const Expr& e) { collect_reads(e, wanted, tags, store); },
      [&](const Stmt& child) { collect(child, wanted, tags); });
}

void ThreadAccesses::collect_reads(const Expr& e, Wanted wanted, const std::vector<ThreadTag>& tags,
                                   const Store* store) {
  walk(e, [&](const Load& load) {
    if (!wanted(load.buffer)) return;
    const bool own = store != nullptr && load.buffer.same_as(store->buffer) &&
                     std::equal(load.indices.begin(), load.indices.end(), store->indices.begin(),
                                [](const Expr& a, const Expr& b) { return equal(a, b); });
    if (!own) reads_.push_back({load.buffer.get(), load.indices, tags, load.location});
  });
}

void ThreadAccesses::for_each_exchange(
    size_t first_axis,
    FunctionRef<void(const ThreadAccess&, const ThreadAccess&, ThreadTag)> found) const {
  for (const ThreadAccess& write : writes_) {
    for (const ThreadAccess& read : reads_) {
      if (read.buffer != write.buffer) continue;
      for (const ThreadTag tag : tags_apart(write, read, first_axis)) found(write, read, tag);
    }
  }
}

std::vector<ThreadTag> ThreadAccesses::tags_apart(const ThreadAccess& write,
                                                  const ThreadAccess& read,
                                                  size_t first_axis) const {
  const auto compared = [&](const ThreadAccess& access) {
    return Exprs(access.indices.begin() + static_cast<ptrdiff_t>(first_axis), access.indices.end());
  };
  const EqualWhereMet met(compared(write), compared(read), variables_, ranges_);
  if (met.never()) return {};
  std::vector<ThreadTag> apart;
  for (const auto& thread : threads_) {
    const ThreadTag tag = thread.first;
    // Where the tag has no loop around it, the first of its threads does what the others wait for.
    const auto around = [&](const ThreadAccess& access) {
      return std::find(access.tags.begin(), access.tags.end(), tag) != access.tags.end();
    };
    if (!around(write) || !around(read) || !met.holds(thread.second)) apart.push_back(tag);
  }
  return apart;
}

}  // namespace texloom::lower
