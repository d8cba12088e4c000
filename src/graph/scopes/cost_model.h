// The default cost model, for kernels without a measured or declared cost.
#pragma once

#include "graph/stored.h"

namespace texloom::graph {

// The cost of a kernel is the sum of the time to start, the time to move its arguments once, and
// the time to compute its operations. The model has no caches: buffers and textures of equal size
// cost the same.
struct CostModel {
  double start_ns = 2000;
  double bytes_per_ns = 100;
  double operations_per_ns = 1000;
};

// The cost of a kernel, in nanoseconds.
double cost_of(const CostModel& model, double bytes, double operations);

// The operations of all stages (compile/operation_count.h); zero if they cannot be counted, as in
// an extern.
double operations_of(const lower::Lowering& program);

// The bytes that a tensor adds to the traffic of a kernel. A tensor of an open size adds none: its
// traffic is unknown, but about equal in all storages, and only storages are compared.
double moved_bytes(const Stored& stored, ir::Type type);

// The cost of a kernel that copies tensors of `type`; the last storage is that of the result.
double copy_cost(const CostModel& model, const std::vector<Stored>& tensors, ir::Type type);

}  // namespace texloom::graph
