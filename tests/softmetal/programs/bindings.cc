#include "tests/softmetal/programs/bindings.h"

#include <algorithm>
#include <cstring>

namespace softmetal {
namespace {

std::string shape_text(const NpyArray& a) {
  std::string out = "(";
  for (size_t extent : a.shape) out += (out.size() > 1 ? ", " : "") + std::to_string(extent);
  return out + ")";
}

// Returns the pixel format of a dtype and a number of channels, if the kernel reads `element`.
PixelFormat format_of(Dtype dtype, size_t channels, uint32_t element) {
  using F = PixelFormat;
  const int place = channels == 1 ? 0 : (channels == 2 ? 1 : (channels == 4 ? 2 : -1));
  if (place < 0) return F::Invalid;
  const auto pick = [&](F one, F two, F four) {
    return place == 0 ? one : (place == 1 ? two : four);
  };
  const bool numbers = element == 0;
  switch (dtype) {
    case Dtype::Float32:
      return numbers ? pick(F::R32Float, F::RG32Float, F::RGBA32Float) : F::Invalid;
    case Dtype::Float16:
      return numbers ? pick(F::R16Float, F::RG16Float, F::RGBA16Float) : F::Invalid;
    case Dtype::UInt8:
      if (numbers) return pick(F::R8Unorm, F::RG8Unorm, F::RGBA8Unorm);
      return element == 2 ? pick(F::R8Uint, F::RG8Uint, F::RGBA8Uint) : F::Invalid;
    case Dtype::Int8:
      if (numbers) return pick(F::R8Snorm, F::RG8Snorm, F::RGBA8Snorm);
      return element == 1 ? pick(F::R8Sint, F::RG8Sint, F::RGBA8Sint) : F::Invalid;
    case Dtype::UInt16:
      if (numbers) return pick(F::R16Unorm, F::RG16Unorm, F::RGBA16Unorm);
      return element == 2 ? pick(F::R16Uint, F::RG16Uint, F::RGBA16Uint) : F::Invalid;
    case Dtype::Int16:
      if (numbers) return pick(F::R16Snorm, F::RG16Snorm, F::RGBA16Snorm);
      return element == 1 ? pick(F::R16Sint, F::RG16Sint, F::RGBA16Sint) : F::Invalid;
    case Dtype::UInt32:
      return element == 2 ? pick(F::R32Uint, F::RG32Uint, F::RGBA32Uint) : F::Invalid;
    case Dtype::Int32:
      return element == 1 ? pick(F::R32Sint, F::RG32Sint, F::RGBA32Sint) : F::Invalid;
    default:
      return F::Invalid;
  }
}

// Returns the number of axes of a texture's array, without the channels.
size_t axes_of(TextureKind kind) {
  switch (kind) {
    case TextureKind::T1d:
    case TextureKind::Buffer:
      return 1;
    case TextureKind::T1dArray:
    case TextureKind::T2d:
      return 2;
    case TextureKind::T2dArray:
    case TextureKind::T3d:
    case TextureKind::Cube:
    case TextureKind::CubeArray:
      return 3;
    default:
      return 0;
  }
}

// Reads the dtype in texts such as `int32:7,8`.
std::optional<Dtype> dtype_in_front(const std::string& text) {
  const size_t colon = text.find(':');
  return colon == std::string::npos ? std::nullopt : dtype_of_name(text.substr(0, colon));
}

}  // namespace

NpyArray* Bindings::array(const std::string& file, std::string& problem) {
  std::unique_ptr<NpyArray>& slot = arrays_[file];
  if (slot == nullptr) {
    slot = std::make_unique<NpyArray>();
    if (!read_npy(file, *slot, problem)) return nullptr;
  }
  return slot.get();
}

const ArgumentInfo* Bindings::parameter(BindingKind kind, int index) const {
  for (const ArgumentInfo& a : function_.arguments) {
    if (a.present && a.parameter.binding == kind && a.parameter.index == index) return &a;
  }
  return nullptr;
}

bool Bindings::has_parameter(const char* option, BindingKind kind, int index,
                             std::string& problem) const {
  if (parameter(kind, index) != nullptr) return true;
  static constexpr const char* kNames[] = {"buffer", "texture", "sampler", "threadgroup"};
  const std::string name = kNames[static_cast<int>(kind)];
  problem = std::string(option) + " " + std::to_string(index) + ": kernel \"" + function_.name +
            "\" has no [[" + name + "(" + std::to_string(index) + ")]]";
  return false;
}

bool Bindings::bind(std::string& problem) {
  for (const auto& [index, file] : command_.buffers) {
    if (!has_parameter("--buffer", BindingKind::Buffer, index, problem)) return false;
    NpyArray* a = array(file, problem);
    if (a == nullptr) return false;
    arguments_.buffers[index] = {a->data(), a->size, true,
                                 "buffer " + std::to_string(index) + " (" + file + ")"};
  }
  for (const auto& [index, text] : command_.bytes) {
    if (!bind_bytes(index, text, problem)) return false;
  }
  for (const auto& [index, files] : command_.argument_buffers) {
    if (!bind_argument_buffer(index, files, problem)) return false;
  }
  for (const auto& [index, file] : command_.textures) {
    if (!bind_texture(index, file, problem)) return false;
  }
  for (const auto& [index, words] : command_.samplers) {
    if (!bind_sampler(index, words, problem)) return false;
  }
  for (const auto& [index, text] : command_.threadgroups) {
    if (!has_parameter("--threadgroup", BindingKind::Threadgroup, index, problem)) return false;
    char* end = nullptr;
    const unsigned long long size = std::strtoull(text.c_str(), &end, 10);
    if (*end != 0 || text[0] == '-' || size > (1ULL << 30)) {
      problem = "--threadgroup takes INDEX=BYTES, not \"" + text + "\"";
      return false;
    }
    arguments_.threadgroup_sizes[index] = size;
  }
  return true;
}

bool Bindings::bind_bytes(int index, const std::string& text, std::string& problem) {
  if (!has_parameter("--bytes", BindingKind::Buffer, index, problem)) return false;
  const std::optional<Dtype> dtype = dtype_in_front(text);
  if (!dtype) {
    problem = "--bytes " + std::to_string(index) +
              " takes DTYPE:VALUES, as in int32:7,8, with a dtype of bool, "
              "int8 to int64, uint8 to uint64, float16 or float32, not \"" +
              text + "\"";
    return false;
  }
  std::vector<uint8_t> bytes;
  if (!parse_numbers(text.substr(text.find(':') + 1), *dtype, bytes, problem)) {
    problem = "--bytes " + std::to_string(index) + ": " + problem;
    return false;
  }
  // setBytes takes up to 4 KiB.
  if (bytes.size() > 4096) {
    problem = "--bytes " + std::to_string(index) + " has " + std::to_string(bytes.size()) +
              " bytes; the limit is 4096";
    return false;
  }
  arguments_.bytes[index] = std::move(bytes);
  return true;
}

// Returns the members that get `count` values, in the order of their ids. If the kernel's type is
// no struct of resources, the members are consecutive addresses.
std::vector<MemberInfo> Bindings::slots_of(const ArgumentInfo& a, size_t count,
                                           std::string& problem) const {
  constexpr uint32_t kData = 0, kSampler = 2, kPointer = 3;
  std::vector<MemberInfo> members = a.members, all, resources;
  std::stable_sort(members.begin(), members.end(),
                   [](const MemberInfo& x, const MemberInfo& y) { return x.id < y.id; });
  for (MemberInfo m : members) {
    if (m.description.category == kSampler) continue;
    for (uint32_t left = m.description.count; left > 0; --left) {
      all.push_back(m);
      if (m.description.category != kData) resources.push_back(m);
      m.description.offset += sizeof(uint64_t);
    }
  }
  for (size_t k = 0; members.empty() && k < count; ++k) {
    resources.emplace_back();
    resources.back().description.category = kPointer;
    resources.back().description.offset = k * sizeof(uint64_t);
  }
  if (resources.size() == count) return resources;
  if (all.size() == count) return all;
  problem = "has " + std::to_string(count) + " arrays, but \"" + a.parameter.of_struct + "\" has " +
            std::to_string(resources.size()) + " members that take one";
  if (all.size() != resources.size())
    problem += ", or " + std::to_string(all.size()) + " with its constants";
  return {};
}

// Reads a constant's bytes from an array's file or from `DTYPE:VALUE`.
bool Bindings::read_constant(const std::string& value, std::vector<uint8_t>& bytes,
                             std::string& problem) {
  const std::optional<Dtype> dtype = dtype_in_front(value);
  if (dtype) return parse_numbers(value.substr(value.find(':') + 1), *dtype, bytes, problem);
  NpyArray* a = array(value, problem);
  if (a == nullptr) return false;
  const auto* data = static_cast<const uint8_t*>(a->data());
  bytes.assign(data, data + a->size);
  return true;
}

// Writes the resource that `value` names to a member of an argument buffer.
bool Bindings::bind_member(const MemberInfo& member, const std::string& value,
                           const std::string& name, char* buffer, std::string& problem) {
  const SmDescription& d = member.description;
  std::vector<uint8_t> bytes;
  const auto take = [&](const void* pointer) {
    bytes.resize(sizeof pointer);
    std::memcpy(bytes.data(), &pointer, sizeof pointer);
  };
  if (d.category == 0) {
    if (!read_constant(value, bytes, problem)) return false;
    if (bytes.size() > d.size) {
      problem = name + ": \"" + member.name + "\" has " + std::to_string(d.size) + " bytes, but " +
                value + " has " + std::to_string(bytes.size());
      return false;
    }
  } else if (d.category == 1) {
    Texture* t = make_texture(value, d.type, problem);
    if (t == nullptr) return false;
    arguments_.resident_textures.push_back(t);
    take(t);
  } else {
    NpyArray* a = array(value, problem);
    if (a == nullptr) return false;
    arguments_.resident.push_back({a->data(), a->size, true, name + " (" + value + ")"});
    take(a->data());
  }
  std::memcpy(buffer + d.offset, bytes.data(), bytes.size());
  return true;
}

bool Bindings::bind_argument_buffer(int index, const std::vector<std::string>& values,
                                    std::string& problem) {
  if (!has_parameter("--argument-buffer", BindingKind::Buffer, index, problem)) return false;
  const ArgumentInfo& a = *parameter(BindingKind::Buffer, index);
  const std::string name = "--argument-buffer " + std::to_string(index);
  const std::vector<MemberInfo> slots = slots_of(a, values.size(), problem);
  if (slots.empty()) {
    problem = name + " " + problem;
    return false;
  }
  const size_t size = std::max<size_t>(a.description.size, sizeof(uint64_t) * values.size());
  auto& words =
      *argument_buffers_.emplace_back(std::make_unique<std::vector<uint64_t>>(size / 8 + 1));
  auto* buffer = reinterpret_cast<char*>(words.data());
  for (size_t k = 0; k < values.size(); ++k) {
    const std::string member = name + " [" + std::to_string(k) + "]";
    if (!bind_member(slots[k], values[k], member, buffer, problem)) return false;
  }
  arguments_.buffers[index] = {buffer, size, false, "argument buffer " + std::to_string(index)};
  return true;
}

bool Bindings::bind_texture(int index, const std::string& file, std::string& problem) {
  for (const ArgumentInfo& a : function_.arguments) {
    const Parameter& p = a.parameter;
    if (!a.present || p.binding != BindingKind::Texture || index < p.index ||
        index >= p.index + static_cast<int>(a.description.count)) {
      continue;
    }
    Texture* t = make_texture(file, a.description.type, problem);
    if (t == nullptr) {
      problem = "--texture " + std::to_string(index) + ": " + problem;
      return false;
    }
    std::vector<Texture*>& textures = arguments_.textures[p.index];
    textures.resize(a.description.count, nullptr);
    textures[index - p.index] = t;
    return true;
  }
  return has_parameter("--texture", BindingKind::Texture, index, problem);
}

Texture* Bindings::make_texture(const std::string& file, uint32_t type, std::string& problem) {
  NpyArray* a = array(file, problem);
  if (a == nullptr) return nullptr;
  auto texture = std::make_unique<Texture>();
  texture->kind = static_cast<TextureKind>(type & 255);
  const size_t axes = axes_of(texture->kind);
  if (axes == 0) {
    problem = std::string("textures of kind ") + texture_kind_name(texture->kind) +
              " are not read from files";
    return nullptr;
  }
  if (a->shape.size() != axes && a->shape.size() != axes + 1) {
    problem = "a " + std::string(texture_kind_name(texture->kind)) + " takes an array of " +
              std::to_string(axes) + " axes, or one more for channels, but \"" + file +
              "\" has the shape " + shape_text(*a);
    return nullptr;
  }
  const size_t channels = a->shape.size() == axes ? 1 : a->shape.back();
  texture->format = format_of(a->dtype, channels, type >> 8 & 255);
  if (texture->format == PixelFormat::Invalid) {
    static constexpr const char* kElements[] = {"float", "int", "uint"};
    problem = "there is no format for a texture of " + std::string(kElements[type >> 8 & 255]) +
              " from \"" + file + "\": dtype " + dtype_name(a->dtype) + ", " +
              std::to_string(channels) + " channels (1, 2 or 4 are possible)";
    return nullptr;
  }
  std::array<size_t, 3> extents{1, 1, 1};  // width, height, and the rest
  for (size_t i = 0; i < axes; ++i) extents[i] = a->shape[axes - 1 - i];
  for (size_t extent : extents) {
    if (extent == 0 || extent > 16384) {
      problem = "textures have extents from 1 to 16384, but \"" + file + "\" has the shape " +
                shape_text(*a);
      return nullptr;
    }
  }
  texture->width = static_cast<uint32_t>(extents[0]);
  const bool rows = texture->kind != TextureKind::T1dArray;
  texture->height = rows ? static_cast<uint32_t>(extents[1]) : 1;
  const auto rest = static_cast<uint32_t>(rows ? extents[2] : extents[1]);
  if (texture->kind == TextureKind::T3d) {
    texture->depth = rest;
  } else if (texture->kind == TextureKind::Cube || texture->kind == TextureKind::CubeArray) {
    texture->layers = rest / 6;
    if (rest % 6 != 0) {
      problem = "a cube has 6 faces, but \"" + file + "\" has the shape " + shape_text(*a);
      return nullptr;
    }
  } else {
    texture->layers = rest;
  }
  texture->lay_out(static_cast<uint8_t*>(a->data()), 1);
  textures_.push_back(std::move(texture));
  return textures_.back().get();
}

bool Bindings::bind_sampler(int index, const std::string& words, std::string& problem) {
  if (!has_parameter("--sampler", BindingKind::Sampler, index, problem)) return false;
  SamplerState s;
  for (size_t at = 0; at <= words.size();) {
    const size_t end = std::min(words.find(',', at), words.size());
    const std::string word = words.substr(at, end - at);
    const auto address = [&](uint64_t a) {
      s.bits = (s.bits & ~uint64_t{0x3fe}) | a << 1 | a << 4 | a << 7;
    };
    if (word == "pixel") {
      s.bits |= 1;
    } else if (word == "linear") {
      s.bits |= 3 << 10;
    } else if (word == "clamp_to_zero") {
      address(SamplerState::ClampToZero);
    } else if (word == "repeat") {
      address(SamplerState::Repeat);
    } else if (word == "mirrored_repeat") {
      address(SamplerState::MirroredRepeat);
    } else if (word != "nearest" && word != "normalized" && word != "clamp_to_edge") {
      problem =
          "--sampler " + std::to_string(index) + ": \"" + word + "\" is no word for a sampler";
      return false;
    }
    at = end + 1;
  }
  arguments_.samplers[index] = {s};
  return true;
}

bool Bindings::write_back(std::string& problem) {
  for (const auto& [file, a] : arrays_) {
    if (a->changed() && !write_npy(*a, problem)) return false;
  }
  return true;
}

}  // namespace softmetal
