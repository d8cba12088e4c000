// Collects accesses of buffers that threads share, and finds accesses of one element by different
// threads.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/stmt.h"
#include "lower/barriers/equal_indices.h"
#include "support/function_ref.h"

namespace texloom::lower {

struct ThreadAccess {
  const ir::BufferNode* buffer = nullptr;
  ir::Exprs indices;
  std::vector<ir::ThreadTag> tags;  // the tags of the enclosing thread loops
  SourceLocation location;
};

// Whether the indices of two accesses of one buffer are the same expressions.
bool same_place(const ir::Exprs& a, const ir::Exprs& b);

// Whether the load reads the element that the store replaces, so that one thread makes both.
bool reads_replaced(const ir::Load& load, const ir::Store& store);

// A write and another access of the same element that different threads along the tag may make.
struct Exchange {
  const ThreadAccess *write = nullptr, *other = nullptr;
  ir::ThreadTag tag;
};

// The accesses of a statement at stage loops, except for a store's reads of the element that it
// replaces.
class ThreadAccesses {
 public:
  using TagFilter = FunctionRef<bool(ir::ThreadTag)>;

  ThreadAccesses(const ir::Stmt& loops, FunctionRef<bool(const ir::Buffer&)> wanted,
                 const ir::arith::Ranges& ranges);

  // For each buffer, the first exchange between a write and a read along one of the tags, if any.
  // Compares the axes from `first_axis` on. The result points into this object.
  std::vector<Exchange> with_reads(size_t first_axis, TagFilter tags) const;
  // Like with_reads(), for exchanges between two writes. Two writes with the same indices do not
  // count: one thread makes both, or they race in any case.
  std::vector<Exchange> with_writes(size_t first_axis, TagFilter tags) const;

 private:
  using Wanted = FunctionRef<bool(const ir::Buffer&)>;
  struct BufferAccesses {
    std::vector<ThreadAccess> writes, reads;
  };
  // Which accesses of a buffer to compare with its writes: reads or writes.
  using Others = std::vector<ThreadAccess> BufferAccesses::*;

  BufferAccesses& of(const ir::Buffer& buffer);
  void collect(const ir::Stmt& s, Wanted wanted, const std::vector<ir::ThreadTag>& tags);
  void collect_reads(const ir::Expr& e, Wanted wanted, const std::vector<ir::ThreadTag>& tags,
                     const ir::Store* store);
  std::vector<Exchange> first_exchanges(Others others, size_t first_axis, TagFilter tags) const;
  ir::Exprs some_element(const ir::Pointer& pointer);
  std::optional<Exchange> first_exchange(const BufferAccesses& of_one, Others others,
                                         size_t first_axis, TagFilter tags) const;
  // The first of the tags along which different threads may access the same element.
  std::optional<ir::ThreadTag> tag_apart(const ThreadAccess& write, const ThreadAccess& other,
                                         size_t first_axis, TagFilter tags) const;

  ir::arith::Ranges ranges_;
  ir::Exprs elements_;  // keeps alive the variables whose addresses are in variables_
  // The tags with several threads; the variable of the first loop over a tag represents all loops
  // over it.
  std::map<ir::ThreadTag, ir::Expr> threads_;
  EqualIndices::Variables variables_;
  std::vector<BufferAccesses> buffers_;                      // in the order of their first accesses
  std::unordered_map<const ir::BufferNode*, size_t> place_;  // the index of each buffer in buffers_
};

}  // namespace texloom::lower
