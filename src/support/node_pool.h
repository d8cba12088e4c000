// Memory of reference-counted nodes. Compiling makes and drops them by the hundred thousand, in few
// sizes: what is dropped is kept for the next node of that size, by each thread for itself, up to
// 16 MiB in all and until the thread ends. State that no caller passes is against the house's
// rules; with malloc alone, half the time of lowering a large program went there.
#pragma once

#include <cstddef>

namespace texloom::node_pool {

// Throws std::bad_alloc.
void* allocate(size_t bytes);
// `bytes` as they were allocated, on this thread or another.
void release(void* memory, size_t bytes) noexcept;

}  // namespace texloom::node_pool
