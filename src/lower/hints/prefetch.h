// The pragmas of s[T].prefetch(tensor, axis, offset), on processors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/buffer.h"
#include "ir/stmt.h"
#include "schedule/bounds/bounds.h"
#include "schedule/stage.h"
#include "support/diagnostic.h"

namespace texloom::lower {

// One prefetch: the pragma is "prefetch_" and the tensor's name, its value the number of iterations
// ahead.
struct PrefetchHint {
  const schedule::Pragma& pragma;
  int64_t ahead = 0;
  std::vector<ir::Buffer> buffers;  // of tensors of that name
};

// The name of the tensor that the pragma prefetches; nullopt if it is another pragma.
std::optional<std::string> prefetched_tensor(const schedule::Pragma& pragma);

// Puts in front of the body of the loop prefetches of what the body will read `ahead` iterations
// later: of each line of a cache in the box of the tensor's elements that the body reads. Indices
// that are read from memory do not count. Warns if there is no such element, if every iteration
// reads the same ones, if the tensor is not in an array in global memory, or if the loop becomes a
// vector.
ir::Stmt prefetched(const schedule::Stage& stage, const schedule::LeafLoop& loop,
                    const PrefetchHint& hint, ir::Stmt body, const ir::arith::Ranges& ranges,
                    std::vector<Diagnostic>& warnings);

}  // namespace texloom::lower
