// A batch from its submission until it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/commands/encoder.h"
#include "runtime/drivers/metal/commands/samples.h"
#include "runtime/drivers/metal/commands/staging.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/queue.h"
#include "support/status.h"

namespace texloom::hal::metal {

// A command that a profile measures.
struct MeasuredCommand {
  std::string name;
  std::uint64_t bytes = 0;
  SamplePair samples = {};  // without samples, the command gets the time of its command buffer
};

// A command buffer of Metal that was committed.
struct Committed {
  Handle<MetalCommands> commands;
  // With a profile:
  std::vector<MeasuredCommand> measured = {};
  ProfileClock::time_point time = {};  // when it was committed
};

// Objects that a batch needs until it is complete.
struct Submitted {
  std::vector<Committed> commands;
  std::vector<StagingBlock> staging;
  std::vector<StagedReadback> readbacks;
  std::vector<std::shared_ptr<const IndirectRun>> runs;
  std::vector<TimelinePoint> signals;         // points that the device signals
  std::vector<Handle<MetalSamples>> samples;  // of the measured commands
  ClockMoment before;                         // the first commit, if commands are sampled
};

// Memory that batches of a queue share; it may outlive the queue.
struct QueueMemory {
  explicit QueueMemory(const Context& context) : staging(context), samples(context) {}

  Staging staging;
  Samples samples;
};

class MetalWork final : public QueueBackend::Work {
 public:
  // Spans are added to `track` of the context's profile, if there is one.
  MetalWork(std::shared_ptr<const Context> context, std::shared_ptr<QueueMemory> memory,
            Submitted submitted, std::uint32_t track)
      : context_(std::move(context)),
        memory_(std::move(memory)),
        submitted_(std::move(submitted)),
        track_(track) {}

  bool is_complete() override;
  Status wait() override;

 private:
  void add_spans(Profile& profile, bool is_complete);

  std::shared_ptr<const Context> context_;
  std::shared_ptr<QueueMemory> memory_;
  Submitted submitted_;
  std::uint32_t track_;
};

}  // namespace texloom::hal::metal
