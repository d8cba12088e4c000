#include "runtime/commit/commit_counter.h"

namespace texloom::runtime {

void CommitCounter::add(std::int64_t launches, std::uint64_t bytes) {
  launches_ += launches;
  bytes_ += bytes;
}

std::optional<CommitLimit> CommitCounter::full() const {
  if (launches_ == 0) return {};
  if (policy_.wait_each) return CommitLimit::EachLaunch;
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
