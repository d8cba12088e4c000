#include "runtime/hal/internal/recording/known_table.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "runtime/hal/segment.h"

namespace texloom::hal {

KnownTable::BoundMemory KnownTable::place_of(const Binding& entry) {
  if (const auto* texture = std::get_if<TextureBinding>(&entry)) {
    if (texture->texture == nullptr) return {.is_texture = true, .is_null = true};
    return {.object = texture->texture->id(),
            .offset = texture->origin.x,
            .second = texture->origin.y,
            .is_texture = true};
  }
  const auto& buffer = std::get<BufferBinding>(entry);
  if (buffer.buffer == nullptr) return {.is_null = true};
  const BoundBuffer place = root({buffer.buffer.get(), buffer.offset});
  return {.object = place.buffer->id(), .offset = place.offset, .second = place.bytes};
}

std::uint64_t KnownTable::find(std::span<const Binding> table) const {
  const std::scoped_lock lock(mutex_);
  const auto is_known = [](const BoundMemory& place, const Binding& entry) {
    return (place.object != 0 || place.is_null) && place == place_of(entry);
  };
  return std::equal(places_.begin(), places_.end(), table.begin(), table.end(), is_known) ? number_
                                                                                          : 0;
}

std::uint64_t KnownTable::remember(std::span<const Binding> table) {
  const std::scoped_lock lock(mutex_);
  places_.clear();
  std::transform(table.begin(), table.end(), std::back_inserter(places_), place_of);
  return ++number_;
}

}  // namespace texloom::hal
