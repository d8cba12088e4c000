#include "tests/fuzz/hal/log.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace texloom::hal::fuzz {

constexpr std::size_t kKeptLines = 40;

void Log::add(std::string call) {
  const std::scoped_lock lock(mutex_);
  if (echo_) {
    fmt::print(stderr, "{}\n", call);
    std::fflush(stderr);
  }
  lines_.push_back(fmt::format("{:5}  {}", ++calls_, call));
  if (lines_.size() > kKeptLines) lines_.pop_front();
}

void Log::amend(const std::string& result) {
  const std::scoped_lock lock(mutex_);
  if (!lines_.empty()) lines_.back() += " -> " + result;
}

void Log::clear() {
  const std::scoped_lock lock(mutex_);
  lines_.clear();
  calls_ = 0;
}

std::string Log::text() const {
  const std::scoped_lock lock(mutex_);
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

std::size_t Log::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

}  // namespace texloom::hal::fuzz
