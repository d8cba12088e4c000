// Recognizes a table of bindings that was submitted before.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"

namespace texloom::hal {

// Remembers the places of the latest table, by the ids of their objects: it keeps no memory alive,
// and does not mistake new memory for memory that was released. Thread safe.
class KnownTable {
 public:
  // The number of the latest table if `table` binds the same places, otherwise 0.
  std::uint64_t find(std::span<const Binding> table) const;
  // Remembers the table instead of the latest one, and gives it a new number.
  std::uint64_t remember(std::span<const Binding> table);

 private:
  struct BoundMemory {
    std::uint64_t object = 0;  // Buffer::id() or Texture::id()
    std::uint64_t offset = 0;  // in the buffer that owns the memory; or the x of a texture's origin
    std::uint64_t second = 0;  // the bytes from the offset on; or the y of the origin
    bool is_texture = false;
    bool is_null = false;  // which is allowed in entries that no command uses

    bool operator==(const BoundMemory&) const = default;
  };
  static BoundMemory place_of(const Binding& entry);

  mutable std::mutex mutex_;
  std::vector<BoundMemory> places_;  // guarded by mutex_, like number_
  std::uint64_t number_ = 0;
};

}  // namespace texloom::hal
