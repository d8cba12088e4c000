// Computes computations at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "graph/computation.h"

namespace texloom::graph {

// The elements of a tensor, row-major, as Tensor::value has them.
using Elements = std::shared_ptr<const std::vector<std::byte>>;

// The outputs of a computation for these inputs, in the arithmetic of the interpreter
// (ir/interpret/value.h): operations are executed as they are written, without a schedule. Computes
// are run in batches of elements, with the same bits (ir/interpret/batches/batches.h); what has no
// batches, such as a scan, is interpreted.
//
// nullopt if the computation takes more than `max_steps` steps of the interpreter, has symbols,
// calls foreign functions, or if an element of an output is undefined. `interruption` is called
// from time to time; it ends the evaluation by throwing.
std::optional<std::vector<Elements>> evaluated(const Computation& computation,
                                               const std::vector<Elements>& inputs,
                                               std::int64_t max_steps,
                                               const std::function<void()>& interruption = nullptr);

}  // namespace texloom::graph
