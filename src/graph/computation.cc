#include "graph/computation.h"

#include "schedule/structural_hash.h"

namespace texloom::graph {
namespace {

schedule::TensorFunction function_of(const Computation& computation) {
  return {computation.inputs, computation.outputs};
}

}  // namespace

bool equal(const Computation& a, const Computation& b) {
  return schedule::equal(function_of(a), function_of(b));
}

std::uint64_t structural_hash(const Computation& computation) {
  return schedule::structural_hash(function_of(computation));
}

}  // namespace texloom::graph
