// The execution of one dispatch, on the calling thread of the host. The threads of a threadgroup
// have separate stacks and run in turn; threadgroups run sequentially. A seed determines the order,
// so that different seeds show the effects of missing barriers.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tests/softmetal/execute/dispatch.h"
#include "tests/softmetal/execute/fiber.h"
#include "tests/softmetal/execute/memory.h"

namespace softmetal {

class Execution {
 public:
  // `values` are the arguments of the entry point.
  Execution(const Function& function, const Arguments& arguments, const Grid& grid,
            const RunOptions& options);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  std::vector<Report> run();
  Memory& memory() { return memory_; }
  const std::map<const Texture*, TexelMarks>& texel_marks() const { return texel_marks_; }

  // The execution on this thread of the host, or null.
  static Execution* current();

  // --- Called by programs, on the stack of the running thread ---
  void access(const void* address, size_t size, Access access, bool whole, bool aligned);
  void barrier(uint32_t flags, const void* site, const void* frame);
  void simdgroup_barrier(uint32_t flags, const void* site, const void* frame);
  const void* gather(const void* value, uint32_t size, bool quad, const void* site,
                     const void* frame);
  uint32_t lane(bool quad) const;
  uint32_t lane_count(bool quad) const;
  void* threadgroup_variable(uint32_t id, uint64_t size, uint64_t alignment);
  void may_yield();
  // Returns a handle's texture; fails if the kernel must not use it as `type` says.
  const Texture& texture(uint64_t handle, uint32_t type, bool reads, bool writes);
  // Records a read or write of a texel.
  void touch(const Texture& texture, const uint8_t* texel, bool writes) {
    if (options_.on_touched) texel_marks_[&texture].record(texture, texel, writes);
  }
  const RunOptions& options() const { return options_; }

  // Ends the execution with an error of the running thread: throws Abandoned, which unwinds the
  // host's frames up to the program's call, where it is caught. The program's frames cannot be
  // unwound, so leave() then abandons the thread's stack.
  struct Abandoned {};
  [[noreturn]] void fail(ReportKind kind, std::string text);
  [[noreturn]] void leave();
  // Adds a report that does not end the execution.
  void note(ReportKind kind, std::string text);
  // For signal handlers: does not return if the fault at `code` is the program's.
  void fault(int signal, const void* code, const void* address);

 private:
  enum class State { New, Ready, AtBarrier, AtSimdBarrier, AtGather, Ended };
  struct Thread {
    Context context;
    Stack stack;
    State state = State::New;
    uint32_t index = 0, simdgroup = 0, lane = 0;
    uintptr_t site = 0;
    uint32_t flags = 0;
    const void* value = nullptr;
    uint32_t size = 0;
    bool quad = false;
    const void* table = nullptr;  // the values from the thread's last gather
    uint32_t gathers[2] = {0, 0};
    uint32_t builtins[SM_BUILTIN_COUNT][4] = {};
  };

  void set_up_memory();
  void run_group(uint32_t x, uint32_t y, uint32_t z, uint32_t number);
  void set_up_threads(uint32_t x, uint32_t y, uint32_t z);
  Thread& next_thread();
  void resume(Thread& thread);
  static void start(void* execution);
  void wait(Thread& thread, State state);
  void arrive_at_barrier();
  void arrive_in_simdgroup(Thread& thread, State state);
  void give_values(const std::vector<Thread*>& members);
  void make_ready(Thread& thread);
  // Reports a deadlock.
  void report_stuck();
  void report_time_limit();
  uintptr_t site_of(const void* site, const void* frame) const;
  Accessor accessor(const Region& region) const;
  std::vector<Thread*> members_of(const Thread& thread, bool quad);
  Report report_here(ReportKind kind, std::string text) const;

  const Function& function_;
  const Arguments& arguments_;
  const Grid grid_;
  const RunOptions options_;
  Memory memory_;
  std::vector<uint64_t> values_;
  std::vector<std::vector<uint8_t>> copies_;  // of arguments by value
  std::set<const Texture*> textures_;
  std::map<const Texture*, TexelMarks> texel_marks_;
  std::vector<Report> reports_;
  bool failed_ = false;
  volatile std::sig_atomic_t time_is_over_ = 0;  // set if the time ran out in the host's code
  const void* refused_ = nullptr;                // an address outside of all memory

  Context main_;
  StackPool stacks_;
  std::vector<Thread> threads_;
  uint32_t count_ = 0;  // threads of the running group
  std::vector<uint32_t> ready_;
  size_t next_ready_ = 0;
  Thread* running_ = nullptr;
  std::minstd_rand random_;

  std::vector<uint8_t> tables_;              // values of gathers
  std::vector<uint8_t> threadgroup_memory_;  // as large as the limit
  Region* threadgroup_region_ = nullptr;
  struct Variable {
    uint32_t id;
    size_t offset;
  };
  std::vector<Variable> variables_;
  size_t threadgroup_used_ = 0, threadgroup_bound_ = 0;
  uint32_t group_ = 0;  // the number of the running group, from 1
  uint32_t epoch_ = 1, device_epoch_ = 1;
  std::vector<uint32_t> simd_epochs_;
  size_t atomics_ = 0;
};

}  // namespace softmetal
