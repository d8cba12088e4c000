#include "runtime/commit/commit_counter.h"

namespace texloom::runtime {

void CommitCounter::add(std::int64_t launches, std::uint64_t bytes, bool is_call) {
  launches_ += launches;
  bytes_ += bytes;
  was_call_ = is_call;
}

std::optional<CommitLimit> CommitCounter::full(bool next_is_call) const {
  if (launches_ == 0) return {};
  if (policy_.waits == Waits::AfterEach) return CommitLimit::Waits;
  if (policy_.waits == Waits::AroundCalls) {
    if (was_call_ || next_is_call) return CommitLimit::Waits;
    return {};
  }
  const bool first = submissions_ == 0 && policy_.first_launches != 0;
  if (first && launches_ >= policy_.first_launches) return CommitLimit::FirstLaunches;
  if (!first && policy_.launches != 0 && launches_ >= policy_.launches)
    return CommitLimit::Launches;
  if (policy_.bytes != 0 && bytes_ >= policy_.bytes) return CommitLimit::Bytes;
  return {};
}

void CommitCounter::commit() {
  ++submissions_;
  launches_ = 0;
  bytes_ = 0;
}

}  // namespace texloom::runtime
