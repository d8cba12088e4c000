// Logs the calls of a sequence as readable lines and keeps the last ones.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>

namespace texloom::hal::fuzz {

// The HAL's behavior differs from the model.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thread safe: a watchdog reads what the sequence writes.
class Log {
 public:
  explicit Log(bool echo = false) : echo_(echo) {}

  void add(std::string call);
  // Appends the result of the latest call.
  void amend(const std::string& result);
  void clear();
  std::string text() const;
  std::size_t calls() const;

 private:
  const bool echo_;
  mutable std::mutex mutex_;  // guards all members below
  std::deque<std::string> lines_;
  std::size_t calls_ = 0;
};

}  // namespace texloom::hal::fuzz
