// Runs sequences: one after the other, or those of several threads at a time on one device.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/hal/driver.h"
#include "tests/fuzz/hal/log.h"

namespace texloom::hal::fuzz {

enum class DriverKind : std::uint8_t { Null, Host };

struct SequenceOptions {
  DriverKind driver = DriverKind::Host;
  unsigned threads = 1;
  unsigned calls = 200;
  bool echo = false;  // every call, when it is made
};

// What is under way, for those that report it: the watchdog, and what sanitizers call at the end.
class Progress {
 public:
  void begin(std::uint64_t seed, std::vector<std::shared_ptr<Log>> logs);
  void end();
  std::uint64_t seed() const;
  // Seed, last calls of each thread.
  std::string describe() const;
  // How long the present sequence has been running; zero where there is none.
  std::chrono::steady_clock::duration running() const;
  std::uint64_t calls() const;

 private:
  mutable std::mutex mutex_;  // of all below
  std::uint64_t seed_ = 0;
  bool is_running_ = false;
  std::chrono::steady_clock::time_point begin_ = {};
  std::vector<std::shared_ptr<Log>> logs_;
  std::uint64_t calls_ = 0;  // of sequences that have ended
};

std::shared_ptr<Driver> make_driver(DriverKind kind);

// Empty where all went as it should. After a failure the objects are left as they are, as the
// device may still work with them: the program is to end then.
std::string run_sequence(Driver& driver, const SequenceOptions& options, std::uint64_t seed,
                         Progress& progress);

}  // namespace texloom::hal::fuzz
