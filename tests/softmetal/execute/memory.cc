#include "tests/softmetal/execute/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace softmetal {
namespace {
constexpr uint32_t kSeveral = ~0U;         // more than one thread or group
constexpr uint32_t kAtomic = 0x80000000U;  // in a mask: only atomic accesses

// Untouched zero pages take no memory.
void* zero_pages(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return memory;
}
}  // namespace

AccessMarks::AccessMarks(size_t bytes)
    : words_(nullptr), bytes_(nullptr), count_(bytes / 4 + 2), first_(count_) {
  words_ = static_cast<Word*>(zero_pages(count_ * sizeof(Word)));
  bytes_ = static_cast<Mark*>(zero_pages(4 * count_ * sizeof(Mark)));
}

AccessMarks::~AccessMarks() {
  munmap(words_, count_ * sizeof(Word));
  munmap(bytes_, 4 * count_ * sizeof(Mark));
}

// Returns whether a barrier orders an earlier access before an access by `now`.
bool AccessMarks::ordered(const Mark& before, const Accessor& now) {
  if (before.group != now.group) return false;
  if (before.epoch != now.epoch) return true;
  return before.simdgroup == now.simdgroup && before.simd_epoch != now.simd_epoch;
}

bool AccessMarks::conflicts(const Mark& mark, uint32_t mask, Access access, const Accessor& by) {
  if (mark.thread == 0 || mark.thread == by.thread || (mark.mask & mask & 15) == 0) return false;
  if (is_atomic(access) && (mark.mask & kAtomic) != 0) return false;
  return !ordered(mark, by);
}

void AccessMarks::mark_write(Mark& mark, uint32_t mask, Access access, const Accessor& by) {
  const uint32_t flag = is_atomic(access) ? kAtomic : 0;
  const bool same =
      mark.thread == by.thread && mark.epoch == by.epoch && mark.simd_epoch == by.simd_epoch;
  const uint32_t whole = same ? (mark.mask & 15) | mask : mask;
  mark =
      Mark{by.thread,     by.group,
           by.simdgroup,  by.epoch,
           by.simd_epoch, whole | (same && mark.thread != 0 ? flag & mark.mask & kAtomic : flag)};
}

void AccessMarks::mark_read(Mark& mark, uint32_t mask, Access access, const Accessor& by) {
  const uint32_t flag = is_atomic(access) ? kAtomic : 0;
  if (mark.thread == 0 || mark.thread == by.thread || ordered(mark, by)) {
    mark_write(mark, mask, access, by);
    return;
  }
  // No barrier orders readers of several groups before a writer.
  mark.thread = kSeveral;
  mark.mask = ((mark.mask | mask) & 15) | (flag & mark.mask & kAtomic);
  if (mark.group != by.group) mark.group = kSeveral;
  if (mark.simdgroup != by.simdgroup) mark.simdgroup = kSeveral;
  mark.simd_epoch = by.simd_epoch;
}

std::optional<RaceFound> AccessMarks::record_word(size_t index, uint32_t mask, Access access,
                                                  const Accessor& by) {
  first_ = std::min(first_, index);
  end_ = std::max(end_, index + 1);
  Word& word = words_[index];
  Mark* const bytes = bytes_ + 4 * index;
  std::optional<RaceFound> race;
  const auto check = [&](const Mark& mark, bool with_write) {
    if (race || !conflicts(mark, mask, access, by)) return;
    race = RaceFound{with_write, mark.thread == kSeveral ? 0 : mark.thread};
  };
  check(word.write, !is_read(access));
  if (!is_read(access)) {
    check(word.read, false);
    for (int b = 0; b < 4 && has_byte_marks_; ++b) check(bytes[b], false);
  }
  (is_read(access) ? word.was_read : word.written) |= mask;
  if (access == Access::AtomicUpdate) word.was_read |= mask;
  if (!is_read(access)) {
    mark_write(word.write, mask, access, by);
  } else if (mask == 15) {
    mark_read(word.read, mask, access, by);
  } else {
    has_byte_marks_ = true;
    for (int b = 0; b < 4; ++b) {
      if ((mask >> b & 1) != 0) mark_read(bytes[b], 1U << b, access, by);
    }
  }
  return race;
}

std::optional<RaceFound> AccessMarks::record(size_t offset, size_t size, Access access,
                                             const Accessor& by) {
  std::optional<RaceFound> race;
  for (size_t at = offset; at < offset + size;) {
    const size_t word = at / 4, stop = std::min(offset + size, (word + 1) * 4);
    const uint32_t mask = ((1U << (stop - at)) - 1) << (at % 4);
    std::optional<RaceFound> found = record_word(word, mask, access, by);
    if (found && !race) race = found;
    at = stop;
  }
  return race;
}

std::vector<std::pair<size_t, size_t>> AccessMarks::touched(bool written) const {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t i = first_; i < end_; ++i) {
    const unsigned bytes = written ? words_[i].written : words_[i].was_read;
    for (size_t b = 0; b < 4 && bytes != 0; ++b) {
      if ((bytes >> b & 1) == 0) continue;
      const size_t at = 4 * i + b;
      if (!ranges.empty() && ranges.back().second == at)
        ++ranges.back().second;
      else
        ranges.emplace_back(at, at + 1);
    }
  }
  return ranges;
}

void TexelMarks::record(const Texture& texture, const uint8_t* texel, bool writes) {
  const size_t at = (texel - texture.levels[0].data) / format_info(texture.format)->bytes;
  if (at >= marks_.size()) marks_.resize(std::max(2 * marks_.size(), at + 1));
  marks_[at] |= writes ? 2 : 1;
}

std::vector<std::pair<size_t, size_t>> TexelMarks::touched(const Texture& texture,
                                                           bool written) const {
  const size_t bytes = format_info(texture.format)->bytes;
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t i = 0; i < marks_.size(); ++i) {
    if ((marks_[i] & (written ? 2 : 1)) == 0) continue;
    if (!ranges.empty() && ranges.back().second == i * bytes)
      ranges.back().second += bytes;
    else
      ranges.emplace_back(i * bytes, (i + 1) * bytes);
  }
  return ranges;
}

Region& Memory::add(Region region) {
  regions_.push_back(std::make_unique<Region>(std::move(region)));
  return *regions_.back();
}

void Memory::sort() {
  std::sort(regions_.begin(), regions_.end(),
            [](const auto& a, const auto& b) { return a->begin < b->begin; });
  last_ = nullptr;
}

Region* Memory::find(const void* address, size_t size) {
  const char* at = static_cast<const char*>(address);
  const auto contains = [&](const Region& r) {
    return at >= r.begin && at < r.end() && size <= static_cast<size_t>(r.end() - at);
  };
  if (last_ != nullptr && contains(*last_)) return last_;
  auto it = std::upper_bound(regions_.begin(), regions_.end(), at,
                             [](const char* a, const auto& r) { return a < r->begin; });
  while (it != regions_.begin()) {
    --it;
    if (contains(**it)) return last_ = it->get();
  }
  return nullptr;
}

std::string Memory::describe(const void* address) const {
  const char* at = static_cast<const char*>(address);
  if (reinterpret_cast<uintptr_t>(at) < 4096) return "a null pointer";
  const Region* nearest = nullptr;
  size_t distance = SIZE_MAX;
  for (const auto& r : regions_) {
    if (r->kind == RegionKind::Program || r->kind == RegionKind::Runtime) continue;
    const size_t d = at < r->begin ? static_cast<size_t>(r->begin - at)
                                   : (at >= r->end() ? static_cast<size_t>(at - r->end()) : 0);
    if (d < distance) {
      distance = d;
      nearest = r.get();
    }
  }
  if (nearest == nullptr || distance > (size_t{1} << 32)) {
    char text[40];
    std::snprintf(text, sizeof text, "address %p", address);
    return text;
  }
  const long long offset = at - nearest->begin;
  return "byte " + std::to_string(offset) + " of " + nearest->name + ", which has " +
         std::to_string(nearest->size) + " bytes";
}

}  // namespace softmetal
