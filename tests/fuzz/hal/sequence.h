// Runs sequences: one after the other, or several at a time on threads that share a device.
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
  bool echo = false;  // print every call when it is made
};

// The running sequences, for the watchdog and the sanitizers' death callback.
class Progress {
 public:
  void begin(std::uint64_t seed, std::vector<std::shared_ptr<Log>> logs);
  void end();
  std::uint64_t seed() const;
  // Returns the seed and the last calls of each thread.
  std::string describe() const;
  // Returns how long the current sequence has been running; zero if there is none.
  std::chrono::steady_clock::duration running() const;
  std::uint64_t calls() const;

 private:
  mutable std::mutex mutex_;  // guards all members below
  std::uint64_t seed_ = 0;
  bool is_running_ = false;
  std::chrono::steady_clock::time_point begin_ = {};
  std::vector<std::shared_ptr<Log>> logs_;
  std::uint64_t calls_ = 0;  // in sequences that have ended
};

std::shared_ptr<Driver> make_driver(DriverKind kind);

// Returns an empty string on success. After a failure the objects are leaked, since the device may
// still use them: the program should then exit.
std::string run_sequence(Driver& driver, const SequenceOptions& options, std::uint64_t seed,
                         Progress& progress);

}  // namespace texloom::hal::fuzz
