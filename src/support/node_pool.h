// Allocates reference-counted nodes. Compiling makes and drops them by the hundred thousand, in few
// sizes. Until a thread ends, it keeps up to 16 MiB of dropped nodes for its next nodes of the same
// sizes. This hidden state is an exception to the rules in CONTRIBUTING.md: with malloc alone,
// lowering a large program spent half its time on allocation.
#pragma once

#include <cstddef>

namespace texloom::node_pool {

// Throws std::bad_alloc.
void* allocate(size_t bytes);
// Releases memory that any thread allocated. `bytes` is the size passed to allocate().
void release(void* memory, size_t bytes) noexcept;

}  // namespace texloom::node_pool
