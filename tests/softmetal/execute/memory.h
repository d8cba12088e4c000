// The memory that a kernel may use, and what its threads did to it: bounds, threadgroup memory that
// nobody has written, and races.
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

// Who accesses memory, and after which barriers.
struct Accessor {
  uint32_t thread = 0;     // in the dispatch, counted from 1
  uint32_t group = 0;      // likewise
  uint32_t simdgroup = 0;  // in the group
  uint32_t epoch = 0;  // grows with each barrier of the group for this memory, and with each group
  uint32_t simd_epoch = 0;  // grows with each barrier of the simdgroup
};

enum class Access { Read, Write, AtomicLoad, AtomicStore, AtomicUpdate };
constexpr bool is_atomic(Access a) { return a != Access::Read && a != Access::Write; }
constexpr bool is_read(Access a) { return a == Access::Read || a == Access::AtomicLoad; }

struct RaceFound {
  bool with_write;  // both write, or one of them read
  uint32_t other;   // the other thread in the dispatch, or 0 if there were several
};

// The last accesses to each word of a region. Words are of 4 bytes; a mask tells their bytes apart,
// and reads of a part of a word have marks by byte, so that neighbors in one word are no race. Of
// writes to parts of a word only the last is known, so that some races of bytes are missed.
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
    Mark write, read;            // the latter of whole words
    uint16_t written, was_read;  // a bit for each byte, by any thread
  };
  static bool ordered(const Mark& before, const Accessor& now);
  static bool conflicts(const Mark& mark, uint32_t mask, Access access, const Accessor& by);
  static void mark_write(Mark& mark, uint32_t mask, Access access, const Accessor& by);
  static void mark_read(Mark& mark, uint32_t mask, Access access, const Accessor& by);
  std::optional<RaceFound> record_word(size_t word, uint32_t mask, Access access,
                                       const Accessor& by);

  Word* words_;
  Mark* bytes_;  // of reads of parts of words
  bool has_byte_marks_ = false;
  size_t count_;
  size_t first_, end_ = 0;  // all words with marks are from the first to before the end
};

// The texels that a dispatch reads and writes.
class TexelMarks {
 public:
  void record(const Texture& texture, const uint8_t* texel, bool writes);
  // Ranges of bytes from the first texel on.
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
  std::unique_ptr<AccessMarks> marks;  // if races are looked for here
  std::vector<uint8_t> written;        // per byte, of threadgroup memory
  char* end() const { return begin + size; }
};

class Memory {
 public:
  // Regions may overlap, as two bindings of one buffer do: the first one that contains an access
  // counts.
  Region& add(Region region);
  void sort();
  // The region that contains all of an access, or null.
  Region* find(const void* address, size_t size);
  // What is near an address outside of all regions, in words.
  std::string describe(const void* address) const;
  std::vector<std::unique_ptr<Region>>& regions() { return regions_; }

 private:
  std::vector<std::unique_ptr<Region>> regions_;  // by address once sorted
  Region* last_ = nullptr;
};

}  // namespace softmetal
