#include "runtime/custom/write_check.h"

#include <algorithm>
#include <variant>

#include "runtime/custom/tensor_copies.h"

namespace texloom::runtime {

WriteCheck::WriteCheck(const std::shared_ptr<hal::Device>& device,
                       std::shared_ptr<hal::Queue> transfers, const OperatorInfo& info,
                       std::vector<TensorSpec> tensors)
    : device_(device),
      transfers_(std::move(transfers)),
      arguments_(info.arguments),
      tensors_(std::move(tensors)) {}

// The object has neither a buffer nor a texture if the binding is null; tables have null bindings
// for temporaries that no command uses.
WriteCheck::Object WriteCheck::object_of(const hal::Binding& binding, std::string seen_as) {
  if (const auto* bound = std::get_if<hal::BufferBinding>(&binding)) {
    if (bound->buffer == nullptr) return {{}, {}, std::move(seen_as)};
    return {bound->buffer->shared_root(), {}, std::move(seen_as)};
  }
  const auto& texture = std::get<hal::TextureBinding>(binding).texture;
  if (texture == nullptr) return {{}, {}, std::move(seen_as)};
  if (texture->backing() != nullptr) return {texture->backing()->buffer, {}, std::move(seen_as)};
  return {{}, texture, std::move(seen_as)};
}

std::vector<WriteCheck::Object> WriteCheck::objects_of(const hal::HostCallMemory& memory) const {
  std::vector<Object> objects;
  const auto add = [&](Object object) {
    if (object.buffer == nullptr && object.texture == nullptr) return;
    const bool is_known = std::any_of(objects.begin(), objects.end(), [&](const Object& each) {
      return each.buffer == object.buffer && each.texture == object.texture;
    });
    if (!is_known) objects.push_back(std::move(object));
  };
  for (std::size_t i = 0; i < memory.named.size(); ++i)
    add(object_of(memory.named[i], fmt::format("the object of \"{}\"", arguments_[i].name)));
  for (std::size_t i = 0; i < memory.table.size(); ++i)
    add(object_of(memory.table[i], fmt::format("the object in slot {}", i)));
  return objects;
}

Status WriteCheck::read(std::vector<Object>& objects) const {
  const auto device = device_.lock();
  if (device == nullptr)
    return make_error(StatusCode::Unavailable, "the device was released before the call");
  TensorCopies copies(*device, transfers_);
  for (Object& object : objects) {
    if (object.buffer != nullptr) {
      object.bytes.resize(object.buffer->bytes());
      TL_RETURN_IF_ERROR(copies.read(hal::BufferBinding{object.buffer}, object.bytes));
    } else {
      const hal::Extent2D extent = object.texture->extent();
      object.bytes.resize(hal::byte_size(extent, object.texture->format()));
      TL_RETURN_IF_ERROR(copies.read(hal::TextureBinding{object.texture}, extent, object.bytes));
    }
  }
  return copies.run();
}

// The bytes of a tensor in its object.
std::vector<WriteCheck::Range> WriteCheck::ranges_of(const hal::Binding& binding,
                                                     const TensorStorage& storage) const {
  if (const auto* buffer = std::get_if<hal::BufferBinding>(&binding)) {
    const std::uint64_t begin = buffer->buffer->base_offset() + buffer->offset;
    return {{begin, begin + bytes_of(storage)}};
  }
  const auto& bound = std::get<hal::TextureBinding>(binding);
  const hal::TextureBacking* backing = bound.texture->backing();
  const std::uint64_t texel = hal::bytes_per_texel(bound.texture->format());
  const std::uint64_t pitch =
      backing != nullptr ? backing->row_pitch : texel * bound.texture->extent().width;
  const std::uint64_t first = backing != nullptr ? backing->offset : 0;
  const hal::Extent2D extent = std::get<TextureStorage>(storage).extent;
  std::vector<Range> ranges;
  for (std::uint64_t row = 0; row < extent.height; ++row) {
    const std::uint64_t begin = first + (bound.origin.y + row) * pitch + bound.origin.x * texel;
    ranges.push_back({begin, begin + extent.width * texel});
  }
  return ranges;
}

Status WriteCheck::report(const hal::HostCallMemory& memory, const Object& object,
                          std::uint64_t byte) const {
  constexpr std::string_view kHelp =
      "help: declare every tensor that the operator writes, and write only within its extent";
  for (std::size_t i = 0; i < memory.named.size(); ++i) {
    const Object other = object_of(memory.named[i], {});
    if (other.buffer != object.buffer || other.texture != object.texture) continue;
    for (const Range& range : ranges_of(memory.named[i], tensors_[i].storage)) {
      if (byte >= range.begin && byte < range.end)
        return invalid_argument(
            "the call writes \"{}\" ({}), which the operator declares as read; {}",
            arguments_[i].name, tensors_[i].name, kHelp);
    }
  }
  return invalid_argument("the call writes byte {} of {}, outside of the operator's tensors; {}",
                          byte, object.seen_as, kHelp);
}

Status WriteCheck::remember(const hal::HostCallMemory& memory) {
  before_ = objects_of(memory);
  return read(before_);
}

Status WriteCheck::compare(const hal::HostCallMemory& memory) {
  std::vector<Object> after = objects_of(memory);
  TL_RETURN_IF_ERROR(read(after));
  for (std::size_t number = 0; number < after.size(); ++number) {
    Object& now = after[number];
    // Bytes that the operator may write count as unchanged.
    for (std::size_t i = 0; i < memory.named.size(); ++i) {
      const Object other = object_of(memory.named[i], {});
      if (!hal::writes(arguments_[i].access) || other.buffer != now.buffer ||
          other.texture != now.texture)
        continue;
      for (const Range& range : ranges_of(memory.named[i], tensors_[i].storage)) {
        const auto begin = static_cast<std::ptrdiff_t>(range.begin);
        const auto count = static_cast<std::ptrdiff_t>(range.end - range.begin);
        std::copy_n(before_[number].bytes.begin() + begin, count, now.bytes.begin() + begin);
      }
    }
    const auto [old, changed] = std::mismatch(before_[number].bytes.begin(),
                                              before_[number].bytes.end(), now.bytes.begin());
    if (changed != now.bytes.end())
      return report(memory, now, static_cast<std::uint64_t>(changed - now.bytes.begin()));
  }
  before_.clear();
  return {};
}

}  // namespace texloom::runtime
