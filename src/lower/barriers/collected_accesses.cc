#include "lower/barriers/collected_accesses.h"

#include <algorithm>
#include <utility>

#include "ir/accesses.h"
#include "ir/visit.h"
#include "lower/barriers/thread_accesses.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool meet(const std::vector<SharedAccess>& a, const std::vector<SharedAccess>& b) {
  return std::any_of(a.begin(), a.end(), [&](const SharedAccess& x) {
    return std::any_of(b.begin(), b.end(), [&](const SharedAccess& y) { return x.may_meet(y); });
  });
}

class AccessCollector {
 public:
  explicit AccessCollector(const AccessContext& context)
      : context_(context), ranges_(&context.ranges) {}

  SharedAccesses of(const Stmt& s) && {
    note(s);
    return std::move(found_);
  }
  SharedAccesses of(const Expr& e) && {
    note_reads(e, nullptr);
    return std::move(found_);
  }

 private:
  void note(const Stmt& s) {
    if (const auto* guard = as<If>(s)) return note(*guard);
    if (const auto* store = as<Store>(s)) return note(*store);
    if (as<AwaitCopies>(s) != nullptr) return found_.add(context_.copied);
    const bool is_step = as<FragmentStep>(s) != nullptr;
    for_each_child(
        s,
        [&](const Expr& e) {
          if (is_step) return note_part(e);
          note_reads(e, nullptr);
        },
        [&](const Stmt& child) { note(child); });
  }
  void note(const If& guard) {
    note_reads(guard.condition, nullptr);
    arith::Ranges inside = *ranges_;
    inside.assume(guard.condition);
    const arith::Ranges* outside = std::exchange(ranges_, &inside);
    note(guard.then);
    ranges_ = outside;
  }
  void note(const Store& store) {
    if (context_.buffers.contains(store.buffer.get()))
      note_write(SharedAccess(store.buffer, store.indices, *ranges_, context_.varying),
                 store.indices);
    note_reads(store.value, &store);
    for (const Expr& index : store.indices) note_reads(index, nullptr);
  }
  // An operand of a step of fragments: a part is inside of one copy of its buffer.
  void note_part(const Expr& operand) {
    const auto* n = as<Pointer>(operand);
    if (n == nullptr) return note_reads(operand, nullptr);
    for (const Expr& index : n->indices) note_reads(index, nullptr);
    if (!context_.buffers.contains(n->buffer.get())) return;
    const SharedAccess part(n->buffer, n->indices, *ranges_, context_.varying);
    if (reads(n->access)) SharedAccesses::add(found_.reads, part);
    if (writes(n->access)) note_write(part, n->indices);
  }
  void note_write(SharedAccess write, const Exprs& place) {
    if (context_.overwritten.contains(write.buffer)) write.place = place;
    SharedAccesses::add(found_.writes, write);
  }
  void note_reads(const Expr& e, const Store* store) {
    walk(e, [&](const Load& load) {
      if (!context_.buffers.contains(load.buffer.get())) return;
      const bool own = store != nullptr && reads_replaced(load, *store);
      if (!own)
        SharedAccesses::add(found_.reads, {load.buffer, load.indices, *ranges_, context_.varying});
    });
    walk(e, [&](const Pointer& n) {
      if (!context_.buffers.contains(n.buffer.get())) return;
      const SharedAccess anywhere(n.buffer, {}, *ranges_, context_.varying);
      if (reads(n.access)) SharedAccesses::add(found_.reads, anywhere);
      if (writes(n.access)) SharedAccesses::add(found_.writes, anywhere);
    });
  }

  const AccessContext& context_;
  const arith::Ranges* ranges_;  // with the conditions around a statement
  SharedAccesses found_;
};

}  // namespace

bool SharedAccesses::conflicts_with(const SharedAccesses& before,
                                    const BufferSet& overwritten) const {
  if (meet(reads, before.writes) || meet(writes, before.reads)) return true;
  return std::any_of(writes.begin(), writes.end(), [&](const SharedAccess& write) {
    return overwritten.contains(write.buffer) &&
           std::ranges::any_of(before.writes, [&](const SharedAccess& earlier) {
             return write.may_overwrite(earlier);
           });
  });
}

void SharedAccesses::add(const SharedAccesses& other) {
  for (const SharedAccess& access : other.reads) add(reads, access);
  for (const SharedAccess& access : other.writes) add(writes, access);
}

void SharedAccesses::add(std::vector<SharedAccess>& accesses, const SharedAccess& access) {
  if (std::find(accesses.begin(), accesses.end(), access) == accesses.end()) {
    accesses.push_back(access);
  }
}

SharedAccesses accesses_of(const Stmt& s, const AccessContext& context) {
  return AccessCollector(context).of(s);
}
SharedAccesses accesses_of(const Expr& e, const AccessContext& context) {
  return AccessCollector(context).of(e);
}

}  // namespace texloom::lower
