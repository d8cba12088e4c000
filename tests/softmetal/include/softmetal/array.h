// array<T, N> and array_ref<T>.
#pragma once

#include "access.h"
#include "traits.h"

namespace metal {
using std::initializer_list;

template <class T, size_t N>
struct array {
  typedef T value_type;
  T __e[N == 0 ? 1 : N];
  SM_ELEMENT_ACCESS(T, size_t, __e[i])
  static constexpr size_t size() { return N; }
  static constexpr bool empty() { return N == 0; }
};

// A view of consecutive elements, usually of textures in a kernel's arguments.
template <class T>
struct array_ref {
  typedef T value_type;
  const __generic T* __data;
  size_t __size;
  array_ref() = default;
  constexpr array_ref(const __generic T* data, size_t count) : __data(data), __size(count) {}
  template <size_t N>
  array_ref(const __generic array<T, N>& a) : __data((const __generic T*)&a), __size(N) {}
  template <size_t N>
  array_ref(const __generic T (&a)[N]) : __data(a), __size(N) {}
  const __generic T& operator[](size_t i) const { return __data[i]; }
  constexpr size_t size() const { return __size; }
  constexpr bool empty() const { return __size == 0; }
};

}  // namespace metal
