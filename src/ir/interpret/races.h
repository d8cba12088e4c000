// Which threads of a launch have accessed an element, as far as a later access may conflict.
//
// Two accesses conflict when threads of two blocks make them, or two threads of one block without
// a barrier between, and one of them writes. Threads run one after another between barriers, and
// blocks one after another; since each access is held against earlier reads and writes alike, that
// order hides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ir/interpret/report.h"

namespace texloom::ir {

// Who accesses, and where in the user's program.
struct Accessor {
  ThreadId id;
  int64_t interval = 0;  // barriers that the block has passed
  SourceLocation line;
};

struct Conflict {
  Accessor earlier;
  bool earlier_writes = false;
};

// Of the elements of one memory object; of an image, of its texels.
class AccessHistory {
 public:
  // The earlier access that this one conflicts with, if any. At most one is returned.
  std::optional<Conflict> read(int64_t element, const Accessor& by);
  std::optional<Conflict> write(int64_t element, const Accessor& by);

 private:
  struct Element {
    std::optional<Accessor> writer;
    // Of the latest interval in which it is read: two threads, so that a thread that writes
    // finds another that reads.
    std::optional<Accessor> reader, other_reader;
    std::optional<Accessor> reader_of_earlier_block;
  };
  std::unordered_map<int64_t, Element> elements_;
};

}  // namespace texloom::ir
