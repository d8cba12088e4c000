// Stacks on which the threads of a threadgroup run, and switches between them.
#pragma once

#include <cstddef>
#include <vector>

namespace softmetal {

// A place where execution continues: a stack with saved registers on it.
class Context {
 public:
  // Switches from this context, which is the running one, to another.
  void switch_to(Context& other);
  // Prepares `start(argument)` on a stack; it must never return.
  // To be called first on a prepared stack, with the context that switched to it.
  static void entered_from(Context& other);
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

// Whether an address is in the guard memory below or above a stack.
bool is_below(const Stack& stack, const void* address);
bool is_above(const Stack& stack, const void* address);

// Stacks with guard memory below and above each. Not shared by threads of the host.
class StackPool {
 public:
  static constexpr size_t kSize = 256 * 1024;
  ~StackPool();
  Stack take();
  void give_back(Stack stack) { free_.push_back(stack); }
  // Forgets which stacks are in use.
  void give_back_all() { free_ = all_; }
  // Whether an address is on any stack, or in its guard memory.
  bool contains(const void* address) const;

 private:
  std::vector<Stack> all_, free_;
};

}  // namespace softmetal
