// Decides where submissions end: the one place that applies the limits of a CommitPolicy.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/commit/policy.h"

namespace texloom::runtime {

// The limit that a submission has reached.
enum class CommitLimit : std::uint8_t { Launches, FirstLaunches, Bytes, Waits };

// Counts the launches of a run, submission by submission.
class CommitCounter {
 public:
  explicit CommitCounter(const CommitPolicy& policy) : policy_(policy) {}

  // Counts launches that share arguments of `bytes` bytes, or a call of a custom operator. Call it
  // only after acting on the result of full().
  void add(std::int64_t launches, std::uint64_t bytes, bool is_call = false);
  // The limit that the current submission has reached, so that the next launch or call belongs to
  // another one; nullopt if there is room.
  std::optional<CommitLimit> full(bool next_is_call = false) const;
  // Begins the next submission.
  void commit();

  std::int64_t launches() const { return launches_; }  // of the current submission
  std::uint64_t bytes() const { return bytes_; }       // of the memory that its launches name
  std::uint64_t submissions() const { return submissions_; }  // that have ended

 private:
  CommitPolicy policy_;
  std::uint64_t submissions_ = 0;
  std::int64_t launches_ = 0;
  std::uint64_t bytes_ = 0;
  bool was_call_ = false;  // whether the latest item counted was a call
};

}  // namespace texloom::runtime
