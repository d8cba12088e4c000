// Decides properties of a legalized kernel that its nodes do not express, before it is printed.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "codegen/legalize/dialect.h"
#include "ir/program.h"

namespace texloom::codegen {

// How an array that the kernel allocates is declared.
struct ArrayForm {
  int lanes = 1;    // if not 1, the array has vectors of this many elements
  int aligned = 1;  // if not 1, the array has scalars, aligned as vectors of this many
};

// The unroll hint of a loop for the device's compiler.
enum class UnrollHint : uint8_t { None, Unroll, Leave };

struct KernelForm {
  std::unordered_map<const ir::BufferNode*, ArrayForm> arrays;  // accessed arrays
  std::unordered_map<const ir::StmtNode*, UnrollHint> loops;    // all loops
  // Parameters that a thread may read after other threads wrote them. They are not `restrict`:
  // although each single thread would satisfy `restrict`, PoCL 3.1 would move reads before the
  // barrier.
  std::unordered_set<const ir::BufferNode*> exchanged;
  // Whether threads of a block exchange values in parameters by barriers, which then fence global
  // memory, too. A LastBlock has fences of its own.
  bool fences_parameters = false;
  // Guards around everything that follows in the kernel. They are printed as early returns, which
  // keep the body flat. Excludes guards around barriers, at which other threads would wait, and
  // guards around a single store.
  std::unordered_set<const ir::StmtNode*> returns;

  // Steps of fragments whose memory is aligned: each row of the part begins at a multiple of 16
  // bytes if the step loads, or of two elements if it stores.
  std::unordered_set<const ir::FragmentStep*> aligned_steps;

  ArrayForm array(const ir::Buffer& buffer) const {
    const auto found = arrays.find(buffer.get());
    return found == arrays.end() ? ArrayForm() : found->second;
  }
};

// Takes time linear in the size of the graph, except that it visits each loop once for each
// enclosing loop.
KernelForm form_of(const ir::Kernel& kernel, const Dialect& dialect);

}  // namespace texloom::codegen
