// A list of commands for a device, which is recorded and then submitted one or more times.
//
// There are two phases. Recording checks each command and appends a segment, in the same way for
// every driver. When a queue submits the segments, the driver walks over them, so it sees each
// command's neighbors.
//
// Commands between two barriers are unordered: a command that depends on another needs a barrier
// between them. By default the command buffer inserts barriers (CommandBufferDesc), and commands
// then behave as if each ran after the one before it.
//
// A command that does nothing (zero groups, zero bytes, an empty region) is checked and then
// dropped. A refused command returns InvalidArgument (Unimplemented if the device cannot do it) and
// leaves the command buffer as it was. Offsets and lengths in bytes are arbitrary, whatever
// DeviceLimits::transfer_alignment says.
//
// One thread at a time may record. After finish() the command buffer is immutable and may be
// submitted from any thread. It keeps alive every object that it names.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/hal/host_call.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal {

class ArenaBlocks;

enum class HostMemory : std::uint8_t {
  Copied,    // the command buffer keeps a copy
  Borrowed,  // the caller keeps it alive and unchanged until the queue has run the command
};

enum class Barriers : std::uint8_t {
  Automatic,  // inserted where a command depends on an earlier one
  Explicit,   // the caller records them
  Checked,    // the caller records them, and finish() fails if one is missing
};

// Memory that a native command touches.
struct NativeAccess {
  BindingRef memory;
  Access access = Access::Read;
  std::uint64_t bytes = 0;  // of a buffer, from the offset; 0: everything that is bound
  Extent2D extent = {};     // of a texture, from the origin; {}: everything from the origin on
};

struct CommandBufferDesc {
  bool reusable = false;  // otherwise it can be submitted only once
  Barriers barriers = Barriers::Automatic;
};

// Native objects that a driver made of the segments of a reusable command buffer, and keeps from
// one submission to the next.
class EncodedCommands {
 public:
  virtual ~EncodedCommands() = default;
};

// Made by Device::create_command_buffer.
class CommandBuffer {
 public:
  CommandBuffer(std::shared_ptr<const DeviceInfo> device_info, std::shared_ptr<ArenaBlocks> memory,
                const CommandBufferDesc& desc = {});
  ~CommandBuffer();
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // Runs an entry point over `groups` work groups, at most DeviceLimits::max_groups. `bindings` are
  // the arguments for its buffer and texture parameters, in order; `constants` those for its scalar
  // parameters, in order.
  Status dispatch(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                  std::array<std::uint32_t, 3> groups, std::span<const Binding> bindings,
                  std::span<const Constant> constants);

  // Like dispatch(), but computes the number of work groups from the workload by the entry point's
  // grid.
  Status dispatch_workload(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                           std::span<const std::int64_t> workload,
                           std::span<const Binding> bindings, std::span<const Constant> constants);

  // Like dispatch(), but bindings may be slots of the table that comes with each submission. The
  // memory of a slot is checked at submission.
  Status dispatch_with_table(const std::shared_ptr<Executable>& executable,
                             std::uint32_t entry_point, std::array<std::uint32_t, 3> groups,
                             std::span<const BindingRef> bindings,
                             std::span<const Constant> constants);

  // Reads the numbers of groups from a buffer when the command runs: three uint32 values at a
  // multiple of 4 bytes. The buffer needs BufferUsage::Indirect. No number may exceed
  // DeviceLimits::max_groups; this is not checked. Unimplemented without
  // DeviceFeatures::indirect_dispatch.
  Status dispatch_indirect(const std::shared_ptr<Executable>& executable, std::uint32_t entry_point,
                           const BindingRef& groups, std::span<const BindingRef> bindings,
                           std::span<const Constant> constants);

  // Sets byte i of [offset, offset + bytes) to pattern[i % pattern.size()]. The pattern has 1, 2 or
  // 4 bytes; offset and length need not be multiples of its size.
  Status fill(const std::shared_ptr<Buffer>& target, std::uint64_t offset, std::uint64_t bytes,
              std::span<const std::byte> pattern);

  // Writes host data to [offset, offset + data.size()) of the buffer. OutOfMemory if the host has
  // no memory for the copy.
  Status update(const std::shared_ptr<Buffer>& target, std::uint64_t offset,
                std::span<const std::byte> data, HostMemory memory = HostMemory::Copied);

  // Reads into host memory, which the caller keeps alive until the queue has run the command.
  Status readback(const std::shared_ptr<Buffer>& source, std::uint64_t offset,
                  std::span<std::byte> data);

  // Ranges within one buffer may not overlap.
  Status copy_buffer(const std::shared_ptr<Buffer>& source, std::uint64_t source_offset,
                     const std::shared_ptr<Buffer>& target, std::uint64_t target_offset,
                     std::uint64_t bytes);

  // If the texture is a view over the buffer, the rows that are read must not overlap the rows that
  // are written; rows include the gaps between them.
  Status copy_buffer_to_texture(const std::shared_ptr<Buffer>& source,
                                const std::shared_ptr<Texture>& target,
                                const BufferTextureRegion& region);
  Status copy_texture_to_buffer(const std::shared_ptr<Texture>& source,
                                const std::shared_ptr<Buffer>& target,
                                const BufferTextureRegion& region);

  // Both textures have the same format. Regions of the same texture must not overlap, nor may whole
  // rows of two views over the same buffer.
  Status copy_texture(const std::shared_ptr<Texture>& source, Offset2D source_origin,
                      const std::shared_ptr<Texture>& target, Offset2D target_origin,
                      Extent2D extent);

  // Makes later commands wait until all earlier ones are complete.
  Status barrier();

  // Lets a function give its own commands to the device through the driver's native handles
  // (segment.h), for operations that the HAL does not have. Unlike host_call(), this does not wait
  // for the device: the function is called once for each submission when the submission is started,
  // after the preceding commands and before the following ones. The function may touch only the
  // memory declared in `accesses`, which needs BufferUsage::Storage, or TextureUsage::Sampled to be
  // read and TextureUsage::Storage to be written; barriers are derived from the accesses as for any
  // command. The function must leave the handles as they were, and must not wait for the queue or
  // the device: waits through the HAL fail. Its error fails the submission. Unimplemented without
  // DeviceFeatures::native_commands.
  Status native(std::span<const NativeAccess> accesses, EncodeNative encode);

  // Calls a function once for each submission, after all earlier commands are complete and before
  // any later one starts, on a thread of the queue or one that waits for the queue. If it fails,
  // the submission fails with its error and later commands do not run. The function must not wait
  // for this queue.
  Status host_call(std::function<Status()> call);

  // Like host_call(), with memory: slots are replaced by the entries of the submission's table,
  // which submit() checks. The call may use the memory on another queue of the device, and wait for
  // that queue, until it returns.
  Status host_call_with_table(std::span<const BindingRef> memory,
                              std::function<Status(const HostCallMemory&)> call);

  // Ends recording; required before submission. A second call is an error. With Barriers::Checked,
  // a missing barrier is an error that names both commands and the object; the command buffer then
  // cannot be finished.
  Status finish();
  bool finished() const { return finished_; }

  const CommandBufferDesc& desc() const { return desc_; }
  const SegmentList& segments() const { return segments_; }
  bool has_host_calls() const { return !host_calls_.empty(); }
  const DeviceInfo& device_info() const { return *device_info_; }

  // For queues: checks a submission with this table, and returns CommandRange::table_number(). A
  // table that binds the same memory as the latest one is not checked again. Thread safe.
  Result<std::uint64_t> check_submission(std::span<const Binding> table) const;
  // For queues: claims the only submission of a command buffer that is not reusable. False if it
  // has already been claimed. Thread safe.
  bool claim() const { return desc_.reusable || !claimed_.exchange(true); }
  // Takes back the claim if the submission is refused after all.
  void unclaim() const { claimed_ = false; }

  // For drivers: the number of recorded dispatches, direct and indirect; KernelCall::number counts
  // them from 0.
  std::uint32_t call_count() const { return call_count_; }
  // For drivers: removes and returns an object that keep_encoded() stored; null if none is left.
  // The caller alone then has the object, so threads that encode at the same time need no lock.
  // Thread safe.
  std::unique_ptr<EncodedCommands> take_encoded() const;
  // For drivers: stores an object for a later submission, at most until the command buffer is
  // destroyed. The object must not keep alive memory that only a table names. Thread safe.
  void keep_encoded(std::unique_ptr<EncodedCommands> encoded) const;

 private:
  struct Recording;

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
  void append_barrier();
  void resolve_hazard(const Segment& segment);
  Status check_slots(std::span<const Binding> table) const;

  std::shared_ptr<const DeviceInfo> device_info_;
  CommandBufferDesc desc_;
  std::unique_ptr<Recording> recording_;
  SegmentList segments_;  // allocated in recording_
  std::vector<const Segment*> with_slots_;
  std::deque<HostCall> host_calls_;
  std::deque<EncodeNative> native_calls_;
  std::uint32_t call_count_ = 0;
  bool finished_ = false;
  mutable std::atomic<bool> claimed_ = false;
};

// A command buffer and the memory bound to its slots; the submission keeps both alive.
struct SubmittedCommands {
  template <typename Pointer>
    requires std::convertible_to<Pointer, std::shared_ptr<const CommandBuffer>>
  SubmittedCommands(Pointer buffer, std::vector<Binding> bindings = {})
      : commands(std::move(buffer)), table(std::move(bindings)) {}

  std::shared_ptr<const CommandBuffer> commands;
  std::vector<Binding> table;      // by slot; may have more entries than the commands use
  std::uint64_t table_number = 0;  // set by the queue (CommandRange)
};

}  // namespace texloom::hal
