// A list of commands for a device, recorded and then submitted, once or any number of times.
//
// Two phases: recording checks each command and appends a segment, here, for every driver alike;
// a driver walks the segments when a queue submits them, and so sees neighbours.
//
// Commands between two barriers are unordered; what a command needs of another must lie on the
// other side of a barrier. Who puts barriers in is said by CommandBufferDesc; by default the
// command buffer itself does, and commands then behave as if each ran after the one before it.
//
// A command that moves nothing (zero groups, zero bytes, an empty region) is checked and then left
// out. A refused command returns InvalidArgument (Unimplemented where the device cannot do it) and
// leaves the command buffer as it was. Offsets and lengths in bytes may be any, whatever
// DeviceLimits::transfer_alignment says.
//
// Recording is for one thread at a time. After finish() the object is immutable and may be
// submitted from any thread. It keeps every object that it names.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/hal/arena.h"
#include "runtime/hal/hazards.h"
#include "runtime/hal/retained.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

enum class HostMemory : std::uint8_t {
  Copied,    // the command buffer keeps a copy
  Borrowed,  // the caller keeps it, unchanged, until the queue has run the command
};

enum class Barriers : std::uint8_t {
  Automatic,  // put in where a command touches what one before it wrote, or writes what it read
  Explicit,   // the caller records them
  Checked,    // the caller records them, and finish() fails where one is missing
};

struct CommandBufferDesc {
  bool reusable = false;  // else it can be submitted once
  Barriers barriers = Barriers::Automatic;
};

// Made by Device::create_command_buffer.
class CommandBuffer {
 public:
  CommandBuffer(std::shared_ptr<const DeviceInfo> device_info, std::shared_ptr<ArenaBlocks> memory,
                const CommandBufferDesc& desc = {});
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // Runs an entry point over `groups` work groups, at most DeviceLimits::max_groups. Bindings are
  // the buffers and textures among its parameters in order, constants the scalars among them in
  // order.
  Status dispatch(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                  std::array<std::uint32_t, 3> groups, std::span<const Binding> bindings,
                  std::span<const Constant> constants);

  // The same over as many groups as the entry point's grid has for these numbers.
  Status dispatch_workload(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                           std::span<const std::int64_t> workload,
                           std::span<const Binding> bindings, std::span<const Constant> constants);

  // The same, where bindings may be slots of the table that comes with each submission. What is
  // bound to a slot is checked then.
  Status dispatch_with_table(const std::shared_ptr<Executable>& executable,
                             std::uint32_t entry_point, std::array<std::uint32_t, 3> groups,
                             std::span<const BindingRef> bindings,
                             std::span<const Constant> constants);

  // The numbers of groups are read from a buffer when the command runs: three uint32 at a multiple
  // of 4 bytes; the buffer needs BufferUsage::Indirect. None of them may be over
  // DeviceLimits::max_groups, which nobody checks. Unimplemented without
  // DeviceFeatures::indirect_dispatch.
  Status dispatch_indirect(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                           const BindingRef& groups, std::span<const BindingRef> bindings,
                           std::span<const Constant> constants);

  // Byte i of [offset, offset + bytes) becomes pattern[i % pattern.size()]; the pattern has 1, 2 or
  // 4 bytes, and offset and length need not be multiples of it.
  Status fill(const std::shared_ptr<Buffer>& target, std::uint64_t offset, std::uint64_t bytes,
              std::span<const std::byte> pattern);

  // Writes host memory to [offset, offset + data.size()) of the buffer. OutOfMemory when the host
  // has no room for the copy.
  Status update(const std::shared_ptr<Buffer>& target, std::uint64_t offset,
                std::span<const std::byte> data, HostMemory memory = HostMemory::Copied);

  // Reads into host memory that the caller keeps until the queue has run the command.
  Status readback(const std::shared_ptr<Buffer>& source, std::uint64_t offset,
                  std::span<std::byte> data);

  // Ranges within one buffer may not overlap.
  Status copy_buffer(const std::shared_ptr<Buffer>& source, std::uint64_t source_offset,
                     const std::shared_ptr<Buffer>& target, std::uint64_t target_offset,
                     std::uint64_t bytes);

  // Where the texture is a view over the buffer, the rows of the one may not overlap those of the
  // other; each is taken whole, from its first byte to its last with the gaps between.
  Status copy_buffer_to_texture(const std::shared_ptr<Buffer>& source,
                                const std::shared_ptr<Texture>& target,
                                const BufferTextureRegion& region);
  Status copy_texture_to_buffer(const std::shared_ptr<Texture>& source,
                                const std::shared_ptr<Buffer>& target,
                                const BufferTextureRegion& region);

  // Both of one format; regions within one texture may not overlap, nor the rows, taken whole, of
  // two views over one buffer.
  Status copy_texture(const std::shared_ptr<Texture>& source, Offset2D source_origin,
                      const std::shared_ptr<Texture>& target, Offset2D target_origin,
                      Extent2D extent);

  // What is recorded behind it runs when everything before it is complete.
  Status barrier();

  // Calls a function, behind all commands before it and before all behind it, on a thread that
  // works for the queue: one of its own, or one that waits for it. Its error ends the submission,
  // which fails with it; what is behind it does not run. It may not wait for this queue, and is
  // called once for each submission.
  Status host_call(std::function<Status()> call);

  // Ends recording. Needed before a submission; refused the second time. With Barriers::Checked a
  // missing barrier is an error, which names both commands and the object; the command buffer can
  // then not be finished.
  Status finish();
  bool finished() const { return finished_; }

  const CommandBufferDesc& desc() const { return desc_; }
  const SegmentList& segments() const { return segments_; }
  bool has_host_calls() const { return !host_calls_.empty(); }
  const DeviceInfo& device_info() const { return *device_info_; }

  // For queues: what a submission with this table breaks, if anything.
  Status check_submission(std::span<const Binding> table) const;
  // For queues: takes the one submission that a command buffer has which is not reusable. False
  // where that is taken. Thread safe.
  bool claim() const { return desc_.reusable || !claimed_.exchange(true); }
  // Gives it back, where the submission is refused after all.
  void unclaim() const { claimed_ = false; }

 private:
  Status check_recording(const char* command) const;
  template <typename Ref>
  Status record_call(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                     std::span<const Ref> bindings, std::span<const Constant> constants,
                     KernelCall& call);
  template <typename Ref>
  Status record_dispatch(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                         std::array<std::uint32_t, 3> groups, std::span<const Ref> bindings,
                         std::span<const Constant> constants);
  template <typename Ref>
  void retain(const Ref& binding);
  template <typename Kind>
  void append(const Kind& segment);
  template <typename Kind>
  void append_as_is(const Kind& segment);
  void keep_behind_hazards(const Segment& segment);

  std::shared_ptr<const DeviceInfo> device_info_;
  CommandBufferDesc desc_;
  Arena arena_;
  SegmentList segments_;
  RetainedObjects retained_;
  std::optional<HazardTracker> hazards_;  // where barriers are put in or checked
  Status missing_barrier_;                // the first
  std::vector<const Segment*> with_slots_;
  std::deque<std::function<Status()>> host_calls_;
  bool finished_ = false;
  mutable std::atomic<bool> claimed_ = false;
};

// A command buffer with the memory for its slots, which the submission keeps.
struct SubmittedCommands {
  template <typename Pointer>
    requires std::convertible_to<Pointer, std::shared_ptr<const CommandBuffer>>
  SubmittedCommands(Pointer buffer, std::vector<Binding> bindings = {})
      : commands(std::move(buffer)), table(std::move(bindings)) {}

  std::shared_ptr<const CommandBuffer> commands;
  std::vector<Binding> table;  // by slot; more than the slots that are used do no harm
};

}  // namespace texloom::hal
