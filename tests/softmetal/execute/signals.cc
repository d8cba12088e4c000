#include "tests/softmetal/execute/signals.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include "tests/softmetal/execute/execution.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace softmetal {
namespace {

constexpr std::array<int, 5> kSignals = {SIGSEGV, SIGBUS, SIGILL, kDivisionSignal,
                                         kTimeLimitSignal};
constexpr size_t kStackBytes = 256 * 1024;

// The process's handlers from before the first scope; our handlers forward to these.
std::array<struct sigaction, kSignals.size()>& previous() {
  static std::array<struct sigaction, kSignals.size()> kActions;
  return kActions;
}

const void* code_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.pc);
#else
  (void)context;
  return nullptr;
#endif
}

void handle(int signal, siginfo_t* info, void* context) {
  const auto& c = *static_cast<ucontext_t*>(context);
  Execution* execution = Execution::current();
  if (execution != nullptr) {
    // The handler need not return, so the signals are unblocked here.
    sigset_t mask = c.uc_sigmask;
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    execution->fault(signal, code_of(c), info->si_addr);
  }
  if (signal == kTimeLimitSignal) return;  // the host's own code was running; the timer fires again
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] != signal) continue;
    struct sigaction& old = previous()[i];
    if ((old.sa_flags & SA_SIGINFO) != 0) {
      old.sa_sigaction(signal, info, context);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
      old.sa_handler(signal);
    } else {
      ::signal(signal, SIG_DFL);  // the faulting instruction runs again
    }
  }
}

void install() {
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &previous()[i]);
}

}  // namespace

SignalScope::SignalScope(double time_limit) {
  static std::once_flag once;
  std::call_once(once, install);
  stack_ = std::malloc(kStackBytes);
  stack_t stack{};
  stack.ss_sp = stack_;
  stack.ss_size = kStackBytes;
  ::sigaltstack(&stack, &old_stack_);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTimeLimitSignal;
  event.sigev_notify_thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer{};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
    const double whole = std::floor(time_limit);
    itimerspec spec{};
    spec.it_value.tv_sec = static_cast<time_t>(whole);
    spec.it_value.tv_nsec = static_cast<long>((time_limit - whole) * 1e9);
    spec.it_interval.tv_nsec = 1000000;  // repeated until the program's code is interrupted
    ::timer_settime(timer, 0, &spec, nullptr);
    timer_ = timer;
    has_timer_ = true;
  }
}

SignalScope::~SignalScope() {
  if (has_timer_) ::timer_delete(static_cast<timer_t>(timer_));
  ::sigaltstack(&old_stack_, nullptr);
  std::free(stack_);
}

}  // namespace softmetal
