#include "runtime/hal/internal/recording/known_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
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

KnownTable::Kind KnownTable::kind_of(const Binding& entry) {
  const auto* buffer = std::get_if<BufferBinding>(&entry);
  if (buffer == nullptr || buffer->buffer == nullptr) return {};
  const Buffer& bound = *buffer->buffer;
  const NativeUses& uses = bound.native_uses();
  return {&bound.device_info(), bound.desc(), uses.kernels, uses.readback, uses.update};
}

bool KnownTable::is_alike(std::span<const Binding> table,
                          std::span<const BoundMemory> places) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;  // of objects, before and now
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BoundMemory &before = places_[i], &now = places[i];
    if (before.is_texture || now.is_texture || before.is_null != now.is_null) return false;
    if (now.is_null) continue;
    if (before.object == 0 || now.object == 0 || before.offset != now.offset ||
        before.second != now.second || !(kinds_[i] == kind_of(table[i])))
      return false;
    pairs.emplace_back(before.object, now.object);
  }
  std::ranges::sort(pairs);
  const auto repeated = std::ranges::unique(pairs);
  pairs.erase(repeated.begin(), repeated.end());
  std::vector<std::uint64_t> objects;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [before, now] = pairs[i];
    if (i != 0 && pairs[i - 1].first == before) return false;  // one object became two
    // An object is new, or was in the table: commands use no other object that is this one.
    const bool was_in_table =
        std::ranges::binary_search(pairs, now, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
    if (now <= newest_ && !was_in_table) return false;
    objects.push_back(now);
  }
  std::ranges::sort(objects);
  return std::ranges::adjacent_find(objects) == objects.end();
}

std::uint64_t KnownTable::remember(std::span<const Binding> table, std::uint64_t fixed) {
  const std::scoped_lock lock(mutex_);
  places_.clear();
  kinds_.clear();
  newest_ = std::max(newest_, fixed);
  for (const Binding& entry : table) {
    places_.push_back(place_of(entry));
    kinds_.push_back(kind_of(entry));
    newest_ = std::max(newest_, places_.back().object);
  }
  return ++number_;
}

std::uint64_t KnownTable::renew(std::span<const Binding> table) {
  const std::scoped_lock lock(mutex_);
  if (number_ == 0 || table.size() != places_.size()) return 0;
  std::vector<BoundMemory> places;
  std::ranges::transform(table, std::back_inserter(places), place_of);
  if (!is_alike(table, places)) return 0;
  for (const BoundMemory& each : places) newest_ = std::max(newest_, each.object);
  places_ = std::move(places);
  return ++number_;
}

}  // namespace texloom::hal
