#include "runtime/tensor_transfer.h"

#include <vector>

#include "runtime/hal/transfer.h"

namespace texloom::runtime {
namespace {

Status check(const TensorSpec& tensor, std::size_t array_bytes) {
  if (tensor.layout.cols.empty() && tensor.layout.shape.empty() && !tensor.shape.empty())
    return invalid_argument("the size of tensor \"{}\" depends on the call", tensor.name);
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(tensor.layout.elements()) * hal::byte_size(tensor.element);
  if (array_bytes == wanted) return {};
  return invalid_argument("an array of tensor \"{}\" has {} bytes, got {}", tensor.name, wanted,
                          array_bytes);
}

hal::TextureRegion region_of(const TextureStorage& storage, const hal::TextureBinding& binding) {
  return {binding.origin, storage.extent};
}

Status wrong_kind(const TensorSpec& tensor) {
  return invalid_argument("tensor \"{}\" is {}, got the other kind of memory", tensor.name,
                          describe(tensor.storage));
}

}  // namespace

Result<hal::Binding> allocate(hal::Device& device, const TensorSpec& tensor) {
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    TL_ASSIGN_OR_RETURN(
        auto made, device.create_texture({.extent = texture->extent, .format = texture->format}));
    return hal::Binding(hal::TextureBinding{std::move(made), {}});
  }
  TL_ASSIGN_OR_RETURN(
      auto made, device.create_buffer({.bytes = std::get<BufferStorage>(tensor.storage).bytes}));
  return hal::Binding(hal::BufferBinding{std::move(made), 0});
}

Status write_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                    std::span<const std::byte> array) {
  TL_RETURN_IF_ERROR(check(tensor, array.size()));
  std::vector<std::byte> packed;
  if (!tensor.layout.is_row_major()) {
    const std::size_t bytes = hal::byte_size(tensor.element);
    packed.resize(static_cast<std::size_t>(tensor.layout.places()) * bytes);
    pack(tensor.layout, bytes, array, packed);
    array = packed;
  }
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    const auto* bound = std::get_if<hal::TextureBinding>(&binding);
    if (bound == nullptr) return wrong_kind(tensor);
    return hal::write_texture(device, bound->texture, region_of(*texture, *bound), array);
  }
  const auto* bound = std::get_if<hal::BufferBinding>(&binding);
  if (bound == nullptr) return wrong_kind(tensor);
  return hal::write_buffer(device, bound->buffer, bound->offset, array);
}

Status read_tensor(hal::Device& device, const TensorSpec& tensor, const hal::Binding& binding,
                   std::span<std::byte> array) {
  TL_RETURN_IF_ERROR(check(tensor, array.size()));
  std::vector<std::byte> packed;
  std::span<std::byte> places = array;
  const std::size_t bytes = hal::byte_size(tensor.element);
  const bool packs = !tensor.layout.is_row_major();
  if (packs) {
    packed.resize(static_cast<std::size_t>(tensor.layout.places()) * bytes);
    places = packed;
  }
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    const auto* bound = std::get_if<hal::TextureBinding>(&binding);
    if (bound == nullptr) return wrong_kind(tensor);
    TL_RETURN_IF_ERROR(
        hal::read_texture(device, bound->texture, region_of(*texture, *bound), places));
  } else {
    const auto* bound = std::get_if<hal::BufferBinding>(&binding);
    if (bound == nullptr) return wrong_kind(tensor);
    TL_RETURN_IF_ERROR(hal::read_buffer(device, bound->buffer, bound->offset, places));
  }
  if (packs) unpack(tensor.layout, bytes, places, array);
  return {};
}

}  // namespace texloom::runtime
