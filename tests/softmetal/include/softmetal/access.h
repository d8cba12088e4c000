// Element access for classes in any address space: the result has the object's space.
#pragma once

#include "keywords.h"

namespace metal {
// Restores the space of an object. A method that returns the object loses the space, because clang
// accepts no `device` qualifier on methods.
template <class T>
constexpr device T& __sm_device(__generic T& x) {
  return *(device T*)&x;
}
template <class T>
constexpr const device T& __sm_device(const __generic T& x) {
  return *(const device T*)&x;
}
// For decltype.
template <class T>
T& __sm_object();
template <class T>
constexpr device T* __sm_device(__generic T* x) {
  return (device T*)x;
}
template <class T>
constexpr device T& __sm_device(device T& x) {
  return x;
}
}  // namespace metal

// A temporary fits all overloads. Those for spaces other than `thread` are templates, so that the
// overload for `thread` is preferred.
#define SM_ELEMENT_ACCESS(T, INDEX, ELEMENT)                                        \
  thread T& operator[](INDEX i) __private { return ELEMENT; }                       \
  constexpr const thread T& operator[](INDEX i) const __private { return ELEMENT; } \
  constexpr constant T& operator[](INDEX i) const __global { return ELEMENT; }      \
  template <int = 0>                                                                \
  threadgroup T& operator[](INDEX i) __local {                                      \
    return ELEMENT;                                                                 \
  }                                                                                 \
  template <int = 0>                                                                \
  const threadgroup T& operator[](INDEX i) const __local {                          \
    return ELEMENT;                                                                 \
  }                                                                                 \
  template <int = 0>                                                                \
  device T& operator[](INDEX i) __generic {                                         \
    return *(device T*)&(ELEMENT);                                                  \
  }                                                                                 \
  template <int = 0>                                                                \
  const device T& operator[](INDEX i) const __generic {                             \
    return *(const device T*)&(ELEMENT);                                            \
  }
