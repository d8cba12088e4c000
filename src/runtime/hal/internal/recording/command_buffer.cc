#include "runtime/hal/command_buffer.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/internal/checks/command_check.h"
#include "runtime/hal/internal/recording/arena.h"
#include "runtime/hal/internal/recording/hazards.h"
#include "runtime/hal/internal/recording/known_table.h"
#include "runtime/hal/internal/recording/retained.h"
#include "runtime/hal/no_waits.h"
#include "support/byte_text.h"

namespace texloom::hal {
namespace {

bool is_empty(Extent2D extent) { return extent.width == 0 || extent.height == 0; }

// The buffer may still be a subspan here, which is a separate object from its root. The variant is
// assigned in place, because copying it is slow.
void set_binding(SegmentBinding& place, const BufferBinding& binding) {
  place.emplace<BoundBuffer>(binding.buffer.get(), binding.offset);
}
void set_binding(SegmentBinding& place, const TextureBinding& binding) {
  place = BoundTexture{binding.texture.get(), binding.origin};
}
void set_binding(SegmentBinding& place, const BindingSlot& slot) { place = slot; }
template <typename... Kinds>
void set_binding(SegmentBinding& place, const std::variant<Kinds...>& binding) {
  std::visit([&](const auto& each) { set_binding(place, each); }, binding);
}

void resolve_part(SegmentBinding& binding) {
  auto* buffer = std::get_if<BoundBuffer>(&binding);
  if (buffer != nullptr && &buffer->buffer->root() != buffer->buffer) *buffer = root(*buffer);
}

Status check_host_use(std::string_view command, bool allowed, std::string_view use) {
  if (allowed) return {};
  return invalid_argument(
      "{}: the application made the buffer so that the host cannot {} it; help: make it without "
      "CL_MEM_HOST_NO_ACCESS and CL_MEM_HOST_{}_ONLY, or copy it to or from another buffer",
      command, use, use == "read" ? "WRITE" : "READ");
}

// The largest id of the buffers that the segments use beside slots; the largest number for segments
// other than kernels.
std::uint64_t newest_beside(std::span<const Segment* const> segments) {
  std::uint64_t newest = 0;
  for (const Segment* segment : segments) {
    const KernelCall* call = call_of(*segment);
    if (call == nullptr) return std::numeric_limits<std::uint64_t>::max();
    for (const SegmentBinding& each : call->bindings) {
      if (const auto* bound = std::get_if<BoundBuffer>(&each))
        newest = std::max(newest, bound->buffer->id());
      if (const auto* bound = std::get_if<BoundTexture>(&each))
        newest = std::max(newest, bound->texture->id());
    }
  }
  return newest;
}

bool is_slot(const SegmentBinding& binding) { return std::holds_alternative<BindingSlot>(binding); }

}  // namespace

struct CommandBuffer::Recording {
  explicit Recording(std::shared_ptr<ArenaBlocks> memory) : arena(std::move(memory)) {}

  Arena arena;
  RetainedObjects retained;
  std::optional<HazardTracker> hazards;  // if barriers are inserted or checked
  Status missing_barrier;                // the error for the first missing barrier
  KnownTable known_table;
  std::mutex mutex;
  // Guarded by the mutex. Destroyed before the objects that the segments name.
  std::vector<std::unique_ptr<EncodedCommands>> encoded;
};

CommandBuffer::CommandBuffer(std::shared_ptr<const DeviceInfo> device_info,
                             std::shared_ptr<ArenaBlocks> memory, const CommandBufferDesc& desc)
    : device_info_(std::move(device_info)),
      desc_(desc),
      recording_(std::make_unique<Recording>(std::move(memory))) {
  const bool automatic = desc.barriers == Barriers::Automatic;
  if (desc.barriers == Barriers::Checked ||
      (automatic && !device_info_->features.in_order_commands))
    recording_->hazards.emplace(automatic);
}

CommandBuffer::~CommandBuffer() = default;

Status CommandBuffer::check_recording(const char* command) const {
  if (!finished_) return {};
  return invalid_argument("{}: the command buffer is finished; help: record into a new one",
                          command);
}

// Inserts the barrier that a segment needs, or remembers that it is missing.
void CommandBuffer::resolve_hazard(const Segment& segment) {
  const auto hazard = recording_->hazards->find(segment);
  if (!hazard) return;
  if (desc_.barriers == Barriers::Automatic) {
    append_barrier();
  } else if (recording_->missing_barrier.ok()) {
    recording_->missing_barrier = missing_barrier(*hazard, segment, segments_.size());
  }
}

template <typename Kind>
void CommandBuffer::append(const Kind& segment) {
  if (recording_->hazards) resolve_hazard(segment);
  append_as_is(segment);
}

template <typename Kind>
void CommandBuffer::append_as_is(const Kind& segment) {
  segments_.append(recording_->arena, segment);
  if (recording_->hazards) recording_->hazards->add(segments_.back(), segments_.size() - 1);
}

template <typename Ref>
void CommandBuffer::retain(const Ref& binding) {
  if (const auto* buffer = std::get_if<BufferBinding>(&binding)) {
    recording_->retained.retain(buffer->buffer);
  } else if (const auto* texture = std::get_if<TextureBinding>(&binding)) {
    recording_->retained.retain(texture->texture);
  }
}

// Checks a call and stores it in the arena; the caller then appends `call`.
template <typename Ref>
Status CommandBuffer::record_call(const std::shared_ptr<Executable>& executable,
                                  std::uint32_t entry_point, std::span<const Ref> bindings,
                                  std::span<const Constant> constants, KernelCall& call) {
  const std::span<SegmentBinding> given =
      recording_->arena.make_array<SegmentBinding>(bindings.size());
  for (std::size_t i = 0; i < given.size(); ++i) set_binding(given[i], bindings[i]);
  TL_RETURN_IF_ERROR(
      check_dispatch(*device_info_, executable.get(), entry_point, given, constants));
  for (SegmentBinding& binding : given) resolve_part(binding);
  call = {.executable = executable.get(),
          .entry_point = entry_point,
          .bindings = given,
          .constants = recording_->arena.copy(constants),
          .number = call_count_,
          .has_slots = std::any_of(given.begin(), given.end(), is_slot)};
  return {};
}

Status CommandBuffer::dispatch_workload(const std::shared_ptr<Executable>& executable,
                                        std::uint32_t entry_point,
                                        std::span<const std::int64_t> workload,
                                        std::span<const Binding> bindings,
                                        std::span<const Constant> constants) {
  std::array<std::uint32_t, 3> groups = {0, 0, 0};
  // dispatch() reports an entry point that does not exist.
  if (executable != nullptr && entry_point < executable->entry_points().size()) {
    TL_ASSIGN_OR_RETURN(groups, groups_of(executable->entry_points()[entry_point], workload));
  }
  return dispatch(executable, entry_point, groups, bindings, constants);
}

template <typename Ref>
Status CommandBuffer::record_dispatch(const std::shared_ptr<Executable>& executable,
                                      std::uint32_t entry_point,
                                      std::array<std::uint32_t, 3> groups,
                                      std::span<const Ref> bindings,
                                      std::span<const Constant> constants) {
  TL_RETURN_IF_ERROR(check_recording("dispatch"));
  DispatchSegment segment{.call = {}, .groups = groups};
  TL_RETURN_IF_ERROR(record_call(executable, entry_point, bindings, constants, segment.call));
  TL_RETURN_IF_ERROR(check_groups(*device_info_, groups));
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return {};
  recording_->retained.retain(executable);
  for (const Ref& binding : bindings) retain(binding);
  append(segment);
  ++call_count_;
  if (segment.call.has_slots) with_slots_.push_back(&segments_.back());
  return {};
}

Status CommandBuffer::dispatch(const std::shared_ptr<Executable>& executable,
                               std::uint32_t entry_point, std::array<std::uint32_t, 3> groups,
                               std::span<const Binding> bindings,
                               std::span<const Constant> constants) {
  return record_dispatch(executable, entry_point, groups, bindings, constants);
}

Status CommandBuffer::dispatch_with_table(const std::shared_ptr<Executable>& executable,
                                          std::uint32_t entry_point,
                                          std::array<std::uint32_t, 3> groups,
                                          std::span<const BindingRef> bindings,
                                          std::span<const Constant> constants) {
  return record_dispatch(executable, entry_point, groups, bindings, constants);
}

Status CommandBuffer::dispatch_indirect(const std::shared_ptr<Executable>& executable,
                                        std::uint32_t entry_point, const BindingRef& groups,
                                        std::span<const BindingRef> bindings,
                                        std::span<const Constant> constants) {
  TL_RETURN_IF_ERROR(check_recording("dispatch_indirect"));
  if (!device_info_->features.indirect_dispatch)
    return make_error(StatusCode::Unimplemented,
                      "dispatch_indirect: {} cannot read the numbers of groups from a buffer",
                      device_info_->name);
  IndirectDispatchSegment segment;
  set_binding(segment.groups, groups);
  if (!is_slot(segment.groups))
    TL_RETURN_IF_ERROR(check_indirect_groups(*device_info_, segment.groups));
  resolve_part(segment.groups);
  TL_RETURN_IF_ERROR(record_call(executable, entry_point, bindings, constants, segment.call));
  recording_->retained.retain(executable);
  retain(groups);
  for (const BindingRef& binding : bindings) retain(binding);
  append(segment);
  ++call_count_;
  if (is_slot(segment.groups) || segment.call.has_slots) with_slots_.push_back(&segments_.back());
  return {};
}

Status CommandBuffer::fill(const std::shared_ptr<Buffer>& target, std::uint64_t offset,
                           std::uint64_t bytes, std::span<const std::byte> pattern) {
  TL_RETURN_IF_ERROR(check_recording("fill"));
  if (pattern.size() != 1 && pattern.size() != 2 && pattern.size() != 4)
    return invalid_argument("fill: a pattern has 1, 2 or 4 bytes, not {}", pattern.size());
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "fill: the target", target.get(),
                                        BufferUsage::CopyTarget, offset, bytes));
  if (bytes == 0) return {};
  FillSegment segment{.target = root({target.get(), offset}),
                      .bytes = bytes,
                      .pattern = {},
                      .pattern_bytes = static_cast<std::uint32_t>(pattern.size())};
  for (std::size_t i = 0; i < segment.pattern.size(); ++i)
    segment.pattern[i] = pattern[i % pattern.size()];
  recording_->retained.retain(target);
  append(segment);
  return {};
}

Status CommandBuffer::update(const std::shared_ptr<Buffer>& target, std::uint64_t offset,
                             std::span<const std::byte> data, HostMemory memory) {
  TL_RETURN_IF_ERROR(check_recording("update"));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "update: the target", target.get(),
                                        BufferUsage::CopyTarget, offset, data.size()));
  TL_RETURN_IF_ERROR(check_host_use("update", target->native_uses().update, "write"));
  if (data.empty()) return {};
  if (memory == HostMemory::Copied) {
    auto* copy =
        static_cast<std::byte*>(recording_->arena.allocate(data.size(), alignof(std::uint64_t)));
    if (copy == nullptr)
      return make_error(StatusCode::OutOfMemory, "update: no host memory for {}",
                        byte_text(data.size()));
    std::copy(data.begin(), data.end(), copy);
    data = {copy, data.size()};
  }
  recording_->retained.retain(target);
  append(UpdateSegment{root({target.get(), offset}), data});
  return {};
}

Status CommandBuffer::readback(const std::shared_ptr<Buffer>& source, std::uint64_t offset,
                               std::span<std::byte> data) {
  TL_RETURN_IF_ERROR(check_recording("readback"));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "readback: the source", source.get(),
                                        BufferUsage::CopySource, offset, data.size()));
  TL_RETURN_IF_ERROR(check_host_use("readback", source->native_uses().readback, "read"));
  if (data.empty()) return {};
  recording_->retained.retain(source);
  append(ReadbackSegment{root({source.get(), offset}), data});
  return {};
}

Status CommandBuffer::copy_buffer(const std::shared_ptr<Buffer>& source,
                                  std::uint64_t source_offset,
                                  const std::shared_ptr<Buffer>& target,
                                  std::uint64_t target_offset, std::uint64_t bytes) {
  TL_RETURN_IF_ERROR(check_recording("copy_buffer"));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "copy_buffer: the source", source.get(),
                                        BufferUsage::CopySource, source_offset, bytes));
  TL_RETURN_IF_ERROR(check_buffer_range(*device_info_, "copy_buffer: the target", target.get(),
                                        BufferUsage::CopyTarget, target_offset, bytes));
  if (bytes == 0) return {};
  const Segment segment = CopyBufferSegment{root({source.get(), source_offset}),
                                            root({target.get(), target_offset}), bytes};
  if (overlaps_itself(segment))
    return invalid_argument("copy_buffer: {} bytes at {} and at {} of one buffer overlap", bytes,
                            source_offset, target_offset);
  recording_->retained.retain(source);
  recording_->retained.retain(target);
  append(segment);
  return {};
}

Status CommandBuffer::copy_buffer_to_texture(const std::shared_ptr<Buffer>& source,
                                             const std::shared_ptr<Texture>& target,
                                             const BufferTextureRegion& region) {
  TL_RETURN_IF_ERROR(check_recording("copy_buffer_to_texture"));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_buffer_to_texture: the target",
                                          target.get(), TextureUsage::CopyTarget, region.origin,
                                          region.extent));
  TL_ASSIGN_OR_RETURN(
      BufferTextureRegion resolved,
      check_buffer_rows(*device_info_, "copy_buffer_to_texture: the source", source.get(),
                        BufferUsage::CopySource, region, target->format()));
  if (is_empty(region.extent)) return {};
  const BoundBuffer place = root({source.get(), resolved.buffer_offset});
  resolved.buffer_offset = place.offset;
  const Segment segment = CopyBufferToTextureSegment{place.buffer, target.get(), resolved};
  if (overlaps_itself(segment))
    return invalid_argument(
        "copy_buffer_to_texture: the target is a view over the source, and the rows that are read "
        "overlap the rows that are written");
  recording_->retained.retain(source);
  recording_->retained.retain(target);
  append(segment);
  return {};
}

Status CommandBuffer::copy_texture_to_buffer(const std::shared_ptr<Texture>& source,
                                             const std::shared_ptr<Buffer>& target,
                                             const BufferTextureRegion& region) {
  TL_RETURN_IF_ERROR(check_recording("copy_texture_to_buffer"));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_texture_to_buffer: the source",
                                          source.get(), TextureUsage::CopySource, region.origin,
                                          region.extent));
  TL_ASSIGN_OR_RETURN(
      BufferTextureRegion resolved,
      check_buffer_rows(*device_info_, "copy_texture_to_buffer: the target", target.get(),
                        BufferUsage::CopyTarget, region, source->format()));
  if (is_empty(region.extent)) return {};
  const BoundBuffer place = root({target.get(), resolved.buffer_offset});
  resolved.buffer_offset = place.offset;
  const Segment segment = CopyTextureToBufferSegment{source.get(), place.buffer, resolved};
  if (overlaps_itself(segment))
    return invalid_argument(
        "copy_texture_to_buffer: the source is a view over the target, and the rows that are read "
        "overlap the rows that are written");
  recording_->retained.retain(source);
  recording_->retained.retain(target);
  append(segment);
  return {};
}

Status CommandBuffer::copy_texture(const std::shared_ptr<Texture>& source, Offset2D source_origin,
                                   const std::shared_ptr<Texture>& target, Offset2D target_origin,
                                   Extent2D extent) {
  TL_RETURN_IF_ERROR(check_recording("copy_texture"));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_texture: the source", source.get(),
                                          TextureUsage::CopySource, source_origin, extent));
  TL_RETURN_IF_ERROR(check_texture_region(*device_info_, "copy_texture: the target", target.get(),
                                          TextureUsage::CopyTarget, target_origin, extent));
  if (source->format() != target->format())
    return invalid_argument("copy_texture: the source is {}, but the target is {}",
                            to_string(source->format()), to_string(target->format()));
  if (is_empty(extent)) return {};
  const Segment segment =
      CopyTextureSegment{source.get(), source_origin, target.get(), target_origin, extent};
  if (overlaps_itself(segment))
    return invalid_argument("copy_texture: {} at {} and at {} of {} overlap", to_string(extent),
                            to_string(source_origin), to_string(target_origin),
                            source == target ? "one texture" : "two views over one buffer");
  recording_->retained.retain(source);
  recording_->retained.retain(target);
  append(segment);
  return {};
}

Status CommandBuffer::barrier() {
  TL_RETURN_IF_ERROR(check_recording("barrier"));
  append_barrier();
  return {};
}

void CommandBuffer::append_barrier() {
  BarrierSegment barrier;
  if (recording_->hazards) barrier = recording_->hazards->describe_barrier();
  barrier.resources = recording_->arena.copy(barrier.resources);
  append_as_is(barrier);
}

Status CommandBuffer::native(std::span<const NativeAccess> accesses, EncodeNative encode) {
  TL_RETURN_IF_ERROR(check_recording("native"));
  if (!device_info_->features.native_commands)
    return make_error(StatusCode::Unimplemented, "native: {} takes no native commands",
                      device_info_->name);
  if (encode == nullptr) return invalid_argument("native: the function is empty");
  const std::span<NativeArgument> arguments =
      recording_->arena.make_array<NativeArgument>(accesses.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const NativeAccess& access = accesses[i];
    arguments[i] = {
        .memory = {}, .access = access.access, .bytes = access.bytes, .extent = access.extent};
    set_binding(arguments[i].memory, access.memory);
  }
  TL_RETURN_IF_ERROR(check_native(*device_info_, arguments));
  bool has_slots = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    resolve_part(arguments[i].memory);
    retain(accesses[i].memory);
    has_slots |= is_slot(arguments[i].memory);
  }
  native_calls_.push_back([encode = std::move(encode)](const NativeCommands& commands) {
    const NoWaits no_waits("a native command");
    return encode(commands);
  });
  append(NativeSegment{arguments, &native_calls_.back()});
  if (has_slots) with_slots_.push_back(&segments_.back());
  return {};
}

Status CommandBuffer::host_call(std::function<Status()> call) {
  TL_RETURN_IF_ERROR(check_recording("host_call"));
  if (call == nullptr) return invalid_argument("host_call: the function is empty");
  return host_call_with_table({},
                              [call = std::move(call)](const HostCallMemory&) { return call(); });
}

Status CommandBuffer::host_call_with_table(std::span<const BindingRef> memory,
                                           std::function<Status(const HostCallMemory&)> call) {
  TL_RETURN_IF_ERROR(check_recording("host_call"));
  if (call == nullptr) return invalid_argument("host_call: the function is empty");
  TL_RETURN_IF_ERROR(check_host_call(*device_info_, memory));
  const bool has_slots = std::any_of(memory.begin(), memory.end(), [](const BindingRef& each) {
    return std::holds_alternative<BindingSlot>(each);
  });
  host_calls_.push_back({{memory.begin(), memory.end()}, std::move(call)});
  append(HostCallSegment{&host_calls_.back()});
  if (has_slots) with_slots_.push_back(&segments_.back());
  return {};
}

Status CommandBuffer::finish() {
  TL_RETURN_IF_ERROR(check_recording("finish"));
  TL_RETURN_IF_ERROR(recording_->missing_barrier.with_context("finish"));
  recording_->hazards.reset();
  finished_ = true;
  return {};
}

Result<std::uint64_t> CommandBuffer::check_submission(std::span<const Binding> table) const {
  if (!finished_)
    return invalid_argument("the command buffer is not finished; help: call finish() first");
  if (with_slots_.empty()) return std::uint64_t{0};
  if (!desc_.reusable) {
    TL_RETURN_IF_ERROR(check_slots(table));
    return std::uint64_t{0};
  }
  KnownTable& latest = recording_->known_table;
  if (const std::uint64_t known = latest.find(table)) return known;
  if (const std::uint64_t renewed = latest.renew(table)) return renewed;
  TL_RETURN_IF_ERROR(check_slots(table));
  return latest.remember(table, newest_beside(with_slots_));
}

std::unique_ptr<EncodedCommands> CommandBuffer::take_encoded() const {
  const std::scoped_lock lock(recording_->mutex);
  if (recording_->encoded.empty()) return nullptr;
  std::unique_ptr<EncodedCommands> encoded = std::move(recording_->encoded.back());
  recording_->encoded.pop_back();
  return encoded;
}

void CommandBuffer::keep_encoded(std::unique_ptr<EncodedCommands> encoded) const {
  const std::scoped_lock lock(recording_->mutex);
  recording_->encoded.push_back(std::move(encoded));
}

// Checks the memory that the table binds to the slots.
Status CommandBuffer::check_slots(std::span<const Binding> table) const {
  for (const Segment* segment : with_slots_) {
    if (const auto* native = std::get_if<NativeSegment>(segment)) {
      TL_RETURN_IF_ERROR(check_native_table(*device_info_, *native, table));
      continue;
    }
    if (const auto* host = std::get_if<HostCallSegment>(segment)) {
      TL_RETURN_IF_ERROR(check_host_call_table(*device_info_, host->call->memory, table));
      continue;
    }
    const KernelCall& call = *call_of(*segment);
    TL_RETURN_IF_ERROR(check_table(*device_info_, call, table));
    const auto* indirect = std::get_if<IndirectDispatchSegment>(segment);
    if (indirect == nullptr || !is_slot(indirect->groups)) continue;
    SegmentBinding groups;
    TL_RETURN_IF_ERROR(
        look_up(std::get<BindingSlot>(indirect->groups), table, groups)
            .with_context(fmt::format("kernel \"{}\": the groups", call.entry().name)));
    TL_RETURN_IF_ERROR(check_indirect_groups(*device_info_, groups));
  }
  return {};
}

}  // namespace texloom::hal
