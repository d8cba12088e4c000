#include "ir/verify/verify_allocations.h"

namespace texloom::ir {

Allocations::Allocation* Allocations::find(const Buffer& buffer) {
  const auto found = allocations_.find(buffer.get());
  return found == allocations_.end() || !scope_.contains(buffer.get()) ? nullptr : &found->second;
}

void Allocations::free(const Free& n, const Stmt& self, const Stmt* loop) {
  Allocation* allocation = find(n.buffer);
  if (allocation == nullptr) {
    return found_.add(Rule::Plan, self, "{} is not allocated here", n.buffer->name);
  }
  if (allocation->freed) found_.add(Rule::Plan, self, "{} is freed already", n.buffer->name);
  if (allocation->loop != loop) {
    found_.add(Rule::Plan, self, "{} is allocated outside this loop", n.buffer->name);
  }
  allocation->freed = true;
}

bool Allocations::is_freed(const Buffer& buffer) const {
  const auto found = allocations_.find(buffer.get());
  return found != allocations_.end() && found->second.freed;
}

void Allocations::check_pipelined(const Pipelined& n, const Stmt& self, const Stmt* loop) {
  const Allocation* allocation = find(n.buffer);
  if (allocation == nullptr || n.buffer->memory == MemoryScope::Global) {
    return found_.add(Rule::Definitions, self, "{} is not a shared or local buffer allocated here",
                      n.buffer->name);
  }
  if (loop == nullptr || allocation->loop != loop) {
    found_.add(Rule::Nodes, self, "{} is not allocated in the innermost loop around",
               n.buffer->name);
  }
}

}  // namespace texloom::ir
