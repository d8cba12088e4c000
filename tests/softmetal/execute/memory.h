// Checks of a kernel's memory accesses: bounds, reads of unwritten threadgroup memory, and races.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/softmetal/execute/texture.h"

namespace softmetal {

// The thread that accesses memory, and the number of barriers before the access.
struct Accessor {
  uint32_t thread = 0;      // in the dispatch, counted from 1
  uint32_t group = 0;       // in the dispatch, counted from 1
  uint32_t simdgroup = 0;   // in the group
  uint32_t epoch = 0;       // counts groups, and barriers of the group for this memory
  uint32_t simd_epoch = 0;  // counts the simdgroup's barriers
};

enum class Access { Read, Write, AtomicLoad, AtomicStore, AtomicUpdate };
constexpr bool is_atomic(Access a) { return a != Access::Read && a != Access::Write; }
constexpr bool is_read(Access a) { return a == Access::Read || a == Access::AtomicLoad; }

struct RaceFound {
  bool with_write;  // whether both threads write
  uint32_t other;   // the other thread's number in the dispatch; 0 for several threads
};

// The last accesses to each word of 4 bytes in a region. A mask selects bytes of the word, and
// reads of parts of a word are recorded per byte, so that accesses to different bytes are no race.
// Only the last write to a part of a word is recorded, so some races of bytes are missed.
class AccessMarks {
 public:
  explicit AccessMarks(size_t bytes);
  ~AccessMarks();
  AccessMarks(const AccessMarks&) = delete;
  AccessMarks& operator=(const AccessMarks&) = delete;

  std::optional<RaceFound> record(size_t offset, size_t size, Access access, const Accessor& by);
  // The byte ranges that were read or written, merged.
  std::vector<std::pair<size_t, size_t>> touched(bool written) const;

 private:
  struct Mark {
    uint32_t thread, group, simdgroup, epoch, simd_epoch, mask;
  };
  struct Word {
    Mark write, read;            // `read` has only reads of whole words
    uint16_t written, was_read;  // one bit per byte, for all threads
  };
  static bool ordered(const Mark& before, const Accessor& now);
  static bool conflicts(const Mark& mark, uint32_t mask, Access access, const Accessor& by);
  static void mark_write(Mark& mark, uint32_t mask, Access access, const Accessor& by);
  static void mark_read(Mark& mark, uint32_t mask, Access access, const Accessor& by);
  std::optional<RaceFound> record_word(size_t word, uint32_t mask, Access access,
                                       const Accessor& by);

  Word* words_;
  Mark* bytes_;  // reads of parts of words, by byte
  bool has_byte_marks_ = false;
  size_t count_;
  size_t first_, end_ = 0;  // the range that contains all marked words
};

// The texels that a dispatch reads and writes.
class TexelMarks {
 public:
  void record(const Texture& texture, const uint8_t* texel, bool writes);
  // Returns byte ranges, counted from the first texel.
  std::vector<std::pair<size_t, size_t>> touched(const Texture& texture, bool written) const;

 private:
  std::vector<uint8_t> marks_;  // by texel: 1 read, 2 written
};

enum class RegionKind { Buffer, Resident, Threadgroup, Program, Runtime };

struct Region {
  char* begin = nullptr;
  size_t size = 0;
  RegionKind kind = RegionKind::Buffer;
  bool writable = true;
  std::string name;                    // "buffer 3", for messages
  std::unique_ptr<AccessMarks> marks;  // null if races are not searched in the region
  std::vector<uint8_t> written;        // per byte; only of threadgroup memory
  char* end() const { return begin + size; }
};

class Memory {
 public:
  // Regions may overlap, for example two bindings of one buffer: an access belongs to the first
  // region that contains it.
  Region& add(Region region);
  void sort();
  // The region that contains all of an access, or null.
  Region* find(const void* address, size_t size);
  // Describes an address outside all regions by the nearest region.
  std::string describe(const void* address) const;
  std::vector<std::unique_ptr<Region>>& regions() { return regions_; }

 private:
  std::vector<std::unique_ptr<Region>> regions_;  // by address once sorted
  Region* last_ = nullptr;
};

}  // namespace softmetal
