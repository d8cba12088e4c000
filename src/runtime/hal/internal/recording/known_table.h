// Recognizes a table of bindings that was submitted before.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"

namespace texloom::hal {

// Remembers the places of the latest table, by the ids of their objects: it keeps no memory alive,
// and does not mistake new memory for memory that was released. Tables that differ in buffers alone
// are recognized as alike: each run has new buffers for arrays that a caller lends, and temporaries
// trade places. Thread safe.
class KnownTable {
 public:
  // The number of the latest table if `table` binds the same places, otherwise 0.
  std::uint64_t find(std::span<const Binding> table) const;
  // Remembers the table instead of the latest one, and gives it a new number. `fixed` is the
  // largest id of the objects that commands use beside the table.
  std::uint64_t remember(std::span<const Binding> table, std::uint64_t fixed);
  // As remember(), if every check that the latest table passed holds for this one, too: its buffers
  // are like those of the latest table, equal where those are equal, and none is one that commands
  // use beside the table. Otherwise 0.
  std::uint64_t renew(std::span<const Binding> table);

 private:
  struct BoundMemory {
    std::uint64_t object = 0;  // Buffer::id() or Texture::id()
    std::uint64_t offset = 0;  // in the buffer that owns the memory; or the x of a texture's origin
    std::uint64_t second = 0;  // the bytes from the offset on; or the y of the origin
    bool is_texture = false;
    bool is_null = false;  // which is allowed in entries that no command uses

    bool operator==(const BoundMemory&) const = default;
  };
  // What checks see of a buffer beside its place.
  struct Kind {
    const DeviceInfo* device = nullptr;
    BufferDesc desc = {};
    Access kernels = Access::ReadWrite;
    bool readback = true, update = true;

    bool operator==(const Kind&) const = default;
  };
  static BoundMemory place_of(const Binding& entry);
  static Kind kind_of(const Binding& entry);
  bool is_alike(std::span<const Binding> table, std::span<const BoundMemory> places) const;

  mutable std::mutex mutex_;
  std::vector<BoundMemory> places_;  // guarded by mutex_, like all that follows
  std::vector<Kind> kinds_;
  std::uint64_t number_ = 0;
  std::uint64_t newest_ = 0;  // the largest id that tables and commands have used
};

}  // namespace texloom::hal
