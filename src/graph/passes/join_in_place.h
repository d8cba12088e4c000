#pragma once

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// Purpose: turns operators that join their inputs into concatenations, where the parts can be
//   written in the memory of the whole, so that nothing is copied. Node::joins_along says which
//   operators join, and along which axis. Parts must be tensors between operators, each joined
//   once. In buffers, all axes before the joined axis have the extent 1, and parts begin where
//   devices let buffers begin. In textures, parts are whole texels along the channels. If one
//   concatenation is a part of another, only one of them is in place.
// Requires: stage graph, verified, without fused operators. Depends on the target.
// Ensures: an operator remains if its kernel saves other kernels: where it would take in several
//   parts that only move elements, where views share the memory of a part or of the whole, or
//   where it would take in a part such as an upsampled image, and its images have channels last.
// Order: before fuse, which treats operators that join like other operators that move elements;
//   after store_halves, because concatenations do not convert.
// Example:
//   operator y op="concat" pattern=injective joins=1 (a, b) -> (y)
//   ->
//   concatenate y op="concat" (a, b) -> (y) axis=1
void join_in_place(Graph& graph, const ir::Target& target, const KernelLibrary& kernels);

}  // namespace texloom::graph
