#include "runtime/plan/plan.h"

#include <algorithm>

namespace texloom::runtime {

std::string describe(const TensorStorage& storage) {
  if (const auto* texture = std::get_if<TextureStorage>(&storage))
    return fmt::format("a texture {} of {}{}", hal::to_string(texture->format),
                       texture->exact_extent ? "exactly " : "", hal::to_string(texture->extent));
  const auto& buffer = std::get<BufferStorage>(storage);
  return fmt::format("{} of {} bytes", buffer.counters ? "counters" : "a buffer", buffer.bytes);
}

std::uint64_t bytes_of(const TensorStorage& storage) {
  if (const auto* buffer = std::get_if<BufferStorage>(&storage)) return buffer->bytes;
  const auto& texture = std::get<TextureStorage>(storage);
  return hal::byte_size(texture.extent, texture.format);
}

bool places_meet(const TensorStorage& a, const Placement& at_a, const TensorStorage& b,
                 const Placement& at_b) {
  if (at_a.object != at_b.object) return false;
  if (const auto* texture = std::get_if<TextureStorage>(&a))
    return hal::regions_meet(at_a.origin, texture->extent, at_b.origin,
                             std::get<TextureStorage>(b).extent);
  return at_a.offset < at_b.offset + std::get<BufferStorage>(b).bytes &&
         at_b.offset < at_a.offset + std::get<BufferStorage>(a).bytes;
}

Placement place_in(const Placement& whole, const PartOfTemporary& part) {
  return {whole.object,
          whole.offset + part.offset,
          {whole.origin.x + part.origin.x, whole.origin.y + part.origin.y}};
}

std::string_view to_string(TensorRef::Kind kind) {
  switch (kind) {
    case TensorRef::Kind::Argument:
      return "argument";
    case TensorRef::Kind::Temporary:
      return "temporary";
    default:
      return "constant";
  }
}

std::string_view to_string(Encoding encoding) {
  switch (encoding) {
    case Encoding::Kernels:
      return "kernels";
    case Encoding::Native:
      return "native";
    default:
      return "host";
  }
}

const std::vector<TensorSpec>& tensors_of(const LaunchPlan& plan, TensorRef::Kind kind) {
  switch (kind) {
    case TensorRef::Kind::Argument:
      return plan.arguments;
    case TensorRef::Kind::Temporary:
      return plan.temporaries;
    default:
      return plan.constants;
  }
}

const PartOfTemporary* part_at(const LaunchPlan& plan, std::uint32_t temporary) {
  const auto found = std::lower_bound(
      plan.parts.begin(), plan.parts.end(), temporary,
      [](const PartOfTemporary& part, std::uint32_t number) { return part.temporary < number; });
  return found == plan.parts.end() || found->temporary != temporary ? nullptr : &*found;
}

std::uint32_t memory_of(const LaunchPlan& plan, std::uint32_t temporary) {
  const PartOfTemporary* part = part_at(plan, temporary);
  return part == nullptr ? temporary : part->whole;
}

}  // namespace texloom::runtime
