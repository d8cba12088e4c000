// Element access of classes that may be in any space: the result has the space of the object.
#pragma once

#include "keywords.h"

namespace metal {
// An object whose space the language has lost, because the method that returns it had no qualifier
// of that space: `device` is not one that clang takes for methods.
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

// A temporary fits them all: those of other spaces than the thread's are templates, which come
// second.
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
