// The indirect command buffers of a reusable command buffer.
#pragma once

#include <memory>

#include "runtime/drivers/metal/commands/indirect_run.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/command_buffer.h"
#include "runtime/hal/segment.h"

namespace texloom::hal::metal {

// Takes the indirect command buffers of a command buffer for one encoding, and gives them back at
// the end. The first encoding records them. Command buffers that can be submitted only once have
// none. No command buffer has any with a profile, which measures each command separately.
class IndirectRuns {
 public:
  struct Found {
    std::shared_ptr<const IndirectRun> run;  // must be kept until the batch is complete
    SegmentList::Iterator end;

    explicit operator bool() const { return run != nullptr; }
  };

  IndirectRuns(const Context& context, const CommandRange& range);
  ~IndirectRuns();
  IndirectRuns(const IndirectRuns&) = delete;
  IndirectRuns& operator=(const IndirectRuns&) = delete;

  // The run that begins here, with the arguments of this submission. Null if no run begins here, if
  // batches are using all recordings of the run, or if Metal has no memory for another recording. A
  // run lies in one range: host calls divide command buffers into ranges, and also end runs.
  Found find(SegmentList::Iterator begin);

 private:
  struct Encoded;

  const Context& context_;
  const CommandRange& range_;
  std::unique_ptr<Encoded> encoded_;
};

}  // namespace texloom::hal::metal
