#include "tests/softmetal/execute/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define SOFTMETAL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOFTMETAL_ASAN 1
#endif
#endif

#ifdef SOFTMETAL_ASAN
// Functions to tell the address sanitizer of each switch; not every compiler installs its header.
extern "C" {
void __sanitizer_start_switch_fiber(void** save, const void* bottom, size_t size);
void __sanitizer_finish_switch_fiber(void* saved, const void** bottom, size_t* size);
void __asan_unpoison_memory_region(const volatile void* begin, size_t size);
}
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace softmetal {
namespace {

// The size of guard memory: large, so that far out-of-bounds indices fault. The guard takes only
// address space, no memory.
constexpr size_t kGuard = size_t{1} << 20;

#if !defined(__x86_64__)
// The start of a prepared context.
struct Start {
  void (*function)(void*);
  void* argument;
};
#endif

}  // namespace

#if defined(__x86_64__)
// Pushes the callee-saved registers, stores the stack pointer at `save`, and continues on the stack
// `load`. A zero frame pointer ends the chain of frames of a new stack.
extern "C" void softmetal_switch(void** save, void* load);
asm(R"(
.text
.globl softmetal_switch
.hidden softmetal_switch
.type softmetal_switch, @function
softmetal_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size softmetal_switch, .-softmetal_switch
)");

// The first frame of a stack: r12 has the function, r13 its argument.
extern "C" void softmetal_start();
asm(R"(
.text
.globl softmetal_start
.hidden softmetal_start
.type softmetal_start, @function
softmetal_start:
  movq %r13, %rdi
  xorl %ebp, %ebp
  callq *%r12
  ud2
.size softmetal_start, .-softmetal_start
)");

void Context::prepare(void* stack, size_t size, void (*start)(void*), void* argument) {
  auto** top = reinterpret_cast<void**>(static_cast<char*>(stack) + size);
  *--top = nullptr;  // keeps the stack aligned to 16 after the call
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&softmetal_start);
  *--top = nullptr;                         // rbp
  *--top = nullptr;                         // rbx
  *--top = reinterpret_cast<void*>(start);  // r12
  *--top = argument;                        // r13
  *--top = nullptr;                         // r14
  *--top = nullptr;                         // r15
  stack_pointer_ = top;
  stack_ = stack;
  size_ = size;
  fake_stack_ = nullptr;
}

namespace {
void jump(void*& from, void*& to) { softmetal_switch(&from, to); }
}  // namespace
#else
namespace {
// The C library's contexts are slower, since they also switch the signal mask.
void begin(unsigned high, unsigned low) {
  const auto* start = reinterpret_cast<Start*>((static_cast<uintptr_t>(high) << 32) | low);
  start->function(start->argument);
}
void jump(void*& from, void*& to) {
  ucontext_t here;
  from = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to));
}
}  // namespace

void Context::prepare(void* stack, size_t size, void (*start)(void*), void* argument) {
  auto* context = static_cast<ucontext_t*>(stack);
  auto* first = reinterpret_cast<Start*>(context + 1);
  *first = {start, argument};
  getcontext(context);
  context->uc_stack.ss_sp = first + 1;
  context->uc_stack.ss_size = size - sizeof *context - sizeof *first;
  context->uc_link = nullptr;
  const auto bits = reinterpret_cast<uintptr_t>(first);
  makecontext(context, reinterpret_cast<void (*)()>(begin), 2, static_cast<unsigned>(bits >> 32),
              static_cast<unsigned>(bits));
  stack_pointer_ = context;
  stack_ = stack;
  size_ = size;
}
#endif

void Context::switch_to(Context& other) {
#ifdef SOFTMETAL_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, other.stack_, other.size_);
  jump(stack_pointer_, other.stack_pointer_);
  __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#else
  jump(stack_pointer_, other.stack_pointer_);
#endif
}

void Context::entered_from(Context& other) {
#ifdef SOFTMETAL_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &other.stack_, &other.size_);
#else
  (void)other;
#endif
}

StackPool::~StackPool() {
  for (const Stack& s : all_) munmap(s.begin - kGuard, s.size + 2 * kGuard);
}

Stack StackPool::take() {
  if (free_.empty()) {
    void* memory = mmap(nullptr, kSize + 2 * kGuard, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    char* const begin = static_cast<char*>(memory) + kGuard;
    if (mprotect(begin, kSize, PROT_READ | PROT_WRITE) != 0) std::abort();
    all_.push_back({begin, kSize});
    return all_.back();
  }
  const Stack stack = free_.back();
  free_.pop_back();
#ifdef SOFTMETAL_ASAN
  // The last thread's frames may have been abandoned, so their redzones are still poisoned.
  __asan_unpoison_memory_region(stack.begin, stack.size);
#endif
  return stack;
}

bool StackPool::contains(const void* address) const {
  for (const Stack& s : all_) {
    if (address >= s.begin - kGuard && address < s.begin + s.size + kGuard) return true;
  }
  return false;
}

bool is_below(const Stack& stack, const void* address) {
  return address >= stack.begin - kGuard && address < stack.begin;
}

bool is_above(const Stack& stack, const void* address) {
  const char* const end = stack.begin + stack.size;
  return address >= end && address < end + kGuard;
}

}  // namespace softmetal
