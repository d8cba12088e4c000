// Names of what the te stage talks about: tensors and the axes of their index spaces. What
// computes a tensor is kept behind `producer`; src/schedule knows it as an Operation.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "ir/node.h"

namespace texloom::ir {

// Two handles name one tensor when producer and output agree.
struct TensorNode : RefCounted {
  std::string name;
  Type type;
  Exprs shape;  // index expressions, int32
  Ref<RefCounted> producer;
  int output = 0;
  SourceLocation location;

  bool same_tensor(const TensorNode& other) const {
    return producer.same_as(other.producer) && output == other.output;
  }
};

using Tensor = Ref<TensorNode>;

// Of one operation.
inline constexpr size_t kMaxOutputs = 64;

// Ordered: the steps of a scan.
enum class IterKind : uint8_t { Data, Reduction, Thread, VirtualThread, Ordered };

// One of the thread indices of a GPU kernel: blockIdx.{x,y,z} and threadIdx.{x,y,z}.
struct ThreadTag {
  bool block = false;  // an index of the block in the grid, else of the thread in its block
  uint8_t dim = 0;     // 0 = x, 1 = y, 2 = z
  bool operator==(const ThreadTag&) const = default;
  auto operator<=>(const ThreadTag&) const = default;
};
std::string to_string(ThreadTag tag);  // "blockIdx.x"
std::optional<ThreadTag> parse_thread_tag(std::string_view text);

// An axis: a variable with a role. `extent` is null where it is inferred (axes made by
// directives) or not given (thread axes).
struct IterVarNode : RefCounted {
  Expr var;
  Expr min;
  Expr extent;
  IterKind kind = IterKind::Data;
  ThreadTag tag;  // of a thread axis
  SourceLocation location;

  const std::string& name() const;
};
using IterVar = Ref<IterVarNode>;

IterVar make_iter_var(Expr var, Expr min, Expr extent, IterKind kind, SourceLocation location = {});
IterVar make_thread_axis(ThreadTag tag, SourceLocation location = {});
// Each is an axis of its own: virtual threads have no tag by which they would be one.
IterVar make_virtual_thread_axis(std::string name, SourceLocation location = {});

}  // namespace texloom::ir
