// What is decided of a legalised kernel before it is printed, and stands in no node of it.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/program.h"

namespace texloom::codegen::opencl {

// How an array that the kernel allocates is declared.
struct ArrayForm {
  int lanes = 1;         // as an array of vectors of that many elements, if not 1
  bool aligned = false;  // to kAlignment: it is accessed by elements and by aligned vectors
};

// What the device's compiler is told of a loop.
enum class UnrollHint : uint8_t { None, Unroll, Leave };

struct KernelForm {
  std::unordered_map<const ir::BufferNode*, ArrayForm> arrays;  // those that are accessed
  std::unordered_map<const ir::StmtNode*, UnrollHint> loops;    // all
  // Parameters that threads of a block may read after others have written there. A barrier fences
  // them, and they break the promise of a restrict pointer, which a thread has for itself: PoCL 3.1
  // then reads before the barrier.
  std::unordered_set<const ir::BufferNode*> exchanged;

  ArrayForm array(const ir::Buffer& buffer) const {
    const auto found = arrays.find(buffer.get());
    return found == arrays.end() ? ArrayForm() : found->second;
  }
};

// Takes time linear in the size of the graph, but for the loops, each of which is looked at once
// for each loop around it.
KernelForm form_of(const ir::Kernel& kernel);

}  // namespace texloom::codegen::opencl
