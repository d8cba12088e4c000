#include "runtime/plan/tensor_transfer.h"

#include <cstring>
#include <vector>

#include "runtime/hal/transfer.h"
#include "runtime/plan/image_limits.h"

namespace texloom::runtime {
namespace {

Status check(const TensorSpec& tensor, std::size_t array_bytes, const hal::Binding& binding) {
  if (tensor.layout.shape.empty() && !tensor.shape.empty())
    return invalid_argument(
        "the size of tensor \"{}\" depends on the call; help: give it a shape first (with_shape in "
        "plan/symbols.h)",
        tensor.name);
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(tensor.layout.elements()) * hal::byte_size(tensor.element);
  if (array_bytes != wanted)
    return invalid_argument("an array of tensor \"{}\" has {} bytes, got {}", tensor.name, wanted,
                            array_bytes);
  if (std::holds_alternative<TextureStorage>(tensor.storage) !=
      std::holds_alternative<hal::TextureBinding>(binding))
    return invalid_argument("tensor \"{}\" is {}, but the memory bound to it is not", tensor.name,
                            describe(tensor.storage));
  return {};
}

hal::TextureRegion region_of(const TensorSpec& tensor, const hal::TextureBinding& binding) {
  return {binding.origin, std::get<TextureStorage>(tensor.storage).extent};
}

// The array in the order of the tensor's places: itself, or a copy in `storage`.
std::span<const std::byte> packed(const TensorSpec& tensor, std::span<const std::byte> array,
                                  std::vector<std::byte>& storage) {
  if (tensor.layout.is_row_major()) return array;
  const std::size_t bytes = hal::byte_size(tensor.element);
  storage.resize(static_cast<std::size_t>(tensor.layout.places()) * bytes);
  pack(tensor.layout, bytes, array, storage);
  return storage;
}

// Calls `read(places)`, which waits, and then puts the elements into the array.
template <typename Read>
Status read_places(const TensorSpec& tensor, std::span<std::byte> array, Read read) {
  if (tensor.layout.is_row_major()) return read(array);
  const std::size_t bytes = hal::byte_size(tensor.element);
  std::vector<std::byte> places(static_cast<std::size_t>(tensor.layout.places()) * bytes);
  TL_RETURN_IF_ERROR(read(std::span(places)));
  unpack(tensor.layout, bytes, places, array);
  return {};
}

// An empty lease for a tensor in a buffer.
Result<hal::Lease<hal::Buffer>> acquire_staging(hal::Device& device,
                                                const std::shared_ptr<hal::Queue>& queue,
                                                const TensorSpec& tensor) {
  const auto* texture = std::get_if<TextureStorage>(&tensor.storage);
  if (texture == nullptr) return hal::Lease<hal::Buffer>();
  return device.workspace_pool().acquire(
      queue, hal::BufferDesc{.bytes = hal::staging_bytes(texture->extent, texture->format),
                             .usage = hal::kStagingUsage});
}

// The memory of a tensor that the host may use like the device, without commands; empty otherwise.
hal::Mapping map_shared(const hal::Device& device, const hal::Binding& binding, std::size_t bytes,
                        hal::Access access) {
  const auto* bound = std::get_if<hal::BufferBinding>(&binding);
  if (bound == nullptr || bytes == 0) return {};
  const hal::MemoryKindInfo& kind = device.info().memory(bound->buffer->desc().memory);
  if (!kind.mappable || !kind.persistent || !kind.coherent) return {};
  auto mapping = bound->buffer->map(bound->offset, bytes, access);
  return mapping.ok() ? *std::move(mapping) : hal::Mapping();  // the application may have mapped it
}

}  // namespace

Result<hal::Binding> allocate(hal::Device& device, const TensorSpec& tensor) {
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    TL_RETURN_IF_ERROR(check_image(tensor, device.info().limits));
    TL_ASSIGN_OR_RETURN(
        auto made, device.create_texture({.extent = texture->extent, .format = texture->format}));
    return hal::Binding(hal::TextureBinding{std::move(made), {}});
  }
  TL_ASSIGN_OR_RETURN(
      auto made, device.create_buffer({.bytes = std::get<BufferStorage>(tensor.storage).bytes}));
  return hal::Binding(hal::BufferBinding{std::move(made), 0});
}

std::optional<hal::Binding> in_place(hal::Device& device, const TensorSpec& tensor,
                                     std::span<std::byte> array,
                                     std::shared_ptr<const void> owner) {
  const hal::DeviceInfo& info = device.info();
  const hal::MemoryKindInfo& kind = info.memory(hal::MemoryKind::Device);
  const bool uses_host_memory = info.type == hal::DeviceType::Cpu && info.features.host_import &&
                                kind.mappable && kind.persistent && kind.coherent;
  const auto* storage = std::get_if<BufferStorage>(&tensor.storage);
  if (!uses_host_memory || storage == nullptr || !tensor.layout.is_row_major() ||
      storage->bytes != array.size())
    return std::nullopt;
  // Fails for arrays that are not aligned.
  auto buffer = device.allocator()->import(
      {.memory = array, .release = [kept = std::move(owner)]() mutable { kept.reset(); }});
  if (!buffer.ok()) return std::nullopt;
  return hal::Binding(hal::BufferBinding{*std::move(buffer), 0});
}

Status write_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                    std::span<const std::byte> array) {
  TL_RETURN_IF_ERROR(check(tensor, array.size(), binding));
  std::vector<std::byte> storage;
  const std::span<const std::byte> places = packed(tensor, array, storage);
  if (const auto* texture = std::get_if<hal::TextureBinding>(&binding))
    return hal::write_texture(device, texture->texture, region_of(tensor, *texture), places);
  const auto& buffer = std::get<hal::BufferBinding>(binding);
  return hal::write_buffer(device, buffer.buffer, buffer.offset, places);
}

Status read_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                   std::span<std::byte> array) {
  TL_RETURN_IF_ERROR(check(tensor, array.size(), binding));
  return read_places(tensor, array, [&](std::span<std::byte> places) {
    if (const auto* texture = std::get_if<hal::TextureBinding>(&binding))
      return hal::read_texture(device, texture->texture, region_of(tensor, *texture), places);
    const auto& buffer = std::get<hal::BufferBinding>(binding);
    return hal::read_buffer(device, buffer.buffer, buffer.offset, places);
  });
}

Status submit_write(hal::Device& device, const std::shared_ptr<hal::Queue>& queue,
                    const TensorSpec& tensor, const hal::Binding& binding,
                    std::span<const std::byte> array) {
  TL_RETURN_IF_ERROR(check(tensor, array.size(), binding));
  std::vector<std::byte> storage;
  const std::span<const std::byte> places = packed(tensor, array, storage);
  if (queue->is_idle()) {
    hal::Mapping shared = map_shared(device, binding, places.size(), hal::Access::Write);
    if (!shared.bytes().empty()) {
      std::memcpy(shared.bytes().data(), places.data(), places.size());
      return shared.release();
    }
  }
  TL_ASSIGN_OR_RETURN(auto staging, acquire_staging(device, queue, tensor));
  const std::shared_ptr<hal::CommandBuffer> commands = device.create_command_buffer();
  if (const auto* texture = std::get_if<hal::TextureBinding>(&binding)) {
    TL_RETURN_IF_ERROR(hal::record_write(*commands, staging.object(), texture->texture,
                                         region_of(tensor, *texture), places,
                                         hal::HostMemory::Copied));
  } else {
    const auto& buffer = std::get<hal::BufferBinding>(binding);
    TL_RETURN_IF_ERROR(commands->update(buffer.buffer, buffer.offset, places));
  }
  TL_RETURN_IF_ERROR(commands->finish());
  TL_RETURN_IF_ERROR(queue->submit(commands));
  staging.release();
  return {};
}

Status read_after(hal::Device& device, const std::shared_ptr<hal::Queue>& queue,
                  const TensorSpec& tensor, const hal::Binding& binding,
                  std::span<std::byte> array) {
  TL_RETURN_IF_ERROR(check(tensor, array.size(), binding));
  TL_ASSIGN_OR_RETURN(auto staging, acquire_staging(device, queue, tensor));
  const Status status = read_places(tensor, array, [&](std::span<std::byte> places) -> Status {
    hal::Mapping shared = map_shared(device, binding, places.size(), hal::Access::Read);
    if (!shared.bytes().empty()) {
      TL_RETURN_IF_ERROR(queue->wait_idle());
      std::memcpy(places.data(), shared.bytes().data(), places.size());
      return shared.release();
    }
    const std::shared_ptr<hal::CommandBuffer> commands = device.create_command_buffer();
    if (const auto* texture = std::get_if<hal::TextureBinding>(&binding)) {
      TL_RETURN_IF_ERROR(hal::record_read(*commands, staging.object(), texture->texture,
                                          region_of(tensor, *texture), places));
    } else {
      const auto& buffer = std::get<hal::BufferBinding>(binding);
      TL_RETURN_IF_ERROR(commands->readback(buffer.buffer, buffer.offset, places));
    }
    TL_RETURN_IF_ERROR(commands->finish());
    return queue->run({.commands = {commands}});
  });
  staging.release();
  return status;
}

}  // namespace texloom::runtime
