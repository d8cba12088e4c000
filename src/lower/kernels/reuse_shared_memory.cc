#include "lower/kernels/reuse_shared_memory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Where a buffer is allocated: the numbers of the first allocation at or inside of it and of the
// first one after it.
struct Scope {
  size_t begin = 0, end = 0;

  bool meets(const Scope& other) const { return begin < other.end && other.begin < end; }
};

struct Array {
  Buffer buffer;
  std::vector<Scope> scopes;  // several in copies of an unrolled body
  bool is_alone = false;      // whether no other array may have its memory

  bool may_share_with(const Array& other) const {
    if (is_alone || other.is_alone || buffer->type != other.buffer->type) return false;
    return std::ranges::none_of(scopes, [&](const Scope& own) {
      return std::ranges::any_of(other.scopes, [&](const Scope& s) { return own.meets(s); });
    });
  }
};

int64_t elements_of(const Array& array) { return array.buffer->layout.col_count(); }

// The shared arrays of a nest.
class ArrayCollector {
 public:
  std::vector<Array> of(const Stmt& nest) && {
    walk_statements(nest, [&](const AsyncCopies& n) {
      walk_statements(n.body, [&](const Store& store) { alone_.insert(store.buffer.get()); });
    });
    walk_statements(nest, [&](const For& loop) {
      if (loop.loop == LoopKind::Thread) note_threads(loop);
    });
    collect(nest, /*agree=*/true);
    for (Array& each : arrays_) each.is_alone |= alone_.contains(each.buffer.get());
    return std::move(arrays_);
  }

 private:
  // `agree`: whether all threads of the block surely come to the statement.
  void collect(const Stmt& s, bool agree) {
    if (const auto* n = as<LastBlock>(s)) alone_.insert(n->flag.get());
    const auto* loop = as<For>(s);
    const bool decides = as<If>(s) != nullptr || as<While>(s) != nullptr ||
                         as<LastBlock>(s) != nullptr || (loop != nullptr && !runs_for_all(*loop));
    const auto* allocate = as<Allocate>(s);
    const bool is_array = allocate != nullptr && allocate->buffer->memory == MemoryScope::Shared;
    const size_t begin = count_;
    if (is_array) ++count_;
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { collect(child, agree && !decides); });
    if (is_array) note(allocate->buffer, {begin, count_}, agree);
  }

  // Whether all threads of a block run the loop, and its iterations as often as one another. A loop
  // over threads that has fewer iterations than another one over this tag becomes a condition.
  bool runs_for_all(const For& loop) const {
    if (loop.loop == LoopKind::Thread) return extents_.at(loop.tag) != nullptr;
    return int_value(loop.extent) != nullptr;
  }
  void note_threads(const For& loop) {
    const auto [known, added] = extents_.try_emplace(loop.tag, loop.extent.get());
    if (added || known->second == nullptr) return;
    if (!equal(Expr(known->second), loop.extent)) known->second = nullptr;
  }

  void note(const Buffer& buffer, Scope scope, bool agree) {
    const auto [known, added] = place_.try_emplace(buffer.get(), arrays_.size());
    if (added) arrays_.push_back({buffer, {}, false});
    Array& array = arrays_[known->second];
    array.scopes.push_back(scope);
    array.is_alone |= !agree;
  }

  size_t count_ = 0;  // of allocations so far
  // The extent of the loops over a tag; null if there are several.
  std::map<ThreadTag, const ExprNode*> extents_;
  std::vector<Array> arrays_;
  std::unordered_map<const BufferNode*, size_t> place_;  // the index of each buffer in arrays_
  std::unordered_set<const BufferNode*> alone_;
};

// The bytes of an element, once types are those that the target has (legalize/widen_storage.h).
int64_t element_bytes(Type type, const Target& target) {
  const bool is_widened = type.is_float() && type.bits == 16 &&
                          !target.features.float16_arithmetic &&
                          target.features.matrix_unit != MatrixUnit::MmaSync;
  return is_widened ? 4 : type.bytes();
}

int64_t bytes_of(const std::vector<Array>& arrays, const Target& target) {
  int64_t bytes = 0;
  for (const Array& each : arrays) {
    bytes += elements_of(each) * element_bytes(each.buffer->type, target);
  }
  return bytes;
}

// The arrays that have the memory of another array, with that one; and that one, with itself.
using Memory = std::unordered_map<const BufferNode*, Buffer>;

Memory shared_memory(std::vector<Array> arrays) {
  std::ranges::stable_sort(arrays, std::greater{}, elements_of);
  std::vector<std::vector<Array>> groups;
  for (Array& array : arrays) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<Array>& each) {
      return std::ranges::all_of(each, [&](const Array& a) { return a.may_share_with(array); });
    });
    if (group != groups.end()) {
      group->push_back(std::move(array));
    } else {
      groups.push_back({std::move(array)});
    }
  }
  Memory memory;
  for (const std::vector<Array>& group : groups) {
    if (group.size() == 1) continue;
    for (const Array& each : group) memory.emplace(each.buffer.get(), group.front().buffer);
  }
  return memory;
}

class MemoryChanger {
 public:
  explicit MemoryChanger(const Memory& memory) : memory_(memory) {}

  Stmt run(const Stmt& s) const {
    return rewrite(
        s, [&](const Load& n, const Expr& self) { return changed(n, self); },
        [&](const Pointer& n, const Expr& self) { return changed(n, self); },
        [&](const Store& n, const Stmt& self) {
          const Buffer* to = memory_of(n.buffer);
          return to == nullptr ? self : make_store(*to, n.indices, n.value, n.location);
        },
        [&](const Allocate& n, const Stmt& self) {
          const Buffer* to = memory_of(n.buffer);
          if (to == nullptr) return self;
          return make_allocate(*to, make_seq({make_barrier(n.location), n.body}), n.location);
        });
  }

 private:
  const Buffer* memory_of(const Buffer& buffer) const {
    const auto found = memory_.find(buffer.get());
    return found == memory_.end() ? nullptr : &found->second;
  }
  Expr changed(const Load& n, const Expr& self) const {
    const Buffer* to = memory_of(n.buffer);
    return to == nullptr ? self : make_load_as(n.type, *to, n.indices, n.location);
  }
  Expr changed(const Pointer& n, const Expr& self) const {
    const Buffer* to = memory_of(n.buffer);
    if (to == nullptr) return self;
    return make_pointer(n.access, *to, n.indices, n.extents, n.offset, n.location);
  }

  const Memory& memory_;
};

}  // namespace

void reuse_shared_memory(Lowering& lowering) {
  const Target& target = lowering.target;
  const auto changed = [&](const Nest& nest, const Stmt& self) {
    std::vector<Array> arrays = ArrayCollector().of(nest.body);
    if (bytes_of(arrays, target) <= target.limits.local_memory_bytes) return self;
    const Memory memory = shared_memory(std::move(arrays));
    if (memory.empty()) return self;
    return make_nest(nest.result, MemoryChanger(memory).run(nest.body), nest.location);
  };
  lowering.program.body = rewrite(lowering.program.body, changed);
}

}  // namespace texloom::lower
