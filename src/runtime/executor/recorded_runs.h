// Keeps the recordings of a plan's latest runs.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/queue.h"

namespace texloom::runtime {

// A run that is recorded over slots of a table of bindings. Its memory is bound at each submission.
struct RecordedRun {
  std::vector<hal::Constant> scalars;
  std::vector<hal::Offset2D> origins;  // of the arguments that are textures
  std::weak_ptr<hal::Queue> queue = {};
  // One for each submission; empty if the run is not recorded.
  std::vector<std::shared_ptr<const hal::CommandBuffer>> submissions = {};
  bool is_short = true;  // short enough to be recorded: a longer run waits for its own submissions
};

// The runs of a plan with equal sizes. Used by one thread at a time.
class RecordedRuns {
 public:
  // The run with these scalars and these origins of texture arguments. Null for the first run with
  // these values, which is then remembered. Only a few runs are remembered: a new one replaces the
  // least recently used. Runs of different queues are different runs, unless the queue is null.
  RecordedRun* find(std::span<const hal::Constant> scalars, std::span<const hal::Binding> arguments,
                    const std::shared_ptr<hal::Queue>& queue);

 private:
  std::list<RecordedRun> runs_;  // the latest first
};

}  // namespace texloom::runtime
