#include "tests/softmetal/execute/execution.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "tests/softmetal/execute/signals.h"

namespace softmetal {
namespace {

thread_local Execution* tl_execution = nullptr;

// The largest value that a thread may pass to gather().
constexpr size_t kValueBytes = 64;

}  // namespace

Execution* Execution::current() { return tl_execution; }

Execution::Execution(const Function& function, const Arguments& arguments, const Grid& grid,
                     const RunOptions& options)
    : function_(function),
      arguments_(arguments),
      grid_(grid),
      options_(options),
      random_(static_cast<uint32_t>(options.seed * 2654435761U + 1)) {
  const auto& t = grid.threads_per_threadgroup;
  const size_t count = size_t{t[0]} * t[1] * t[2];
  threads_.resize(count);
  // Two tables for each kind of group: a thread may enter the next gather while others still read
  // the previous values.
  tables_.resize(4 * (count + options.simd_width) * kValueBytes);
  threadgroup_memory_.resize(options.threadgroup_memory_limit + 64);
  simd_epochs_.resize(count / options.simd_width + 1);
  set_up_memory();
}

Execution::~Execution() = default;

std::vector<Report> Execution::run() {
  tl_execution = this;
  const SignalScope signals(options_.time_limit);
  const uint64_t count =
      uint64_t{grid_.threadgroups[0]} * grid_.threadgroups[1] * grid_.threadgroups[2];
  // Steps of a length that is coprime to the count visit each group once.
  uint64_t first = 0, step = 1;
  if (options_.seed != 0) {
    std::uniform_int_distribution<uint64_t> choice(1, count);
    first = choice(random_);
    do {
      step = choice(random_);
    } while (std::gcd(step, count) != 1);
  }
  for (uint64_t i = 0; i < count && !failed_; ++i) {
    if (time_is_over_ != 0) {
      report_time_limit();
      break;
    }
    const auto number = static_cast<uint32_t>((first + i * step) % count);
    const uint32_t x = number % grid_.threadgroups[0], rest = number / grid_.threadgroups[0];
    run_group(x, rest % grid_.threadgroups[1], rest / grid_.threadgroups[1], number + 1);
  }
  tl_execution = nullptr;
  return std::move(reports_);
}

void Execution::set_up_threads(uint32_t x, uint32_t y, uint32_t z) {
  const auto& size = grid_.threads_per_threadgroup;
  const std::array<uint32_t, 3> at = {x, y, z};
  std::array<uint32_t, 3> whole{}, here{};
  for (int a = 0; a < 3; ++a) {
    whole[a] = grid_.threads ? (*grid_.threads)[a] : grid_.threadgroups[a] * size[a];
    here[a] = std::min(size[a], whole[a] - at[a] * size[a]);
  }
  count_ = here[0] * here[1] * here[2];
  const uint32_t width = options_.simd_width;
  for (uint32_t i = 0; i < count_; ++i) {
    Thread& t = threads_[i];
    t.state = State::New;
    t.index = i;
    t.simdgroup = i / width;
    t.lane = i % width;
    t.gathers[0] = t.gathers[1] = 0;
    const std::array<uint32_t, 3> in_group = {i % here[0], i / here[0] % here[1],
                                              i / here[0] / here[1]};
    const auto set = [&](int row, uint32_t a, uint32_t b = 1, uint32_t c = 1) {
      t.builtins[row][0] = a, t.builtins[row][1] = b, t.builtins[row][2] = c;
    };
    set(SM_THREAD_POSITION_IN_GRID, x * size[0] + in_group[0], y * size[1] + in_group[1],
        z * size[2] + in_group[2]);
    set(SM_THREAD_POSITION_IN_THREADGROUP, in_group[0], in_group[1], in_group[2]);
    set(SM_THREADGROUP_POSITION_IN_GRID, x, y, z);
    set(SM_THREADS_PER_THREADGROUP, here[0], here[1], here[2]);
    set(SM_THREADS_PER_GRID, whole[0], whole[1], whole[2]);
    set(SM_THREADGROUPS_PER_GRID, grid_.threadgroups[0], grid_.threadgroups[1],
        grid_.threadgroups[2]);
    set(SM_DISPATCH_THREADS_PER_THREADGROUP, size[0], size[1], size[2]);
    set(SM_GRID_ORIGIN, 0, 0, 0);
    set(SM_THREAD_INDEX_IN_THREADGROUP, i);
    set(SM_THREAD_INDEX_IN_SIMDGROUP, t.lane);
    set(SM_SIMDGROUP_INDEX_IN_THREADGROUP, t.simdgroup);
    set(SM_THREADS_PER_SIMDGROUP, width);
    set(SM_SIMDGROUPS_PER_THREADGROUP, (count_ + width - 1) / width);
    set(SM_THREAD_INDEX_IN_QUADGROUP, i % 4);
    set(SM_QUADGROUP_INDEX_IN_THREADGROUP, i / 4);
    set(SM_QUADGROUPS_PER_THREADGROUP, (count_ + 3) / 4);
  }
}

void Execution::run_group(uint32_t x, uint32_t y, uint32_t z, uint32_t number) {
  set_up_threads(x, y, z);
  group_ = number;
  ++epoch_;
  ++device_epoch_;
  std::fill(simd_epochs_.begin(), simd_epochs_.end(), 0);
  // Threadgroup memory is undefined at first.
  std::memset(threadgroup_memory_.data(), 0xff, threadgroup_memory_.size());
  threadgroup_region_->written.assign(threadgroup_region_->size, 0);
  variables_.clear();
  threadgroup_used_ = threadgroup_bound_;
  ready_.resize(count_);
  for (uint32_t i = 0; i < count_; ++i) ready_[i] = i;
  next_ready_ = 0;
  uint32_t ended = 0;
  while (ended < count_ && !failed_) {
    if (next_ready_ == ready_.size()) {
      report_stuck();
      break;
    }
    Thread& thread = next_thread();
    resume(thread);
    if (thread.state == State::Ended) {
      stacks_.give_back(thread.stack);
      ++ended;
    }
  }
  if (failed_) stacks_.give_back_all();
}

Execution::Thread& Execution::next_thread() {
  if (options_.seed != 0) {
    std::uniform_int_distribution<size_t> choice(next_ready_, ready_.size() - 1);
    std::swap(ready_[next_ready_], ready_[choice(random_)]);
  }
  Thread& thread = threads_[ready_[next_ready_++]];
  if (next_ready_ == ready_.size()) {
    ready_.clear();
    next_ready_ = 0;
  }
  return thread;
}

void Execution::resume(Thread& thread) {
  if (thread.state == State::New) {
    thread.stack = stacks_.take();
    thread.context.prepare(thread.stack.begin, thread.stack.size, &Execution::start, this);
  }
  thread.state = State::Ready;
  running_ = &thread;
  main_.switch_to(thread.context);
  running_ = nullptr;
}

void Execution::start(void* execution) {
  auto* self = static_cast<Execution*>(execution);
  Context::entered_from(self->main_);
  self->function_.entry(self->values_.data(), self->running_->builtins);
  self->running_->state = State::Ended;
  self->running_->context.switch_to(self->main_);
}

void Execution::make_ready(Thread& thread) {
  thread.state = State::Ready;
  ready_.push_back(thread.index);
}

// Suspends the running thread until it becomes ready.
void Execution::wait(Thread& thread, State state) {
  thread.state = state;
  thread.context.switch_to(main_);
}

void Execution::may_yield() {
  // Yields regularly, so that a thread that spins on an atomic lets others continue.
  if (++atomics_ % 8 != 0) return;
  Thread& thread = *running_;
  make_ready(thread);
  thread.context.switch_to(main_);
}

void Execution::barrier(uint32_t flags, const void* site, const void* frame) {
  Thread& thread = *running_;
  thread.site = site_of(site, frame);
  thread.flags = flags;
  thread.state = State::AtBarrier;
  arrive_at_barrier();
  wait(thread, thread.state);
}

// The barrier opens when all threads have arrived.
void Execution::arrive_at_barrier() {
  for (uint32_t i = 0; i < count_; ++i) {
    if (threads_[i].state != State::AtBarrier) return;
  }
  for (uint32_t i = 1; i < count_; ++i) {
    if (threads_[i].site != threads_[0].site || threads_[i].flags != threads_[0].flags) {
      fail(ReportKind::Barrier, "threads 0 and " + std::to_string(i) +
                                    " of the group wait at different "
                                    "calls of threadgroup_barrier()");
    }
  }
  if ((threads_[0].flags & 2) != 0) ++epoch_;
  if ((threads_[0].flags & 1) != 0) ++device_epoch_;
  for (uint32_t i = 0; i < count_; ++i) make_ready(threads_[i]);
}

std::vector<Execution::Thread*> Execution::members_of(const Thread& thread, bool quad) {
  const uint32_t width = quad ? 4 : options_.simd_width;
  const uint32_t first = thread.index / width * width;
  std::vector<Thread*> members;
  for (uint32_t i = first; i < std::min(first + width, count_); ++i)
    members.push_back(&threads_[i]);
  return members;
}

void Execution::simdgroup_barrier(uint32_t flags, const void* site, const void* frame) {
  Thread& thread = *running_;
  thread.site = site_of(site, frame);
  thread.flags = flags;
  thread.quad = false;
  arrive_in_simdgroup(thread, State::AtSimdBarrier);
  wait(thread, thread.state);
}

const void* Execution::gather(const void* value, uint32_t size, bool quad, const void* site,
                              const void* frame) {
  Thread& thread = *running_;
  if (size > kValueBytes)
    fail(ReportKind::Simdgroup, "a value of this size is not shared by a simdgroup");
  thread.site = site_of(site, frame);
  thread.value = value;
  thread.size = size;
  thread.quad = quad;
  arrive_in_simdgroup(thread, State::AtGather);
  wait(thread, thread.state);
  return thread.table;
}

// A call of a simdgroup completes when all its threads wait at this call.
void Execution::arrive_in_simdgroup(Thread& thread, State state) {
  thread.state = state;
  const std::vector<Thread*> members = members_of(thread, thread.quad);
  for (const Thread* t : members) {
    if (t->state != state || t->site != thread.site || t->quad != thread.quad) return;
  }
  if (state == State::AtGather) {
    give_values(members);
  } else if (members[0]->flags != 0) {
    ++simd_epochs_[thread.simdgroup];
  }
  for (Thread* t : members) make_ready(*t);
}

void Execution::give_values(const std::vector<Thread*>& members) {
  Thread& first = *members[0];
  const uint32_t turn = first.gathers[first.quad ? 1 : 0] % 2;
  const size_t part = tables_.size() / 4;
  uint8_t* table =
      tables_.data() + (first.quad ? 2 : 0) * part + turn * part + first.index * kValueBytes;
  for (size_t i = 0; i < members.size(); ++i) {
    std::memcpy(table + i * first.size, members[i]->value, first.size);
    members[i]->table = table;
    ++members[i]->gathers[first.quad ? 1 : 0];
  }
}

uint32_t Execution::lane(bool quad) const { return quad ? running_->index % 4 : running_->lane; }

uint32_t Execution::lane_count(bool quad) const {
  const uint32_t width = quad ? 4 : options_.simd_width;
  return std::min(width, count_ - running_->index / width * width);
}

// A call site is identified by its call stack: the return addresses in the chain of frames.
uintptr_t Execution::site_of(const void* site, const void* frame) const {
  auto hash = reinterpret_cast<uintptr_t>(site);
  const Stack& stack = running_->stack;
  const auto* at = static_cast<const uintptr_t*>(frame);
  for (int depth = 0; depth < 64; ++depth) {
    const char* place = reinterpret_cast<const char*>(at);
    if (place < stack.begin || place + 16 > stack.begin + stack.size) break;
    // The chain ends at the entry point: the host's code has no frame pointers.
    const char* from = reinterpret_cast<const char*>(at[1]);
    if (from < function_.module->begin() || from >= function_.module->end()) break;
    hash = hash * 1000003 ^ at[1];
    at = reinterpret_cast<const uintptr_t*>(at[0]);
  }
  return hash;
}

// Reports a deadlock: threads wait for others that have ended or wait at another call.
void Execution::report_stuck() {
  static constexpr const char* kWhere[] = {"",
                                           "",
                                           "at a threadgroup_barrier()",
                                           "at a simdgroup_barrier()",
                                           "at a function of its simdgroup",
                                           ""};
  const auto where = [&](const Thread& t) {
    if (t.state == State::Ended) return std::string("has ended");
    const char* place = t.state == State::AtGather && t.quad ? "at a function of its quadgroup"
                                                             : kWhere[static_cast<int>(t.state)];
    return std::string("waits ") + place;
  };
  // Looks for a simdgroup whose threads wait at different calls, then for waits at other barriers.
  for (uint32_t i = 0; i < count_; ++i) {
    Thread& t = threads_[i];
    if (t.state != State::AtGather && t.state != State::AtSimdBarrier) continue;
    running_ = &t;
    for (const Thread* other : members_of(t, t.quad)) {
      if (other->state == t.state && other->site == t.site) continue;
      const bool alike = other->state == t.state;
      reports_.push_back(report_here(ReportKind::Simdgroup,
                                     "lane " + std::to_string(t.lane) + " of the simdgroup " +
                                         where(t) + ", lane " + std::to_string(other->lane) + " " +
                                         where(*other) + (alike ? ", but at another call" : "")));
      failed_ = true;
      return;
    }
  }
  uint32_t waiting = 0, ended = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    if (threads_[i].state == State::AtBarrier) {
      ++waiting;
      running_ = &threads_[i];
    }
    if (threads_[i].state == State::Ended) ++ended;
  }
  reports_.push_back(report_here(ReportKind::Barrier,
                                 std::to_string(waiting) + " of " + std::to_string(count_) +
                                     " threads wait at a threadgroup_barrier() that the other " +
                                     std::to_string(count_ - waiting) +
                                     " do not reach: " + std::to_string(ended) + " have ended"));
  failed_ = true;
}

}  // namespace softmetal
