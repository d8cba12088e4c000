#include "lower/barriers/thread_accesses.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

bool same_place(const Exprs& a, const Exprs& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Expr& x, const Expr& y) { return equal(x, y); });
}

bool reads_replaced(const Load& load, const Store& store) {
  return load.buffer.same_as(store.buffer) && same_place(load.indices, store.indices);
}

ThreadAccesses::ThreadAccesses(const Stmt& loops, FunctionRef<bool(const Buffer&)> wanted,
                               const arith::Ranges& ranges)
    : ranges_(ranges) {
  walk(
      loops, [&](const For& n) { variables_.insert(n.var.get()); },
      [&](const Let& n) { variables_.insert(n.var.get()); });
  collect(loops, wanted, {});
}

ThreadAccesses::BufferAccesses& ThreadAccesses::of(const Buffer& buffer) {
  const auto [found, added] = place_.try_emplace(buffer.get(), buffers_.size());
  if (added) buffers_.emplace_back();
  return buffers_[found->second];
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
    of(store->buffer)
        .writes.push_back({store->buffer.get(), store->indices, tags, store->location});
  }
  for_each_child(
      s, [&](const Expr& e) { collect_reads(e, wanted, tags, store); },
      [&](const Stmt& child) { collect(child, wanted, tags); });
}

void ThreadAccesses::collect_reads(const Expr& e, Wanted wanted, const std::vector<ThreadTag>& tags,
                                   const Store* store) {
  walk(e, [&](const Load& load) {
    if (!wanted(load.buffer) || (store != nullptr && reads_replaced(load, *store))) return;
    of(load.buffer).reads.push_back({load.buffer.get(), load.indices, tags, load.location});
  });
  walk(e, [&](const Pointer& n) {
    if (!wanted(n.buffer)) return;
    const ThreadAccess access{n.buffer.get(), some_element(n), tags, n.location};
    if (reads(n.access)) of(n.buffer).reads.push_back(access);
    if (writes(n.access)) of(n.buffer).writes.push_back(access);
  });
}

// The indices of an arbitrary element that the foreign function may access.
Exprs ThreadAccesses::some_element(const Pointer& n) {
  Exprs indices;
  for (size_t i = 0; i < n.indices.size(); ++i) {
    const Expr& first = n.indices[i];
    const Expr further = make_var("element", first->type);
    variables_.insert(further.get());
    ranges_.enter(further, make_cast(first->type, n.extents[i]));
    indices.push_back(first + further);
    elements_.push_back(further);
  }
  return indices;
}

std::vector<Exchange> ThreadAccesses::with_reads(size_t first_axis, TagFilter tags) const {
  return first_exchanges(&BufferAccesses::reads, first_axis, tags);
}

std::vector<Exchange> ThreadAccesses::with_writes(size_t first_axis, TagFilter tags) const {
  return first_exchanges(&BufferAccesses::writes, first_axis, tags);
}

std::vector<Exchange> ThreadAccesses::first_exchanges(Others others, size_t first_axis,
                                                      TagFilter tags) const {
  std::vector<Exchange> found;
  for (const BufferAccesses& of_one : buffers_) {
    const auto first = first_exchange(of_one, others, first_axis, tags);
    if (first) found.push_back(*first);
  }
  return found;
}

std::optional<Exchange> ThreadAccesses::first_exchange(const BufferAccesses& of_one, Others others,
                                                       size_t first_axis, TagFilter tags) const {
  const bool between_writes = others == &BufferAccesses::writes;
  for (const ThreadAccess& write : of_one.writes) {
    for (const ThreadAccess& other : of_one.*others) {
      if (between_writes && same_place(write.indices, other.indices)) continue;
      const auto tag = tag_apart(write, other, first_axis, tags);
      if (tag) return Exchange{&write, &other, *tag};
    }
  }
  return std::nullopt;
}

std::optional<ThreadTag> ThreadAccesses::tag_apart(const ThreadAccess& write,
                                                   const ThreadAccess& other, size_t first_axis,
                                                   TagFilter tags) const {
  const auto compared = [&](const ThreadAccess& access) {
    return Exprs(access.indices.begin() + static_cast<ptrdiff_t>(first_axis), access.indices.end());
  };
  const EqualIndices met(compared(write), compared(other), variables_, ranges_);
  if (met.never()) return std::nullopt;
  for (const auto& [tag, thread] : threads_) {
    if (!tags(tag)) continue;
    // Outside all loops over the tag, the first thread along the tag makes the access.
    const auto around = [&](const ThreadAccess& access) {
      return std::find(access.tags.begin(), access.tags.end(), tag) != access.tags.end();
    };
    if (!around(write) || !around(other) || !met.holds(thread)) return tag;
  }
  return std::nullopt;
}

}  // namespace texloom::lower
