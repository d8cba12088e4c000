// What kernels cost when nobody has measured them.
#pragma once

#include "graph/stored.h"

namespace texloom::graph {

// A kernel takes the time to start, and then the time to move its arguments once and to compute its
// operations, one after the other. It knows no caches: buffers and textures of equal size cost the
// same.
struct CostModel {
  double start_ns = 2000;
  double bytes_per_ns = 100;
  double operations_per_ns = 1000;
};

// In nanoseconds.
double cost_of(const CostModel& model, double bytes, double operations);

// Those of all stages (compile/operation_count.h); zero if nobody can count them, as in an extern.
double operations_of(const lower::Lowering& program);

// What a tensor adds to the bytes of a kernel. One whose size each run says adds nothing: nobody
// knows how much it moves, but about as much in each storage, and these are what is compared.
double moved_bytes(const Stored& stored, ir::Type type);

// Of a kernel that copies tensors of `type` from the first storages to the last.
double copy_cost(const CostModel& model, const std::vector<Stored>& tensors, ir::Type type);

}  // namespace texloom::graph
