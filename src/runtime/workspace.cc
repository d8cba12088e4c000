#include "runtime/workspace.h"

#include <limits>
#include <optional>

namespace texloom::runtime {
namespace {

bool fits_axis(std::uint64_t wanted, std::uint64_t there) {
  // there <= wanted * kMaxGrowth, without the product, which may overflow.
  return there >= wanted && (there - 1) / kMaxGrowth < wanted;
}

// What is wasted, in bytes or texels, when `wanted` lives in `there`; nothing when it may not.
std::optional<std::uint64_t> waste(const TensorStorage& wanted, const TensorStorage& there) {
  if (wanted.index() != there.index()) return std::nullopt;
  if (const auto* buffer = std::get_if<BufferStorage>(&wanted)) {
    const std::uint64_t bytes = std::get<BufferStorage>(there).bytes;
    if (!fits_axis(buffer->bytes, bytes)) return std::nullopt;
    return bytes - buffer->bytes;
  }
  const auto& a = std::get<TextureStorage>(wanted);
  const auto& b = std::get<TextureStorage>(there);
  if (a.format != b.format || !fits_axis(a.extent.width, b.extent.width) ||
      !fits_axis(a.extent.height, b.extent.height))
    return std::nullopt;
  return std::uint64_t{b.extent.width} * b.extent.height -
         std::uint64_t{a.extent.width} * a.extent.height;
}

class WorkspacePlanner {
 public:
  explicit WorkspacePlanner(const LaunchPlan& plan) : plan_(plan) {
    workspace_.object_of.resize(plan.temporaries.size());
  }

  WorkspacePlan run() {
    walk(plan_.steps);
    return std::move(workspace_);
  }

 private:
  void walk(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* allocate = std::get_if<AllocateStep>(&step))
        workspace_.object_of[allocate->temporary] = take(plan_.temporaries[allocate->temporary]);
      else if (const auto* free = std::get_if<FreeStep>(&step))
        in_use_[workspace_.object_of[free->temporary]] = false;
      else if (const auto* loop = std::get_if<LoopStep>(&step))
        walk(loop->body);  // one walk stands for all: what a body allocates it frees
    }
  }

  std::uint32_t take(const TensorSpec& tensor) {
    std::optional<std::uint32_t> best;
    std::uint64_t least_waste = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t i = 0; i < in_use_.size(); ++i) {
      if (in_use_[i]) continue;
      const auto wasted = waste(tensor.storage, workspace_.objects[i]);
      if (!wasted || (best && *wasted >= least_waste)) continue;
      best = i;
      least_waste = *wasted;
    }
    if (!best) {
      best = static_cast<std::uint32_t>(in_use_.size());
      workspace_.objects.push_back(tensor.storage);
      in_use_.push_back(false);
    }
    in_use_[*best] = true;
    return *best;
  }

  const LaunchPlan& plan_;
  WorkspacePlan workspace_;
  std::vector<bool> in_use_;  // by object
};

Result<hal::Binding> create_object(hal::Device& device, const TensorStorage& storage) {
  if (const auto* texture = std::get_if<TextureStorage>(&storage)) {
    TL_ASSIGN_OR_RETURN(auto object, device.create_texture({.extent = texture->extent,
                                                            .format = texture->format,
                                                            .usage = hal::TextureUsage::Sampled |
                                                                     hal::TextureUsage::Storage}));
    return hal::Binding(hal::TextureBinding{std::move(object), {}});
  }
  TL_ASSIGN_OR_RETURN(auto object,
                      device.create_buffer({.bytes = std::get<BufferStorage>(storage).bytes,
                                            .usage = hal::BufferUsage::Storage}));
  return hal::Binding(hal::BufferBinding{std::move(object), 0});
}

}  // namespace

WorkspacePlan plan_workspace(const LaunchPlan& plan) { return WorkspacePlanner(plan).run(); }

Result<std::vector<hal::Binding>> create_workspace(hal::Device& device,
                                                   const WorkspacePlan& workspace) {
  std::vector<hal::Binding> objects;
  for (const TensorStorage& storage : workspace.objects) {
    TL_ASSIGN_OR_RETURN(hal::Binding object, create_object(device, storage));
    objects.push_back(std::move(object));
  }
  std::vector<hal::Binding> bindings;
  for (const std::uint32_t object : workspace.object_of)
    bindings.push_back(object < objects.size() ? objects[object] : hal::Binding());
  return bindings;
}

}  // namespace texloom::runtime
