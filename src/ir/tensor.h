// Tensors and the axes of their index spaces, at stage te. `producer` computes a tensor; only
// src/schedule knows that it is an Operation.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "ir/node.h"

namespace texloom::ir {

// Two handles denote the same tensor if producer and output are equal.
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

// The most outputs of one operation.
inline constexpr size_t kMaxOutputs = 64;

// Ordered axes are the steps of scans.
enum class IterKind : uint8_t { Data, Reduction, Thread, VirtualThread, Ordered };

// One of the thread indices of a GPU kernel: blockIdx.{x,y,z} and threadIdx.{x,y,z}.
struct ThreadTag {
  bool block = false;  // whether it indexes blocks in the grid, not threads in a block
  uint8_t dim = 0;     // 0 = x, 1 = y, 2 = z
  bool operator==(const ThreadTag&) const = default;
  auto operator<=>(const ThreadTag&) const = default;
};
std::string to_string(ThreadTag tag);  // "blockIdx.x"
std::optional<ThreadTag> parse_thread_tag(std::string_view text);

// An axis: a variable with a role. `extent` is null if it is inferred (axes made by directives) or
// not given (thread axes).
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
// Each call makes a distinct axis: virtual threads have no tag to identify them.
IterVar make_virtual_thread_axis(std::string name, SourceLocation location = {});

}  // namespace texloom::ir
