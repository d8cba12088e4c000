#include "runtime/plan_workspace.h"

#include <optional>
#include <utility>

#include "runtime/hal/internal/memory/reuse.h"

namespace texloom::runtime {
namespace {

hal::ReuseExtent extent_of(const TensorStorage& storage) {
  if (const auto* buffer = std::get_if<BufferStorage>(&storage))
    return hal::ReuseExtent::of(buffer->bytes);
  return hal::ReuseExtent::of(std::get<TextureStorage>(storage).extent);
}

// Whether objects of the two differ only in their extents.
bool same_kind(const TensorStorage& a, const TensorStorage& b) {
  if (a.index() != b.index()) return false;
  const auto* texture = std::get_if<TextureStorage>(&a);
  return texture == nullptr || texture->format == std::get<TextureStorage>(b).format;
}

TensorStorage with_extent(TensorStorage storage, hal::ReuseExtent extent) {
  if (auto* buffer = std::get_if<BufferStorage>(&storage)) {
    buffer->bytes = extent.x;
  } else {
    std::get<TextureStorage>(storage).extent = {static_cast<std::uint32_t>(extent.x),
                                                static_cast<std::uint32_t>(extent.y)};
  }
  return storage;
}

class WorkspacePlanner {
 public:
  WorkspacePlanner(const LaunchPlan& plan, std::uint64_t max_object_bytes)
      : plan_(plan), max_object_bytes_(max_object_bytes) {
    workspace_.places.resize(plan.temporaries.size());
  }

  WorkspacePlan run() {
    walk(plan_.steps);
    return std::move(workspace_);
  }

 private:
  void walk(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* allocate = std::get_if<AllocateStep>(&step))
        workspace_.places[allocate->temporary].object =
            take(plan_.temporaries[allocate->temporary]);
      else if (const auto* free = std::get_if<FreeStep>(&step))
        in_use_[workspace_.places[free->temporary].object] = false;
      else if (const auto* loop = std::get_if<LoopStep>(&step))
        walk(loop->body);  // once suffices: a body frees what it allocates
    }
  }

  std::uint32_t take(const TensorSpec& tensor) {
    const TensorStorage& wanted = tensor.storage;
    std::optional<std::uint32_t> best;
    hal::ReuseCost least;
    for (std::uint32_t i = 0; i < in_use_.size(); ++i) {
      const TensorStorage& object = workspace_.objects[i];
      if (in_use_[i] || !same_kind(wanted, object)) continue;
      const auto cost = hal::reuse_cost(extent_of(wanted), extent_of(object));
      if (!cost || (best && *cost >= least)) continue;
      if (cost->added > 0 && bytes_of(grown(wanted, object)) > max_object_bytes_) continue;
      best = i;
      least = *cost;
    }
    if (!best) {
      best = static_cast<std::uint32_t>(in_use_.size());
      workspace_.objects.push_back(wanted);
      in_use_.push_back(false);
    }
    TensorStorage& object = workspace_.objects[*best];
    object = grown(wanted, object);
    in_use_[*best] = true;
    return *best;
  }

  static TensorStorage grown(const TensorStorage& wanted, const TensorStorage& object) {
    return with_extent(object, hal::grown(extent_of(wanted), extent_of(object)));
  }

  const LaunchPlan& plan_;
  std::uint64_t max_object_bytes_;
  WorkspacePlan workspace_;
  std::vector<bool> in_use_;  // by object
};

}  // namespace

WorkspacePlan plan_workspace(const LaunchPlan& plan, std::uint64_t max_object_bytes) {
  return WorkspacePlanner(plan, max_object_bytes).run();
}

Status Workspace::add(hal::WorkspacePool& pool, const std::shared_ptr<hal::Queue>& queue,
                      const TensorStorage& storage) {
  if (const auto* texture = std::get_if<TextureStorage>(&storage)) {
    TL_ASSIGN_OR_RETURN(auto lease,
                        pool.acquire(queue, hal::TextureDesc{.extent = texture->extent,
                                                             .format = texture->format,
                                                             .usage = hal::TextureUsage::Sampled |
                                                                      hal::TextureUsage::Storage}));
    leases_.emplace_back(std::move(lease));
    return {};
  }
  TL_ASSIGN_OR_RETURN(
      auto lease,
      pool.acquire(queue, hal::BufferDesc{.bytes = std::get<BufferStorage>(storage).bytes,
                                          .usage = hal::BufferUsage::Storage}));
  leases_.emplace_back(std::move(lease));
  return {};
}

Result<Workspace> Workspace::acquire(hal::WorkspacePool& pool,
                                     const std::shared_ptr<hal::Queue>& queue,
                                     const WorkspacePlan& plan) {
  Workspace workspace;
  workspace.leases_.reserve(plan.objects.size());
  for (const TensorStorage& storage : plan.objects)
    TL_RETURN_IF_ERROR(workspace.add(pool, queue, storage));
  for (const Placement& place : plan.places) {
    hal::Binding& binding = workspace.bindings_.emplace_back();
    if (place.object >= plan.objects.size()) continue;
    const auto& lease = workspace.leases_[place.object];
    if (const auto* buffer = std::get_if<hal::Lease<hal::Buffer>>(&lease))
      binding = hal::BufferBinding{buffer->object(), place.offset};
    else
      binding =
          hal::TextureBinding{std::get<hal::Lease<hal::Texture>>(lease).object(), place.origin};
  }
  return workspace;
}

void Workspace::release() {
  bindings_.clear();
  for (auto& lease : leases_) std::visit([](auto& of_a_kind) { of_a_kind.release(); }, lease);
  leases_.clear();
}

}  // namespace texloom::runtime
