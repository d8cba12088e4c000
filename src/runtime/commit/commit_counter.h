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

  // Counts launches whose arguments together name `bytes` bytes of memory, or a call of a custom
  // operator. Call this only after acting on the result of full().
  void add(std::int64_t launches, std::uint64_t bytes, bool is_call = false);
  // The limit that the current submission has reached; the next launch or call then belongs to the
  // next submission. Nullopt if there is room.
  std::optional<CommitLimit> full(bool next_is_call = false) const;
  // Begins the next submission.
  void commit();

  std::int64_t launches() const { return launches_; }         // in the current submission
  std::uint64_t bytes() const { return bytes_; }              // memory that these launches name
  std::uint64_t submissions() const { return submissions_; }  // ended submissions

 private:
  CommitPolicy policy_;
  std::uint64_t submissions_ = 0;
  std::int64_t launches_ = 0;
  std::uint64_t bytes_ = 0;
  bool was_call_ = false;  // whether the latest item counted was a call
};

}  // namespace texloom::runtime
