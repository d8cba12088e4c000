// The recorded runs of a reusable command buffer.
#pragma once

#include <memory>

#include "runtime/drivers/metal/commands/recorded_run.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/segment.h"

namespace texloom::hal::metal {

// Takes the recorded runs of a command buffer for one encoding, and gives them back at the end. The
// first encoding records them. There are none in command buffers that can be submitted only once,
// and with a profile, which takes the time of each command.
class RecordedRuns {
 public:
  struct Found {
    std::shared_ptr<const RecordedRun> run;  // must be kept until the batch is complete
    SegmentList::Iterator end;

    explicit operator bool() const { return run != nullptr; }
  };

  RecordedRuns(const Context& context, const CommandRange& range);
  ~RecordedRuns();
  RecordedRuns(const RecordedRuns&) = delete;
  RecordedRuns& operator=(const RecordedRuns&) = delete;

  // The run that begins here, with the arguments of this submission. Nothing if none begins here,
  // or batches are using what was recorded of it.
  Found find(SegmentList::Iterator begin);

 private:
  struct Encoded;

  const Context& context_;
  const CommandRange& range_;
  std::unique_ptr<Encoded> encoded_;
};

}  // namespace texloom::hal::metal
