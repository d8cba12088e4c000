// Asynchronous copies to shared memory by NVIDIA's instructions, as inline PTX (PTX ISA 9.0,
// 9.7.9.25).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/c/prelude.h"
#include "ir/stmt.h"

namespace texloom::codegen::opencl {

// A store that only copies from global memory.
struct AsyncCopy {
  const ir::Load* source;
  ir::Expr condition;  // where it does not hold, zeros are stored; null: it always holds
  int64_t bytes = 0;
};
// The copy that a store makes; nullopt for other stores, and sizes that the device does not copy.
std::optional<AsyncCopy> async_copy_of(const ir::Store& n);

// The name of a function, which the prelude then has: (local memory, global memory, bytes to read,
// after which there are zeros).
const std::string& copy_async(Prelude& prelude, int64_t bytes);
// Ends a group of copies.
inline constexpr std::string_view kCommitCopies =
    R"(asm volatile("cp.async.commit_group;" ::: "memory");)";
std::string await_groups_of_copies(int pending);

}  // namespace texloom::codegen::opencl
