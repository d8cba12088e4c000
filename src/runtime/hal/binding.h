// The arguments of a dispatch: memory objects and scalars.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <variant>

#include "runtime/hal/buffer.h"
#include "runtime/hal/texture.h"

namespace texloom::hal {

struct BufferBinding {
  std::shared_ptr<Buffer> buffer;
  std::uint64_t offset = 0;  // bytes; a multiple of DeviceLimits::buffer_offset_alignment
};

struct TextureBinding {
  std::shared_ptr<Texture> texture;
  Offset2D origin = {};  // of the tensor in the texture
};

using Binding = std::variant<BufferBinding, TextureBinding>;

// An index into the table of bindings that comes with each submission of a command buffer.
struct BindingSlot {
  std::uint32_t index = 0;
  std::uint64_t offset = 0;  // bytes, added to the table's offset; 0 for a texture
};

// An argument as it is recorded: memory, or a slot.
using BindingRef = std::variant<BufferBinding, TextureBinding, BindingSlot>;

// A 32-bit or 64-bit scalar and its type.
class Constant {
 public:
  template <typename T>
    requires std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
             std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> ||
             std::same_as<T, float> || std::same_as<T, double>
  explicit Constant(T value) : type_(type_of<T>()) {
    std::memcpy(bytes_.data(), &value, sizeof value);
  }

  // Zero of a type of 32 or 64 bits.
  static Constant zero(ElementType type) {
    Constant constant(std::uint32_t{0});
    constant.type_ = type;
    return constant;
  }

  ElementType type() const { return type_; }
  const void* data() const { return bytes_.data(); }  // byte_size(type()) bytes

 private:
  template <typename T>
  static constexpr ElementType type_of() {
    if constexpr (std::same_as<T, std::int32_t>) return ElementType::Int32;
    if constexpr (std::same_as<T, std::uint32_t>) return ElementType::UInt32;
    if constexpr (std::same_as<T, std::int64_t>) return ElementType::Int64;
    if constexpr (std::same_as<T, std::uint64_t>) return ElementType::UInt64;
    if constexpr (std::same_as<T, float>) return ElementType::Float32;
    return ElementType::Float64;
  }

  alignas(8) std::array<std::byte, 8> bytes_ = {};
  ElementType type_;
};

}  // namespace texloom::hal
