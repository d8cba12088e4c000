#include "tests/fuzz/package/mutator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "runtime/hal/types.h"
#include "runtime/package/index_reader.h"
#include "runtime/package/package_format.h"

namespace texloom::fuzz {
namespace {

using runtime::PackageHeader;
using runtime::SectionPlace;

// The struct has the layout of a section in the index (package.fbs).
static_assert(sizeof(SectionPlace) == 3 * sizeof(std::uint64_t));

std::optional<PackageHeader> header_of(const Bytes& file) {
  PackageHeader header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

std::span<std::byte> index_of(Bytes& file) {
  const auto header = header_of(file);
  if (!header || header->index_offset > file.size()) return {};
  return std::span(file).subspan(static_cast<std::size_t>(header->index_offset));
}

// The index's list of sections; empty if the bytes are no index, or if it has no sections.
std::span<std::byte> section_list(std::span<std::byte> index) {
  if (reinterpret_cast<std::uintptr_t>(index.data()) % 8 != 0) return {};
  const auto places = runtime::read_sections(index);
  if (!places.ok() || places->empty()) return {};
  const auto first = std::as_bytes(std::span(*places).first(1));
  const auto found = std::search(index.begin(), index.end(), first.begin(), first.end());
  const auto at = static_cast<std::size_t>(found - index.begin());
  const std::size_t size = places->size() * sizeof(SectionPlace);
  return hal::range_fits(at, size, index.size()) ? index.subspan(at, size) : std::span<std::byte>();
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

void repair(Bytes& file) {
  const std::span<std::byte> index = index_of(file);
  const std::span<std::byte> list = section_list(index);
  for (std::size_t at = 0; at < list.size(); at += sizeof(SectionPlace)) {
    auto place = load<SectionPlace>(list.data() + at);
    if (!hal::range_fits(place.offset, place.bytes, file.size())) continue;
    place.checksum = runtime::checksum_of(std::span(file).subspan(
        static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.bytes)));
    std::memcpy(list.data() + at, &place, sizeof place);
  }
  auto header = header_of(file);
  if (!header) return;
  header->magic = runtime::kPackageMagic;
  header->version = runtime::kFormatVersion;
  header->file_bytes = file.size();
  header->index_bytes = index.size();
  header->index_checksum = runtime::checksum_of(index);
  header->reserved = {};
  std::memcpy(file.data(), &*header, sizeof *header);
}

Bytes PackageMutator::changed() {
  Bytes file = random_.pick(files_);
  for (std::uint64_t left = random_.chance(60) ? 1 : random_.between(2, 4); left > 0; --left)
    change(file);
  if (random_.chance(50)) repair(file);
  return file;
}

void PackageMutator::change(Bytes& file) {
  if (file.empty()) return;
  switch (random_.below(16)) {
    case 0:
    case 1:
    case 2:
      return flip_bits(file);
    case 3:
      return change_length(file);
    case 4:
      return exchange_sections(file);
    case 5:
    case 6:
      return copy_part(file);
    default:
      return overwrite_integer(file);
  }
}

std::size_t PackageMutator::position(const Bytes& file, std::size_t alignment) {
  const auto header = header_of(file);
  const bool in_index = header && header->index_offset < file.size() && random_.chance(85);
  const std::size_t begin = in_index ? static_cast<std::size_t>(header->index_offset) : 0;
  return begin + random_.below(file.size() - begin) / alignment * alignment;
}

void PackageMutator::flip_bits(Bytes& file) {
  for (std::uint64_t left = random_.chance(60) ? 1 : random_.between(2, 8); left > 0; --left)
    file[position(file, 1)] ^= static_cast<std::byte>(1U << random_.below(8));
}

void PackageMutator::change_length(Bytes& file) {
  if (random_.chance(70)) {
    file.resize(random_.below(file.size()));
  } else {
    file.resize(file.size() + random_.between(1, 200), std::byte{0x41});
  }
}

void PackageMutator::overwrite_integer(Bytes& file) {
  constexpr std::array<std::size_t, 4> kSizes = {1, 2, 4, 8};
  const std::size_t size = random_.pick(kSizes);
  const std::size_t at = position(file, size);
  if (!hal::range_fits(at, size, file.size())) return;
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, size);
  switch (random_.below(4)) {
    case 0:
      value += random_.between(0, 8) - 4;
      break;
    case 1:
      value = random_.below(40);
      break;
    case 2:
      value = random_.edge();
      break;
    default:
      // Offsets in the index are relative to their own position.
      value = random_.below(file.size());
  }
  std::memcpy(file.data() + at, &value, size);
}

void PackageMutator::exchange_sections(Bytes& file) {
  const std::span<std::byte> list = section_list(index_of(file));
  if (list.empty()) return;
  const std::size_t count = list.size() / sizeof(SectionPlace);
  const std::size_t a = random_.below(count) * sizeof(SectionPlace),
                    b = random_.below(count) * sizeof(SectionPlace);
  std::swap_ranges(list.begin() + static_cast<std::ptrdiff_t>(a),
                   list.begin() + static_cast<std::ptrdiff_t>(a + sizeof(SectionPlace)),
                   list.begin() + static_cast<std::ptrdiff_t>(b));
}

void PackageMutator::copy_part(Bytes& file) {
  const std::size_t from = position(file, 4), to = position(file, 4);
  const std::size_t size =
      std::min<std::size_t>(random_.between(1, 16) * 4, file.size() - std::max(from, to));
  std::memmove(file.data() + to, file.data() + from, size);
}

}  // namespace texloom::fuzz
