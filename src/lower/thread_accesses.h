// Accesses of buffers that threads have in common, and whether they are of one thread.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/stmt.h"
#include "lower/same_thread.h"
#include "support/function_ref.h"

namespace texloom::lower {

struct ThreadAccess {
  const ir::BufferNode* buffer = nullptr;
  ir::Exprs indices;
  std::vector<ir::ThreadTag> tags;  // of the thread loops around
  SourceLocation location;
};

// Whether the indices of two accesses of one buffer are the same expressions.
bool same_place(const ir::Exprs& a, const ir::Exprs& b);

// Whether the load reads the element that the store replaces: its own thread's.
bool reads_replaced(const ir::Load& load, const ir::Store& store);

// A write, and another access of the same buffer, that may be of different threads along the tag.
struct Exchange {
  const ThreadAccess *write = nullptr, *other = nullptr;
  ir::ThreadTag tag;
};

// Of loops at stage Loops. What a store reads of the element that it replaces is left out.
class ThreadAccesses {
 public:
  using TagFilter = FunctionRef<bool(ir::ThreadTag)>;

  ThreadAccesses(const ir::Stmt& loops, FunctionRef<bool(const ir::Buffer&)> wanted,
                 const ir::arith::Ranges& ranges);

  // The first exchange along one of the tags of each buffer that has one, between a write and a
  // read, as far as axes from `first_axis` on tell. It points into this object.
  std::vector<Exchange> with_reads(size_t first_axis, TagFilter tags) const;
  // The same between two writes. Those to one place are of one thread, or race by themselves.
  std::vector<Exchange> with_writes(size_t first_axis, TagFilter tags) const;

 private:
  using Wanted = FunctionRef<bool(const ir::Buffer&)>;
  struct BufferAccesses {
    std::vector<ThreadAccess> writes, reads;
  };
  using Others = std::vector<ThreadAccess> BufferAccesses::*;  // than the writes, or these again

  BufferAccesses& of(const ir::Buffer& buffer);
  void collect(const ir::Stmt& s, Wanted wanted, const std::vector<ir::ThreadTag>& tags);
  void collect_reads(const ir::Expr& e, Wanted wanted, const std::vector<ir::ThreadTag>& tags,
                     const ir::Store* store);
  std::vector<Exchange> first_exchanges(Others others, size_t first_axis, TagFilter tags) const;
  ir::Exprs some_element(const ir::Pointer& pointer);
  std::optional<Exchange> first_exchange(const BufferAccesses& of_one, Others others,
                                         size_t first_axis, TagFilter tags) const;
  // The first of the tags along which the two may be different threads where they meet in one
  // element.
  std::optional<ir::ThreadTag> tag_apart(const ThreadAccess& write, const ThreadAccess& other,
                                         size_t first_axis, TagFilter tags) const;

  ir::arith::Ranges ranges_;
  ir::Exprs elements_;  // variables, alive as long as variables_ knows their addresses
  // That a kernel has several of; the variable of the first loop stands for those of all.
  std::map<ir::ThreadTag, ir::Expr> threads_;
  EqualWhereMet::Variables variables_;
  std::vector<BufferAccesses> buffers_;                      // in the order of their first accesses
  std::unordered_map<const ir::BufferNode*, size_t> place_;  // in buffers_
};

}  // namespace texloom::lower
