// Intrusive reference counting for immutable graph nodes.
//
// Nodes derive from RefCounted and are held by Ref<T>. Counts are atomic, so handles may be shared
// between threads. Destruction is not recursive: a node whose count drops to zero goes on a
// thread-local list, which the outermost release empties. A chain of a million nodes is thus freed
// with constant stack and without allocating.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "support/node_pool.h"

namespace texloom {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  static void* operator new(size_t bytes) { return node_pool::allocate(bytes); }
  static void operator delete(void* memory, size_t bytes) noexcept {
    node_pool::release(memory, bytes);
  }

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy_later(this);
  }

 protected:
  virtual ~RefCounted() = default;

 private:
  static void destroy_later(const RefCounted* object) noexcept;

  // The number of handles; in a dead object that waits for its destruction, the address of the next
  // such object.
  mutable std::atomic<intptr_t> count_{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): a null handle
  explicit Ref(const T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<const U*, const T*>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT(google-explicit-constructor)
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }

  const T* get() const { return object_; }
  const T& operator*() const { return *object_; }
  const T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool same_as(const Ref& other) const { return object_ == other.object_; }

 private:
  const T* object_ = nullptr;
};

// Compares handles by identity, for the keys of maps.
struct RefHash {
  template <class T>
  size_t operator()(const Ref<T>& ref) const {
    return std::hash<const void*>()(ref.get());
  }
};
struct RefSame {
  template <class T>
  bool operator()(const Ref<T>& a, const Ref<T>& b) const {
    return a.same_as(b);
  }
};

}  // namespace texloom
