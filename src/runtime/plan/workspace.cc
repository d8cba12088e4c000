#include "runtime/plan/workspace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/item.h"
#include "plan/buffers/objects.h"
#include "plan/buffers/offsets.h"
#include "plan/lifetime.h"
#include "plan/textures/rectangles.h"
#include "runtime/hal/executable.h"

namespace texloom::runtime {
namespace {

using Numbers = std::vector<std::uint32_t>;  // of temporaries

// Saturates: a number that the planner cannot represent exceeds every device, so any plan for it is
// refused.
std::int64_t whole(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

// The uses of temporaries in the steps.
class Uses {
 public:
  explicit Uses(const LaunchPlan& plan)
      : plan_(plan), lifetimes_(plan.temporaries.size()), at_origin_(plan.temporaries.size()) {
    walk(plan.steps);
    for (const std::uint32_t temporary : live_) lifetimes_[temporary].last = now_;
  }

  const Numbers& allocated() const { return allocated_; }  // in the order of the steps
  // A unit of time begins at each step that allocates.
  plan::Lifetime lifetime(std::uint32_t temporary) const { return lifetimes_[temporary]; }
  bool at_origin(std::uint32_t temporary) const { return at_origin_[temporary]; }
  // Textures that one launch reads and writes.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& read_write() const {
    return read_write_;
  }

 private:
  void walk(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* allocate = std::get_if<AllocateStep>(&step)) {
        lifetimes_[allocate->temporary].first = ++now_;
        allocated_.push_back(allocate->temporary);
        live_.push_back(allocate->temporary);
      } else if (const auto* free = std::get_if<FreeStep>(&step)) {
        lifetimes_[free->temporary].last = now_;
        std::erase(live_, free->temporary);
      } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
        walk(loop->body);  // once suffices: a body frees its allocations
      } else if (const auto* call = std::get_if<CallStep>(&step)) {
        look_at(*call);
      } else if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        look_at(*launch);
      }
    }
  }

  void look_at(const LaunchStep& launch) {
    const std::vector<hal::KernelParam>& params = plan_.kernels[launch.kernel].entry.params;
    Numbers read, written;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const auto* texture = std::get_if<hal::TextureParam>(&params[i]);
      const auto* ref = std::get_if<TensorRef>(&launch.operands[i]);
      if (texture == nullptr || ref == nullptr || ref->kind != TensorRef::Kind::Temporary) continue;
      const std::uint32_t memory = memory_of(plan_, ref->index);
      (texture->access == hal::Access::Read ? read : written).push_back(memory);
      if (texture->origin == hal::TextureOrigin::Zero) at_origin_[memory] = true;
    }
    add_read_write(read, written);
  }

  // An operator does not state its assumptions about origins.
  void look_at(const CallStep& step) {
    const std::vector<hal::Access>& accesses = plan_.calls[step.call].accesses;
    Numbers read, written;
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      const TensorRef ref = step.tensors[i];
      if (ref.kind != TensorRef::Kind::Temporary ||
          !std::holds_alternative<TextureStorage>(plan_.temporaries[ref.index].storage))
        continue;
      const std::uint32_t memory = memory_of(plan_, ref.index);
      if (hal::reads(accesses[i])) read.push_back(memory);
      if (hal::writes(accesses[i])) written.push_back(memory);
      at_origin_[memory] = true;
    }
    add_read_write(read, written);
  }

  void add_read_write(const Numbers& read, const Numbers& written) {
    for (const std::uint32_t a : read) {
      for (const std::uint32_t b : written) {
        if (a != b) read_write_.emplace_back(a, b);
      }
    }
  }

  const LaunchPlan& plan_;
  std::int64_t now_ = -1;
  Numbers live_;
  Numbers allocated_;
  std::vector<plan::Lifetime> lifetimes_;  // by temporary
  std::vector<bool> at_origin_;            // by temporary
  std::vector<std::pair<std::uint32_t, std::uint32_t>> read_write_;
};

class WorkspacePlanner {
 public:
  WorkspacePlanner(const LaunchPlan& plan, const hal::DeviceLimits& limits,
                   const WorkspaceEffort& effort)
      : plan_(plan), limits_(limits), effort_(effort), uses_(plan) {
    workspace_.places.resize(plan.temporaries.size());
  }

  Result<WorkspacePlan> run() {
    Numbers buffers, counters;
    std::map<hal::TexelFormat, Numbers> textures;
    for (const std::uint32_t temporary : uses_.allocated()) {
      const TensorStorage& storage = plan_.temporaries[temporary].storage;
      if (are_counters(storage)) {
        counters.push_back(temporary);
        continue;
      }
      const auto* texture = std::get_if<TextureStorage>(&storage);
      (texture == nullptr ? buffers : textures[texture->format]).push_back(temporary);
    }
    for (const auto& [format, temporaries] : textures)
      TL_RETURN_IF_ERROR(plan_textures(format, temporaries));
    TL_RETURN_IF_ERROR(plan_buffers(buffers));
    place_counters(counters);
    for (const PartOfTemporary& part : plan_.parts)
      workspace_.places[part.temporary] = place_in(workspace_.places[part.whole], part);
    return std::move(workspace_);
  }

 private:
  static plan::Effort effort(std::int64_t steps) {
    return {.steps = steps, .time_limit = {}, .canceled = {}};
  }

  Status plan_textures(hal::TexelFormat format, const Numbers& temporaries) {
    std::vector<plan::Rectangle> items;
    for (const std::uint32_t temporary : temporaries) {
      const auto& texture = std::get<TextureStorage>(plan_.temporaries[temporary].storage);
      items.push_back({.lifetime = uses_.lifetime(temporary),
                       .width = texture.extent.width,
                       .height = texture.extent.height,
                       .at_origin = uses_.at_origin(temporary),
                       .exact = texture.exact_extent});
    }
    const std::uint64_t most_texels = limits_.max_allocation_bytes / hal::byte_size({1, 1}, format);
    TL_ASSIGN_OR_RETURN(const plan::RectanglePlan found,
                        plan::place_rectangles(items, separations(temporaries),
                                               {.max_width = limits_.max_image_width,
                                                .max_height = limits_.max_image_height,
                                                .max_texels = whole(most_texels)},
                                               effort(effort_.texture_steps)));
    const std::size_t first = workspace_.objects.size();
    for (const plan::RectangleImage& image : found.images)
      workspace_.objects.emplace_back(
          TextureStorage{.extent = {static_cast<std::uint32_t>(image.width),
                                    static_cast<std::uint32_t>(image.height)},
                         .format = format,
                         .exact_extent = image.exact});
    for (std::size_t i = 0; i < temporaries.size(); ++i) {
      const plan::RectanglePlace& place = found.places[i];
      workspace_.places[temporaries[i]] = {
          .object = static_cast<std::uint32_t>(first + place.image),
          .offset = 0,
          .origin = {static_cast<std::uint32_t>(place.x), static_cast<std::uint32_t>(place.y)}};
    }
    return {};
  }

  // The pairs of these temporaries such that one launch reads one and writes the other. Temporaries
  // are given by their positions in the list.
  std::vector<plan::Separation> separations(const Numbers& temporaries) const {
    std::map<std::uint32_t, std::size_t> positions;
    for (std::size_t i = 0; i < temporaries.size(); ++i) positions.emplace(temporaries[i], i);
    std::vector<plan::Separation> result;
    for (const auto& [a, b] : uses_.read_write()) {
      const auto first = positions.find(a), second = positions.find(b);
      if (first != positions.end() && second != positions.end())
        result.push_back({first->second, second->second});
    }
    return result;
  }

  void place_counters(const Numbers& temporaries) {
    if (temporaries.empty()) return;
    BufferStorage object{.bytes = 0, .counters = true};
    for (const std::uint32_t temporary : temporaries) {
      object.bytes = std::max(object.bytes, bytes_of(plan_.temporaries[temporary].storage));
      workspace_.places[temporary] = {
          .object = static_cast<std::uint32_t>(workspace_.objects.size()),
          .offset = 0,
          .origin = {}};
    }
    workspace_.objects.emplace_back(object);
  }

  Status plan_buffers(const Numbers& temporaries) {
    if (temporaries.empty()) return {};
    std::vector<plan::BufferItem> items;
    for (const std::uint32_t temporary : temporaries) {
      const std::uint64_t bytes = bytes_of(plan_.temporaries[temporary].storage);
      items.push_back({.lifetime = uses_.lifetime(temporary),
                       .size = whole(bytes),
                       .alignment = whole(limits_.buffer_offset_alignment)});
    }
    TL_ASSIGN_OR_RETURN(const plan::ObjectPlan objects,
                        plan::assign_objects(items, {}, effort(effort_.buffer_steps)));
    TL_ASSIGN_OR_RETURN(const plan::OffsetPlan offsets,
                        plan::place_offsets(items, effort(effort_.buffer_steps)));
    const std::size_t first = workspace_.objects.size();
    TL_RETURN_IF_ERROR(add_arenas(temporaries, items, offsets));
    std::uint64_t bytes = 0;
    for (std::size_t i = first; i < workspace_.objects.size(); ++i)
      bytes += bytes_of(workspace_.objects[i]);
    if (whole(bytes) < objects.bytes) return {};
    workspace_.objects.resize(first);
    add_objects(temporaries, objects);
    return {};
  }

  void add_objects(const Numbers& temporaries, const plan::ObjectPlan& found) {
    const std::size_t first = workspace_.objects.size();
    for (const std::int64_t bytes : found.sizes)
      workspace_.objects.emplace_back(BufferStorage{static_cast<std::uint64_t>(bytes)});
    for (std::size_t i = 0; i < temporaries.size(); ++i)
      workspace_.places[temporaries[i]] = {
          .object = static_cast<std::uint32_t>(first + found.objects[i]),
          .offset = 0,
          .origin = {}};
  }

  // Adds one arena, or several if one would be larger than the device allocates: temporaries that
  // end past the limit are planned again, for the next arena.
  Status add_arenas(const Numbers& temporaries, std::span<const plan::BufferItem> items,
                    const plan::OffsetPlan& found) {
    const auto object = static_cast<std::uint32_t>(workspace_.objects.size());
    const std::int64_t most = whole(limits_.max_allocation_bytes);
    std::int64_t bytes = 0;
    Numbers rest;
    std::vector<plan::BufferItem> rest_items;
    for (std::size_t i = 0; i < temporaries.size(); ++i) {
      const std::int64_t end = found.offsets[i] + items[i].size;
      if (end > most && found.offsets[i] > 0) {
        rest.push_back(temporaries[i]);
        rest_items.push_back(items[i]);
        continue;
      }
      bytes = std::max(bytes, end);
      workspace_.places[temporaries[i]] = {
          .object = object, .offset = static_cast<std::uint64_t>(found.offsets[i]), .origin = {}};
    }
    workspace_.objects.emplace_back(BufferStorage{static_cast<std::uint64_t>(bytes)});
    if (rest.empty()) return {};
    TL_ASSIGN_OR_RETURN(const plan::OffsetPlan again,
                        plan::place_offsets(rest_items, effort(effort_.buffer_steps)));
    return add_arenas(rest, rest_items, again);
  }

  const LaunchPlan& plan_;
  const hal::DeviceLimits& limits_;
  const WorkspaceEffort& effort_;
  const Uses uses_;
  WorkspacePlan workspace_;
};

}  // namespace

Result<WorkspacePlan> plan_workspace(const LaunchPlan& plan, const hal::DeviceLimits& limits,
                                     const WorkspaceEffort& effort) {
  return WorkspacePlanner(plan, limits, effort).run();
}

std::uint64_t least_workspace_bytes(const LaunchPlan& plan) {
  const Uses uses(plan);
  // The live memory grows only when a step allocates.
  std::map<std::optional<hal::TexelFormat>, std::map<std::int64_t, std::uint64_t>> live;
  std::uint64_t bytes = 0;  // of counters at first, which share memory
  for (const std::uint32_t temporary : uses.allocated()) {
    const TensorStorage& storage = plan.temporaries[temporary].storage;
    if (are_counters(storage)) {
      bytes = std::max(bytes, bytes_of(storage));
      continue;
    }
    const auto* texture = std::get_if<TextureStorage>(&storage);
    auto& at = live[texture == nullptr ? std::nullopt : std::optional(texture->format)];
    const plan::Lifetime lifetime = uses.lifetime(temporary);
    for (std::int64_t now = lifetime.first; now <= lifetime.last; ++now)
      at[now] += bytes_of(storage);
  }
  for (const auto& [kind, at] : live) {
    std::uint64_t most = 0;
    for (const auto& [now, sum] : at) most = std::max(most, sum);
    bytes += most;
  }
  return bytes;
}

}  // namespace texloom::runtime
