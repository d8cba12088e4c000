// Records which threads of a launch accessed an element, as far as a later access may conflict.
//
// Two accesses conflict if at least one is a write and they are made by threads of two blocks, of
// which neither took the last ticket after what the other did, or by two threads of one block
// without a barrier in between. The interpreter runs blocks one after
// another, and threads one after another between barriers. This order hides no conflict, since each
// access is compared with earlier reads and writes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "ir/interpret/report.h"

namespace texloom::ir {

// Blocks that have taken tickets, each with the barriers that it had passed by then.
using Tickets = std::map<std::array<int64_t, 3>, int64_t>;

// The thread that accesses, and the line of the user's program, which the run keeps.
struct Accessor {
  ThreadId id;
  int64_t interval = 0;  // barriers that the block has passed
  // Of a thread that runs the body of a LastBlock: the tickets of its group. What these blocks did
  // before they took them precedes the body. Null for other threads.
  const Tickets* tickets = nullptr;
  const SourceLocation* line = nullptr;
};

struct Conflict {
  Accessor earlier;
  bool earlier_writes = false;
};

// The accesses to the elements of one array, or to the texels of one image.
class AccessHistory {
 public:
  // One of the earlier accesses that this access conflicts with; nullopt if there is none.
  std::optional<Conflict> read(int64_t element, const Accessor& by);
  std::optional<Conflict> write(int64_t element, const Accessor& by);

 private:
  struct Element {
    std::optional<Accessor> writer;
    // Two readers in the latest interval with reads, so that a thread that writes finds a reader
    // other than itself.
    std::optional<Accessor> reader, other_reader;
    std::optional<Accessor> reader_of_earlier_block;
  };
  std::unordered_map<int64_t, Element> elements_;
};

}  // namespace texloom::ir
