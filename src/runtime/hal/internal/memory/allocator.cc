#include "runtime/hal/allocator.h"

#include <algorithm>

#include "runtime/hal/internal/checks/creation_check.h"
#include "runtime/hal/internal/memory/memory_budget.h"

namespace texloom::hal {

std::uint64_t smallest_view_pitch(const DeviceInfo& device, TexelFormat format,
                                  std::uint32_t width) {
  const std::uint64_t step = std::max<std::uint32_t>(device.limits.view_pitch_alignment, 1);
  return (width + step - 1) / step * step * bytes_per_texel(format);
}

Allocator::Allocator(std::shared_ptr<const DeviceInfo> info, const DeviceOptions& options)
    : info_(std::move(info)),
      options_(options),
      budget_(std::make_shared<MemoryBudget>(info_->limits.global_memory_bytes)) {}

template <typename Made, typename Desc>
Result<std::shared_ptr<Made>> Allocator::allocate_within_budget(const Desc& desc,
                                                                std::uint64_t bytes) {
  return retry([&]() -> Result<std::shared_ptr<Made>> {
    auto reserved = budget_->take(bytes);
    if (!reserved.ok())
      return reserved.status().with_context(fmt::format("device {}", info_->name));
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Made> made, allocate(desc));
    made->id_ = ++last_id_;
    made->charge_ = MemoryCharge::of(counter_, desc.memory, bytes, *std::move(reserved));
    return made;
  });
}

template <typename Make>
auto Allocator::retry(Make make) -> decltype(make()) {
  auto made = make();
  const auto is_short = [&] { return made.status().code() == StatusCode::OutOfMemory; };
  if (!is_short()) return made;
  for (const std::weak_ptr<PressureListener>& each : listeners()) {
    const std::shared_ptr<PressureListener> listener = each.lock();
    if (listener == nullptr || !listener->release_unused()) continue;
    made = make();
    if (!is_short()) break;
  }
  return made;
}

Result<std::shared_ptr<Buffer>> Allocator::create_buffer(const BufferDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer,
                      allocate_within_budget<Buffer>(desc, desc.bytes));
  buffer->fills_write_mappings_ = options_.debug;
  return buffer;
}

Result<std::shared_ptr<Texture>> Allocator::create_texture(const TextureDesc& desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  if (!supports(desc.format, desc.usage))
    return make_error(StatusCode::Unimplemented, "device {} has no textures of {} for this usage",
                      info_->name, to_string(desc.format));
  return allocate_within_budget<Texture>(desc, byte_size(desc.extent, desc.format));
}

Result<std::shared_ptr<Buffer>> Allocator::import(ImportDesc desc) {
  TL_RETURN_IF_ERROR(check_creation(*info_, desc));
  const BufferDesc buffer_desc{
      .bytes = desc.memory.size(), .usage = desc.usage, .memory = MemoryKind::Shared};
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer,
                      retry([&] { return wrap(desc.memory, buffer_desc); }));
  buffer->id_ = ++last_id_;
  buffer->charge_ = MemoryCharge::of_import(counter_, buffer_desc.bytes);
  buffer->fills_write_mappings_ = options_.debug;
  buffer->release_import_ = std::move(desc.release);
  return buffer;
}

Result<std::shared_ptr<Texture>> Allocator::create_view(const std::shared_ptr<Buffer>& buffer,
                                                        const TextureViewDesc& desc) {
  TL_ASSIGN_OR_RETURN(TextureBacking backing, check_view(*info_, buffer, desc));
  if (!supports(desc.texture.format, desc.texture.usage))
    return make_error(StatusCode::Unimplemented, "device {} has no textures of {} for this usage",
                      info_->name, to_string(desc.texture.format));
  TextureDesc texture_desc = desc.texture;
  texture_desc.memory = backing.buffer->desc().memory;
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Texture> texture,
                      retry([&] { return view(backing, texture_desc); }));
  texture->id_ = ++last_id_;
  texture->backing_ = std::move(backing);
  return texture;
}

// Two buffers over the same object would hide from checks that they share memory.
template <typename Made, typename Make>
Result<std::shared_ptr<Made>> Allocator::wrap_once(Wrapped<Made>& wrapped, void* object,
                                                   Make make) {
  const std::lock_guard lock(wrapping_);
  if (const auto found = wrapped.find(object); found != wrapped.end()) {
    if (std::shared_ptr<Made> made = found->second.lock()) return made;
  }
  std::erase_if(wrapped, [](const auto& each) { return each.second.expired(); });
  Result<std::shared_ptr<Made>> made = make();
  if (!made.ok()) return made;
  (*made)->id_ = ++last_id_;
  wrapped.emplace(object, *made);
  return made;
}

Result<std::shared_ptr<Buffer>> Allocator::wrap_whole(void* memory, const NativeBuffer& native) {
  return wrap_once<Buffer>(wrapped_buffers_, memory, [&]() -> Result<std::shared_ptr<Buffer>> {
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, wrap_native_buffer(memory, native.desc));
    buffer->native_uses_ = native.uses;
    buffer->charge_ = MemoryCharge::of_import(counter_, buffer->bytes());
    return buffer;
  });
}

Result<std::shared_ptr<Buffer>> Allocator::wrap_buffer(void* memory) {
  const auto wrap_described = [&]() -> Result<std::shared_ptr<Buffer>> {
    if (memory == nullptr) return invalid_argument("the object is null");
    TL_ASSIGN_OR_RETURN(const NativeBuffer native, describe_native_buffer(memory));
    if (native.whole == nullptr) return wrap_whole(memory, native);
    TL_ASSIGN_OR_RETURN(const NativeBuffer whole, describe_native_buffer(native.whole));
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> root, wrap_whole(native.whole, whole));
    TL_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> part,
                        root->subspan(native.offset, native.desc.bytes));
    part->desc_ = native.desc;
    part->native_uses_ = native.uses;
    return part;
  };
  Result<std::shared_ptr<Buffer>> made = wrap_described();
  if (!made.ok()) return made.status().with_context("wrap");
  return made;
}

Result<std::shared_ptr<Texture>> Allocator::wrap_texture(void* image) {
  if (image == nullptr) return invalid_argument("wrap: the object is null");
  auto made =
      wrap_once<Texture>(wrapped_textures_, image, [&]() -> Result<std::shared_ptr<Texture>> {
        TL_ASSIGN_OR_RETURN(std::shared_ptr<Texture> texture, wrap_native_texture(image));
        texture->charge_ =
            MemoryCharge::of_import(counter_, byte_size(texture->extent(), texture->format()));
        return texture;
      });
  if (!made.ok()) return made.status().with_context("wrap");
  return made;
}

Status Allocator::no_native(std::string_view objects) const {
  return make_error(StatusCode::Unimplemented, "device {} cannot use {} of an application",
                    info_->name, objects);
}
Result<NativeBuffer> Allocator::describe_native_buffer(void*) { return no_native("buffers"); }
Result<std::shared_ptr<Buffer>> Allocator::wrap_native_buffer(void*, const BufferDesc&) {
  return no_native("buffers");
}
Result<std::shared_ptr<Texture>> Allocator::wrap_native_texture(void*) {
  return no_native("images");
}

Result<std::shared_ptr<Buffer>> Allocator::wrap(std::span<std::byte>, const BufferDesc&) {
  return make_error(StatusCode::Unimplemented, "device {} cannot import memory", info_->name);
}

Result<std::shared_ptr<Texture>> Allocator::view(const TextureBacking&, const TextureDesc&) {
  return make_error(StatusCode::Unimplemented, "device {} has no views over buffers", info_->name);
}

void Allocator::add_listener(std::weak_ptr<PressureListener> listener) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& each) { return each.expired(); });
  listeners_.push_back(std::move(listener));
}

std::vector<std::weak_ptr<PressureListener>> Allocator::listeners() {
  const std::lock_guard lock(mutex_);
  return listeners_;
}

}  // namespace texloom::hal
