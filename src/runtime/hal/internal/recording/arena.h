// Allocates many small objects that are freed together.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace texloom::hal {

// Recycles the blocks of destroyed arenas: their memory is likely cached, and the process's
// allocator, which a driver's threads use concurrently, is called less often. Keeps at most 1 MiB.
// Thread safe.
class ArenaBlocks {
 public:
  using Block = std::unique_ptr<std::byte[]>;
  static constexpr std::size_t kBytes = 1 << 13;  // the size of a block

  Block take();  // null if the host has no memory
  void give_back(std::vector<Block> blocks);

 private:
  std::mutex mutex_;
  std::vector<Block> kept_;  // under mutex_
};

// Allocates consecutively from blocks that live as long as the arena. Does not call destructors.
// Used by one thread at a time.
class Arena {
 public:
  explicit Arena(std::shared_ptr<ArenaBlocks> shared) : shared_(std::move(shared)) {}
  ~Arena() { shared_->give_back(std::move(blocks_)); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns `bytes` (at least 1) uninitialized bytes, or null if the host has no memory.
  // `alignment` is a power of two of at most alignof(std::max_align_t).
  void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t begin = (used_ + alignment - 1) & ~(alignment - 1);
    if (begin > size_ || bytes > size_ - begin) return allocate_in_new_block(bytes);
    used_ = begin + bytes;
    return block_ + begin;
  }

  // For objects whose size the caller does not choose. If there is no memory, the process ends, as
  // support/status.h says.
  template <typename T, typename... Args>
    requires std::is_trivially_destructible_v<T>
  T* make(Args&&... args) {
    return new (must_allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  // Allocates uninitialized values.
  template <typename T>
    requires std::is_trivially_destructible_v<T>
  std::span<T> make_array(std::size_t count) {
    if (count == 0) return {};
    T* first = static_cast<T*>(must_allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_default_construct_n(first, count);
    return {first, count};
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::span<const T> copy(std::span<const T> values) {
    if (values.empty()) return {};
    void* first = must_allocate(values.size_bytes(), alignof(T));
    std::memcpy(first, values.data(), values.size_bytes());
    return {static_cast<const T*>(first), values.size()};
  }

 private:
  void* allocate_in_new_block(std::size_t bytes);
  void* must_allocate(std::size_t bytes, std::size_t alignment) {
    void* place = allocate(bytes, alignment);
    if (place == nullptr) std::terminate();
    return place;
  }

  std::byte* block_ = nullptr;  // the latest block that is shared by several objects
  std::size_t size_ = 0, used_ = 0;
  std::shared_ptr<ArenaBlocks> shared_;
  std::vector<ArenaBlocks::Block> blocks_;  // returned to ArenaBlocks
  std::vector<ArenaBlocks::Block> own_;     // blocks of other sizes; freed, not recycled
};

}  // namespace texloom::hal
