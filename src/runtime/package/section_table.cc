#include "runtime/package/section_table.h"

#include <utility>

#include "runtime/hal/types.h"
#include "runtime/package/package_format.h"

namespace texloom::runtime {

Result<SectionTable> SectionTable::create(std::span<const std::byte> content,
                                          std::vector<SectionPlace> places,
                                          std::uint64_t index_offset) {
  std::uint64_t end = sizeof(PackageHeader);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const SectionPlace& place = places[i];
    const auto misplaced = [&](std::string_view why, std::uint64_t bytes) {
      return invalid_argument("section {} of {} ({} bytes at offset {}) {} {}", i, places.size(),
                              place.bytes, place.offset, why, bytes);
    };
    if (place.offset < end)
      return misplaced("overlaps the header or the section before it, which ends at", end);
    if (place.offset % kSectionAlignment != 0)
      return misplaced("does not begin at a multiple of", kSectionAlignment);
    if (!hal::range_fits(place.offset, place.bytes, index_offset))
      return misplaced("extends beyond the sections, which end at", index_offset);
    end = place.offset + place.bytes;
  }
  SectionTable table;
  table.content_ = content;
  table.states_ = std::make_unique<std::atomic<State>[]>(places.size());
  table.is_taken_.resize(places.size(), false);
  table.places_ = std::move(places);
  return table;
}

Result<std::span<const std::byte>> SectionTable::bytes(std::size_t section,
                                                       std::string_view what) const {
  if (section >= places_.size())
    return invalid_argument("{}: section {} is out of range: there are {}", what, section,
                            places_.size());
  const SectionPlace& place = places_[section];
  const auto bytes = content_.subspan(static_cast<std::size_t>(place.offset),
                                      static_cast<std::size_t>(place.bytes));
  // Several threads may compute the checksum at the same time, with the same result.
  State state = states_[section].load(std::memory_order_relaxed);
  if (state == State::Unknown) {
    state = checksum_of(bytes) == place.checksum ? State::Good : State::Damaged;
    states_[section].store(state, std::memory_order_relaxed);
  }
  if (state == State::Good) return bytes;
  return invalid_argument("{} is damaged: its bytes do not have their checksum", what);
}

Result<std::span<const std::byte>> SectionTable::take(std::size_t section, std::string_view what) {
  if (section < is_taken_.size() && is_taken_[section])
    return invalid_argument("{}: section {} is used twice", what, section);
  auto found = bytes(section, what);
  if (found.ok()) is_taken_[section] = true;
  return found;
}

}  // namespace texloom::runtime
