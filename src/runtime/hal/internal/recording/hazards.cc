#include "runtime/hal/internal/recording/hazards.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/hal/internal/recording/pointer_hash.h"

namespace texloom::hal {

MemoryAccess memory_of(const BoundBuffer& place, std::uint64_t bytes) {
  return {.kind = MemoryAccess::Kind::Buffer,
          .object = place.buffer,
          .x_begin = place.offset,
          .x_end = place.offset + bytes,
          .name = {}};
}

MemoryAccess memory_of(const BoundTexture& place, Extent2D extent) {
  const Offset2D origin = place.origin;
  // A view counts as rows of its buffer.
  if (const TextureBacking* backing = place.texture->backing()) {
    const std::uint64_t end = std::uint64_t{origin.y} + extent.height;
    return {.kind = MemoryAccess::Kind::Buffer,
            .object = backing->buffer.get(),
            .x_begin = backing->offset + origin.y * backing->row_pitch,
            .x_end = backing->offset + end * backing->row_pitch,
            .name = {}};
  }
  return {.kind = MemoryAccess::Kind::Texture,
          .object = place.texture,
          .x_begin = origin.x,
          .x_end = std::uint64_t{origin.x} + extent.width,
          .y_begin = origin.y,
          .y_end = std::uint64_t{origin.y} + extent.height,
          .name = {}};
}

namespace {

MemoryAccess as_access(MemoryAccess memory, bool writes, std::string_view name) {
  memory.writes = writes;
  memory.name = name;
  return memory;
}

MemoryAccess bytes_of(const BoundBuffer& place, std::uint64_t bytes, bool writes,
                      std::string_view name) {
  return as_access(memory_of(place, bytes), writes, name);
}

MemoryAccess texels_of(const Texture* texture, Offset2D origin, Extent2D extent, bool writes,
                       std::string_view name) {
  return as_access(memory_of(BoundTexture{texture, origin}, extent), writes, name);
}

std::uint64_t buffer_bytes(const BufferTextureRegion& region, const Texture& texture) {
  return (region.extent.height - 1) * region.row_pitch +
         std::uint64_t{region.extent.width} * bytes_per_texel(texture.format());
}

// Encodes the slot as an odd number, because no object has an odd address.
MemoryAccess slot_access(const BindingSlot& slot, bool writes, std::string_view name) {
  return {.kind = MemoryAccess::Kind::Slot,
          .writes = writes,
          .object = reinterpret_cast<const void*>(2 * std::uintptr_t{slot.index} + 1),
          .x_begin = 0,
          .x_end = ~std::uint64_t{0},
          .name = name};
}

MemoryAccess access_of(const KernelParam& param, const SegmentBinding& binding) {
  const std::string_view name = name_of(param);
  const bool is_written = writes(access_of(param));
  if (const auto* slot = std::get_if<BindingSlot>(&binding))
    return slot_access(*slot, is_written, name);
  if (const auto* place = std::get_if<BoundBuffer>(&binding))
    return bytes_of(*place, touched_bytes(std::get<BufferParam>(param), *place), is_written, name);
  const auto& place = std::get<BoundTexture>(binding);
  const auto& texture = std::get<TextureParam>(param);
  const Offset2D origin = texture.min_extent != Extent2D{} ? place.origin : Offset2D{};
  return texels_of(place.texture, origin, touched_extent(texture, place), is_written, name);
}

template <typename Visit>
void for_each_access(const KernelCall& call, Visit visit) {
  std::size_t next = 0;
  for (const KernelParam& param : call.entry().params) {
    if (is_bound(param)) visit(access_of(param, call.bindings[next++]));
  }
}

MemoryAccess access_of(const NativeArgument& argument) {
  constexpr std::string_view kName = "native memory";
  const bool is_written = writes(argument.access);
  if (const auto* slot = std::get_if<BindingSlot>(&argument.memory))
    return slot_access(*slot, is_written, kName);
  if (const auto* place = std::get_if<BoundBuffer>(&argument.memory))
    return bytes_of(*place, touched_bytes(argument, *place), is_written, kName);
  const auto& place = std::get<BoundTexture>(argument.memory);
  return texels_of(place.texture, place.origin, touched_extent(argument, place), is_written, kName);
}

// Calls `visit(MemoryAccess)` for all memory that a segment touches.
template <typename Visit>
void for_each_access(const Segment& segment, Visit visit) {
  if (const auto* dispatch = std::get_if<DispatchSegment>(&segment)) {
    for_each_access(dispatch->call, visit);
  } else if (const auto* indirect = std::get_if<IndirectDispatchSegment>(&segment)) {
    for_each_access(indirect->call, visit);
    if (const auto* slot = std::get_if<BindingSlot>(&indirect->groups)) {
      visit(slot_access(*slot, false, "groups"));
    } else {
      visit(bytes_of(std::get<BoundBuffer>(indirect->groups), 12, false, "groups"));
    }
  } else if (const auto* native = std::get_if<NativeSegment>(&segment)) {
    for (const NativeArgument& argument : native->arguments) {
      const MemoryAccess access = access_of(argument);
      if (access.x_begin != access.x_end && access.y_begin != access.y_end) visit(access);
    }
  } else if (const auto* fill = std::get_if<FillSegment>(&segment)) {
    visit(bytes_of(fill->target, fill->bytes, true, "target"));
  } else if (const auto* update = std::get_if<UpdateSegment>(&segment)) {
    visit(bytes_of(update->target, update->data.size(), true, "target"));
  } else if (const auto* readback = std::get_if<ReadbackSegment>(&segment)) {
    visit(bytes_of(readback->source, readback->data.size(), false, "source"));
  } else if (const auto* copy = std::get_if<CopyBufferSegment>(&segment)) {
    visit(bytes_of(copy->source, copy->bytes, false, "source"));
    visit(bytes_of(copy->target, copy->bytes, true, "target"));
  } else if (const auto* in = std::get_if<CopyBufferToTextureSegment>(&segment)) {
    const BufferTextureRegion& region = in->region;
    visit(bytes_of({in->source, region.buffer_offset}, buffer_bytes(region, *in->target), false,
                   "source"));
    visit(texels_of(in->target, region.origin, region.extent, true, "target"));
  } else if (const auto* out = std::get_if<CopyTextureToBufferSegment>(&segment)) {
    const BufferTextureRegion& region = out->region;
    visit(texels_of(out->source, region.origin, region.extent, false, "source"));
    visit(bytes_of({out->target, region.buffer_offset}, buffer_bytes(region, *out->source), true,
                   "target"));
  } else if (const auto* texels = std::get_if<CopyTextureSegment>(&segment)) {
    visit(texels_of(texels->source, texels->source_origin, texels->extent, false, "source"));
    visit(texels_of(texels->target, texels->target_origin, texels->extent, true, "target"));
  }
}

bool meet(const MemoryAccess& a, const MemoryAccess& b) {
  return a.x_begin < b.x_end && b.x_begin < a.x_end && a.y_begin < b.y_end && b.y_begin < a.y_end;
}

bool contains(const MemoryAccess& a, const MemoryAccess& b) {
  return a.x_begin <= b.x_begin && b.x_end <= a.x_end && a.y_begin <= b.y_begin &&
         b.y_end <= a.y_end;
}

void widen(MemoryAccess& a, const MemoryAccess& b) {
  a.x_begin = std::min(a.x_begin, b.x_begin);
  a.x_end = std::max(a.x_end, b.x_end);
  a.y_begin = std::min(a.y_begin, b.y_begin);
  a.y_end = std::max(a.y_end, b.y_end);
}

CommandKinds kind_of(const Segment& segment) {
  if (std::holds_alternative<NativeSegment>(segment)) return CommandKinds::Native;
  return call_of(segment) != nullptr ? CommandKinds::Dispatches : CommandKinds::Transfers;
}

BarrierScope scope_of(const MemoryAccess& access) {
  switch (access.kind) {
    case MemoryAccess::Kind::Buffer:
      return BarrierScope::Buffers;
    case MemoryAccess::Kind::Texture:
      return BarrierScope::Textures;
    case MemoryAccess::Kind::Slot:
      break;
  }
  return BarrierScope::All;
}

std::uint32_t slot_of(const MemoryAccess& access) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(access.object) / 2);
}

BarrierResource resource_of(const MemoryAccess& access) {
  switch (access.kind) {
    case MemoryAccess::Kind::Buffer:
      return {.memory = BoundBuffer(static_cast<const Buffer*>(access.object), access.x_begin,
                                    access.x_end - access.x_begin),
              .is_written = access.writes};
    case MemoryAccess::Kind::Texture:
      return {.memory = BoundTexture{static_cast<const Texture*>(access.object),
                                     {static_cast<std::uint32_t>(access.x_begin),
                                      static_cast<std::uint32_t>(access.y_begin)}},
              .extent = {static_cast<std::uint32_t>(access.x_end - access.x_begin),
                         static_cast<std::uint32_t>(access.y_end - access.y_begin)},
              .is_written = access.writes};
    case MemoryAccess::Kind::Slot:
      break;
  }
  return {.memory = BindingSlot{slot_of(access)}, .is_written = access.writes};
}

// The number of accesses to one object that are tracked separately. If barriers are inserted
// automatically, further accesses are merged into larger ones: this may insert a needless barrier,
// which does no harm.
constexpr std::uint32_t kPlacesApart = 64;

}  // namespace

bool share_memory(const MemoryAccess& a, const MemoryAccess& b) {
  const auto is_empty = [](const MemoryAccess& m) {
    return m.x_begin == m.x_end || m.y_begin == m.y_end;
  };
  return a.object == b.object && !is_empty(a) && !is_empty(b) && meet(a, b);
}

bool overlaps_itself(const Segment& copy) {
  const auto* texels = std::get_if<CopyTextureSegment>(&copy);
  if (texels != nullptr && texels->source == texels->target)
    return regions_meet(texels->source_origin, texels->extent, texels->target_origin,
                        texels->extent);
  std::optional<MemoryAccess> source;
  bool overlaps = false;
  for_each_access(copy, [&](const MemoryAccess& access) {
    overlaps = source && share_memory(*source, access);
    source = access;
  });
  return overlaps;
}

const HazardTracker::TrackedObject* HazardTracker::find_object(const void* object) const {
  if (objects_.empty()) return nullptr;
  for (std::size_t i = hash_place(object, objects_.size());; i = (i + 1) & (objects_.size() - 1)) {
    if (objects_[i].epoch != epoch_) return nullptr;
    if (objects_[i].object == object) return &objects_[i];
  }
}

HazardTracker::TrackedObject& HazardTracker::tracked(const void* object) {
  if (2 * (used_objects_ + 1) > objects_.size()) grow();
  std::size_t i = hash_place(object, objects_.size());
  while (objects_[i].epoch == epoch_ && objects_[i].object != object)
    i = (i + 1) & (objects_.size() - 1);
  if (objects_[i].epoch != epoch_) {
    objects_[i] = {.object = object, .epoch = epoch_};
    ++used_objects_;
  }
  return objects_[i];
}

void HazardTracker::grow() {
  std::vector<TrackedObject> old(std::max<std::size_t>(16, 2 * objects_.size()));
  old.swap(objects_);
  for (const TrackedObject& object : old) {
    if (object.epoch != epoch_) continue;
    std::size_t i = hash_place(object.object, objects_.size());
    while (objects_[i].epoch == epoch_) i = (i + 1) & (objects_.size() - 1);
    objects_[i] = object;
  }
}

const HazardTracker::Entry* HazardTracker::conflict(const MemoryAccess& access) const {
  if (slots_alias_) {
    const bool slot = access.kind == MemoryAccess::Kind::Slot;
    const std::uint32_t write = slot ? any_write_ : slot_write_;
    if (write != kNone) return &entries_[write];
    const std::uint32_t read = slot ? any_read_ : slot_read_;
    if (access.writes && read != kNone) return &entries_[read];
    if (slot) return nullptr;
  }
  const TrackedObject* object = find_object(access.object);
  if (object == nullptr) return nullptr;
  for (std::uint32_t i = object->first; i != kNone; i = entries_[i].next) {
    const Entry& entry = entries_[i];
    if ((access.writes || entry.access.writes) && meet(access, entry.access)) return &entry;
  }
  return nullptr;
}

std::optional<HazardTracker::Hazard> HazardTracker::find(const Segment& segment) const {
  std::optional<Hazard> hazard;
  if (entries_.empty()) return hazard;
  for_each_access(segment, [&](const MemoryAccess& access) {
    if (hazard) return;
    if (const Entry* entry = conflict(access))
      hazard = Hazard{entry->segment, entry->index, entry->access, access};
  });
  return hazard;
}

void HazardTracker::add(const Segment& segment, std::size_t index) {
  if (std::holds_alternative<BarrierSegment>(segment) ||
      std::holds_alternative<HostCallSegment>(segment))
    return forget();
  commands_ = commands_ | kind_of(segment);
  for_each_access(segment, [&](const MemoryAccess& access) { add_access(access, segment, index); });
}

void HazardTracker::add_access(const MemoryAccess& access, const Segment& segment,
                               std::size_t index) {
  TrackedObject& object = tracked(access.object);
  for (std::uint32_t i = object.first; i != kNone; i = entries_[i].next) {
    MemoryAccess& known = entries_[i].access;
    if (known.writes != access.writes) continue;
    if (contains(known, access)) return;
    if (!slots_alias_ || object.count < kPlacesApart) continue;
    widen(known, access);
    return;
  }
  const auto added = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({access, &segment, index, object.first});
  object.first = added;
  ++object.count;
  const auto note = [added](std::uint32_t& first) {
    if (first == kNone) first = added;
  };
  note(access.writes ? any_write_ : any_read_);
  if (access.kind == MemoryAccess::Kind::Slot) note(access.writes ? slot_write_ : slot_read_);
}

// Visits each object once, at its first access: the only entry of the object without a successor.
BarrierSegment HazardTracker::describe_barrier() {
  BarrierSegment barrier{.commands = commands_, .memory = BarrierScope::None, .resources = {}};
  resources_.clear();
  for (const Entry& first : entries_) {
    if (first.next != kNone) continue;
    MemoryAccess all = first.access;
    for (std::uint32_t i = find_object(all.object)->first; i != kNone; i = entries_[i].next) {
      widen(all, entries_[i].access);
      all.writes |= entries_[i].access.writes;
    }
    resources_.push_back(resource_of(all));
    barrier.memory = barrier.memory | scope_of(all);
  }
  if (resources_.empty()) return {};
  barrier.resources = resources_;
  return barrier;
}

void HazardTracker::forget() {
  commands_ = CommandKinds::None;
  if (entries_.empty()) return;
  entries_.clear();
  used_objects_ = 0;
  ++epoch_;
  any_read_ = any_write_ = slot_read_ = slot_write_ = kNone;
}

namespace {

std::string describe_command(const Segment& segment, std::size_t index) {
  const KernelCall* call = call_of(segment);
  if (call == nullptr) return fmt::format("command {} ({})", index, name_of(segment));
  return fmt::format("command {} ({} of kernel \"{}\")", index, name_of(segment),
                     call->entry().name);
}

std::string describe_place(const MemoryAccess& access) {
  switch (access.kind) {
    case MemoryAccess::Kind::Buffer:
      return fmt::format("bytes {} to {}", access.x_begin, access.x_end);
    case MemoryAccess::Kind::Texture:
      return fmt::format(
          "{} at {}",
          to_string(Extent2D{static_cast<std::uint32_t>(access.x_end - access.x_begin),
                             static_cast<std::uint32_t>(access.y_end - access.y_begin)}),
          to_string(Offset2D{static_cast<std::uint32_t>(access.x_begin),
                             static_cast<std::uint32_t>(access.y_begin)}));
    case MemoryAccess::Kind::Slot:
      break;
  }
  return "it";
}

std::string describe_object(const MemoryAccess& access) {
  switch (access.kind) {
    case MemoryAccess::Kind::Buffer:
      return fmt::format("a buffer of {} bytes",
                         static_cast<const Buffer*>(access.object)->bytes());
    case MemoryAccess::Kind::Texture: {
      const auto* texture = static_cast<const Texture*>(access.object);
      return fmt::format("a texture {} of {}", to_string(texture->format()),
                         to_string(texture->extent()));
    }
    case MemoryAccess::Kind::Slot:
      break;
  }
  return fmt::format("slot {} of the table", slot_of(access));
}

std::string describe_access(const MemoryAccess& access) {
  return fmt::format("{} {} as \"{}\"", access.writes ? "writes" : "reads", describe_place(access),
                     access.name);
}

}  // namespace

Status missing_barrier(const HazardTracker::Hazard& hazard, const Segment& segment,
                       std::size_t index) {
  return invalid_argument(
      "no barrier between {} and {}, which share {}: the first {}, the second {}",
      describe_command(*hazard.before, hazard.before_index), describe_command(segment, index),
      describe_object(hazard.first), describe_access(hazard.first), describe_access(hazard.second));
}

}  // namespace texloom::hal
