// hal_fuzz runs random sequences of HAL calls, each identified by its seed. ./dev fuzz hal builds
// it with sanitizers and runs it; the C++ tests run a few sequences.
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "tests/fuzz/hal/options.h"
#include "tests/fuzz/hal/sequence.h"

// If a sanitizer is linked, it calls `callback` before it ends the program.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace texloom::hal::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestSequence(120);
constexpr std::chrono::seconds kProgressEvery(10);

std::atomic<bool> is_interrupted = false;

std::string command_of(const Options& options, std::uint64_t seed) {
  const SequenceOptions& sequence = options.sequence;
  return fmt::format("{} --driver {} --threads {} --calls {} --seed {} --count 1 --verbose",
                     options.program, sequence.driver == DriverKind::Null ? "null" : "host",
                     sequence.threads, sequence.calls, seed);
}

// The command that repeats the current sequence.
char again[512];
std::atomic<std::size_t> again_size = 0;

void note_sequence(const Options& options, std::uint64_t seed) {
  const std::string text = "\nagain: " + command_of(options, seed) + "\n";
  again_size = text.copy(again, sizeof again);
}

// Uses the system call directly, since sanitizers may hold any lock.
void report_death() {
  static_cast<void>(::syscall(SYS_write, STDERR_FILENO, again, again_size.load()));
}

void report(const std::string& what, const Progress& progress) {
  fmt::print(stderr, "\nhal_fuzz: {}\n{}{}", what, progress.describe(),
             std::string_view(again, again_size));
  std::fflush(stderr);
}

// Ends the program if a sequence takes too long, and reports progress from time to time.
class Watchdog {
 public:
  explicit Watchdog(const Progress& progress) : progress_(progress) {
    thread_ = std::thread([this] { watch(); });
  }
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::seconds(1), [&] { return stopping_; })) {
      if (progress_.running() < kLongestSequence) continue;
      report("a sequence hangs", progress_);
      std::_Exit(3);
    }
  }

  const Progress& progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

void show_progress(std::uint64_t sequences, std::uint64_t calls, Clock::duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  const bool in_place = isatty(STDOUT_FILENO) != 0;
  fmt::print("{}{} sequences, {} calls, {} s{}", in_place ? "\r" : "", sequences, calls, seconds,
             in_place ? "" : "\n");
  std::fflush(stdout);
}

int run(const Options& options) {
  const std::shared_ptr<Driver> driver = make_driver(options.sequence.driver);
  Progress progress;
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(report_death);
  std::signal(SIGINT, [](int) { is_interrupted = true; });
  std::signal(SIGTERM, [](int) { is_interrupted = true; });
  const Watchdog watchdog(progress);
  const Clock::time_point begin = Clock::now();
  Clock::time_point next_show = begin + kProgressEvery;
  std::uint64_t sequences = 0;
  const auto is_done = [&] {
    if (options.count && sequences >= *options.count) return true;
    return options.minutes &&
           Clock::now() - begin >= std::chrono::duration<double, std::ratio<60>>(*options.minutes);
  };
  while (!is_interrupted && !is_done()) {
    note_sequence(options, options.seed + sequences);
    const std::string failure =
        run_sequence(*driver, options.sequence, options.seed + sequences, progress);
    if (!failure.empty()) {
      report(failure, progress);
      std::_Exit(1);
    }
    ++sequences;
    if (Clock::now() < next_show) continue;
    show_progress(sequences, progress.calls(), Clock::now() - begin);
    next_show = Clock::now() + kProgressEvery;
  }
  fmt::print("{}{}: {} sequences from seed {}, {} calls, {:.0f} s: no failure\n",
             is_interrupted ? "\ninterrupted; " : "", driver->name(), sequences, options.seed,
             progress.calls(), std::chrono::duration<double>(Clock::now() - begin).count());
  return is_interrupted ? 130 : 0;
}

}  // namespace
}  // namespace texloom::hal::fuzz

int main(int argc, char** argv) {
  using namespace texloom::hal::fuzz;
  Options options;
  const std::string fault = parse(argc, argv, options);
  if (!fault.empty()) {
    fmt::print(stderr, "hal_fuzz: {}\n  hal_fuzz --help lists the options\n", fault);
    return 2;
  }
  if (options.help) {
    fmt::print("{}", kUsage);
    return 0;
  }
  return run(options);
}
