#include "runtime/executor/leased_workspace.h"

#include <cstdint>
#include <utility>

namespace texloom::runtime {
namespace {

// May be false for a temporary that is never allocated, because the place of the temporary has no
// meaning.
bool lies_within(const TensorStorage& tensor, const Placement& place, const WorkspacePlan& plan) {
  if (place.object >= plan.objects.size()) return false;
  const TensorStorage& object = plan.objects[place.object];
  if (object.index() != tensor.index()) return false;
  const auto* buffer = std::get_if<BufferStorage>(&tensor);
  return buffer == nullptr ||
         hal::range_fits(place.offset, buffer->bytes, std::get<BufferStorage>(object).bytes);
}

// Kernels use temporaries; operators on the host copy them.
constexpr hal::TextureUsage kTextureUsage =
    hal::TextureUsage::Sampled | hal::TextureUsage::Storage | hal::TextureUsage::CopySource |
    hal::TextureUsage::CopyTarget;
constexpr hal::BufferUsage kBufferUsage =
    hal::BufferUsage::Storage | hal::BufferUsage::CopySource | hal::BufferUsage::CopyTarget;

}  // namespace

Status LeasedWorkspace::add(hal::WorkspacePool& pool, const std::shared_ptr<hal::Queue>& queue,
                            const TensorStorage& storage) {
  if (const auto* texture = std::get_if<TextureStorage>(&storage)) {
    const hal::TextureDesc desc{
        .extent = texture->extent, .format = texture->format, .usage = kTextureUsage};
    const hal::Fit fit = texture->exact_extent ? hal::Fit::Exactly : hal::Fit::AtLeast;
    TL_ASSIGN_OR_RETURN(auto lease, pool.acquire(queue, desc, hal::Dependencies::None, fit));
    leases_.emplace_back(std::move(lease));
    return {};
  }
  TL_ASSIGN_OR_RETURN(
      auto lease,
      pool.acquire(queue, hal::BufferDesc{.bytes = std::get<BufferStorage>(storage).bytes,
                                          .usage = kBufferUsage,
                                          .zeroed = are_counters(storage)}));
  leases_.emplace_back(std::move(lease));
  return {};
}

Result<hal::Binding> LeasedWorkspace::bind(const TensorStorage& tensor,
                                           const Placement& place) const {
  const auto& lease = leases_[place.object];
  if (const auto* texture = std::get_if<hal::Lease<hal::Texture>>(&lease))
    return hal::Binding(hal::TextureBinding{texture->object(), place.origin});
  const std::shared_ptr<hal::Buffer>& buffer = std::get<hal::Lease<hal::Buffer>>(lease).object();
  const std::uint64_t bytes = std::get<BufferStorage>(tensor).bytes;
  if (buffer->bytes() == bytes) return hal::Binding(hal::BufferBinding{buffer});
  TL_ASSIGN_OR_RETURN(auto part, buffer->subspan(place.offset, bytes));
  return hal::Binding(hal::BufferBinding{std::move(part)});
}

Result<LeasedWorkspace> LeasedWorkspace::acquire(hal::WorkspacePool& pool,
                                                 const std::shared_ptr<hal::Queue>& queue,
                                                 std::span<const TensorSpec> temporaries,
                                                 const WorkspacePlan& places) {
  LeasedWorkspace workspace;
  workspace.leases_.reserve(places.objects.size());
  for (const TensorStorage& storage : places.objects)
    TL_RETURN_IF_ERROR(workspace.add(pool, queue, storage));
  for (std::size_t i = 0; i < temporaries.size(); ++i) {
    hal::Binding& binding = workspace.bindings_.emplace_back();
    const Placement& place = places.places[i];
    if (!lies_within(temporaries[i].storage, place, places)) continue;
    TL_ASSIGN_OR_RETURN(binding, workspace.bind(temporaries[i].storage, place));
  }
  return workspace;
}

void LeasedWorkspace::release() {
  bindings_.clear();
  for (auto& lease : leases_) std::visit([](auto& of_a_kind) { of_a_kind.release(); }, lease);
  leases_.clear();
}

}  // namespace texloom::runtime
