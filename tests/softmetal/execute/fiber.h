// Stacks for the threads of a threadgroup, and switches between stacks.
#pragma once

#include <cstddef>
#include <vector>

namespace softmetal {

// A suspended execution: a stack with saved registers.
class Context {
 public:
  // Switches from this context, which must be the running one, to another context.
  void switch_to(Context& other);
  // Must be called first on a prepared stack, with the context from which the switch came.
  static void entered_from(Context& other);
  // Prepares the call `start(argument)` on a stack; `start` must never return.
  void prepare(void* stack, size_t size, void (*start)(void*), void* argument);

 private:
  void* stack_pointer_ = nullptr;
  const void* stack_ = nullptr;  // for the address sanitizer
  size_t size_ = 0;
  void* fake_stack_ = nullptr;
};

struct Stack {
  char* begin = nullptr;
  size_t size = 0;
};

// Returns whether an address is in the guard memory of a stack.
bool is_below(const Stack& stack, const void* address);
bool is_above(const Stack& stack, const void* address);

// Stacks with guard memory on both sides. Not thread safe.
class StackPool {
 public:
  static constexpr size_t kSize = 256 * 1024;
  ~StackPool();
  Stack take();
  void give_back(Stack stack) { free_.push_back(stack); }
  // Marks all stacks as free.
  void give_back_all() { free_ = all_; }
  // Returns whether an address is on any stack or in its guard memory.
  bool contains(const void* address) const;

 private:
  std::vector<Stack> all_, free_;
};

}  // namespace softmetal
