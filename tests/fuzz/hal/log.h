// The calls of a sequence as readable lines, of which the last are kept.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>

namespace texloom::hal::fuzz {

// What the HAL did otherwise than the model says.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thread safe: a watchdog reads what the sequence writes.
class Log {
 public:
  explicit Log(bool echo = false) : echo_(echo) {}

  void add(std::string call);
  // What the latest call came to.
  void amend(const std::string& result);
  void clear();
  std::string text() const;
  std::size_t calls() const;

 private:
  const bool echo_;
  mutable std::mutex mutex_;  // of all below
  std::deque<std::string> lines_;
  std::size_t calls_ = 0;
};

}  // namespace texloom::hal::fuzz
