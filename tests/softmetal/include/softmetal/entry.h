// Templates for entry points, used by the code that the token pass appends. They check the types
// of a kernel's parameters against the attributes, describe the parameters, and call the kernel.
#pragma once

#include "depth.h"
#include "packed.h"

// Describes a parameter, or a member of an argument buffer, for the reflection. abi.h declares the
// host's counterpart.
struct __sm_description {
  ulong size;       // of the pointee of a pointer or reference, else of the value
  ulong alignment;  // of the pointee or value, like `size`
  uint space;       // 0 a value, 1 device, 2 constant, 3 threadgroup
  uint writable;    // whether the program may write through it
  uint type;        // of a texture: kind, element and access; else 0
  uint category;    // 0 data, 1 texture, 2 sampler, 3 pointer
  uint count;       // elements of an array of textures, samplers or pointers; else 1
  ulong offset;     // of a member
};

namespace metal {

template <class T>
struct __sm_space {
  static constexpr uint value() { return 0; }
  typedef T type;
};
#define SM_SPACE(SPACE, NUMBER)                      \
  template <class T>                                 \
  struct __sm_space<SPACE T> {                       \
    static constexpr uint value() { return NUMBER; } \
    typedef T type;                                  \
  };
SM_SPACE(device, 1)
SM_SPACE(__global, 2)
SM_SPACE(__local, 3)
#undef SM_SPACE

template <class T>
struct __sm_is_const : false_type {};
template <class T>
struct __sm_is_const<const T> : true_type {};

template <class T, class = void>
struct __sm_size {
  static constexpr ulong size() { return sizeof(T); }
  static constexpr ulong alignment() { return alignof(T); }
};
template <>
struct __sm_size<void> {
  static constexpr ulong size() { return 1; }
  static constexpr ulong alignment() { return 1; }
};

// The parts of a parameter's type.
template <class P>
struct __sm_param {
  static constexpr bool pointer() { return false; }
  typedef typename __sm_unqualified<P>::type pointee;
  static constexpr uint space() { return 0; }
  static constexpr bool writable() { return false; }
};
template <class P>
struct __sm_param_of_pointer {
  static constexpr bool pointer() { return true; }
  typedef typename __sm_unqualified<P>::type pointee;
  static constexpr uint space() { return __sm_space<P>::value(); }
  static constexpr bool writable() { return !__is_const(P); }
};
template <class P>
struct __sm_param<P*> : __sm_param_of_pointer<P> {};
template <class P>
struct __sm_param<P* const> : __sm_param_of_pointer<P> {};
template <class P>
struct __sm_param<P* __restrict> : __sm_param_of_pointer<P> {};
template <class P>
struct __sm_param<P* const __restrict> : __sm_param_of_pointer<P> {};
template <class P>
struct __sm_param<P&> : __sm_param_of_pointer<P> {};

// Arrays of resources.
template <class T>
struct __sm_resource {
  typedef T type;
  static constexpr uint count() { return 1; }
};
template <class T, size_t N>
struct __sm_resource<array<T, N>> {
  typedef T type;
  static constexpr uint count() { return N; }
};
template <class T, size_t N>
struct __sm_resource<T[N]> {
  typedef T type;
  static constexpr uint count() { return N; }
};

template <class T>
constexpr uint __sm_category() {
  typedef typename __sm_unqualified<T>::type U;
  return __sm_texture_traits<U>::value
             ? 1
             : (is_same<U, sampler>::value ? 2 : (is_pointer<U>::value ? 3 : 0));
}
template <class T>
constexpr uint __sm_texture_type() {
  if constexpr (__sm_texture_traits<T>::value) {
    return __sm_texture_traits<T>::type();
  } else {
    return 0;
  }
}

template <class P>
constexpr __sm_description __sm_describe(ulong offset = 0) {
  typedef __sm_param<P> Q;
  typedef typename Q::pointee D;
  typedef typename __sm_unqualified<typename __sm_resource<D>::type>::type R;
  if constexpr (Q::pointer()) {
    return __sm_description{__sm_size<D>::size(),
                            __sm_size<D>::alignment(),
                            Q::space(),
                            Q::writable(),
                            0,
                            3,
                            1,
                            offset};
  } else if constexpr (__sm_category<R>() == 3) {
    typedef __sm_param<R> E;
    return __sm_description{__sm_size<typename E::pointee>::size(),
                            __sm_size<typename E::pointee>::alignment(),
                            E::space(),
                            E::writable(),
                            0,
                            3,
                            __sm_resource<D>::count(),
                            offset};
  } else if constexpr (__sm_category<R>() != 0) {
    return __sm_description{sizeof(D),
                            alignof(D),
                            0,
                            0,
                            __sm_texture_type<R>(),
                            __sm_category<R>(),
                            __sm_resource<D>::count(),
                            offset};
  } else {
    return __sm_description{sizeof(D), alignof(D), 0, 0, 0, 0, 1, offset};
  }
}

template <uint I, class... P>
struct __sm_nth;
template <class First, class... Rest>
struct __sm_nth<0, First, Rest...> {
  typedef First type;
};
template <uint I, class First, class... Rest>
struct __sm_nth<I, First, Rest...> : __sm_nth<I - 1, Rest...> {};
template <uint I, class F>
struct __sm_parameter;
template <uint I, class R, class... P>
struct __sm_parameter<I, R(P...)> : __sm_nth<I, P...> {};
template <class F>
struct __sm_result;
template <class R, class... P>
struct __sm_result<R(P...)> {
  typedef R type;
};

// Checks of types, one for each kind of attribute; a message has the attribute's line.
template <class P>
constexpr bool __sm_is_buffer() {
  return __sm_param<P>::pointer() && (__sm_param<P>::space() == 1 || __sm_param<P>::space() == 2);
}
template <class P>
constexpr bool __sm_is_threadgroup() {
  return __sm_param<P>::pointer() && __sm_param<P>::space() == 3;
}
template <class P>
constexpr bool __sm_is_resource(uint category) {
  typedef
      typename __sm_unqualified<typename __sm_resource<typename __sm_param<P>::pointee>::type>::type
          R;
  return !__sm_param<P>::pointer() && __sm_category<R>() == category;
}
// Positions and sizes are uint, uint2, uint3 or their 16-bit forms; indices are uint or ushort.
template <class P>
constexpr bool __sm_is_position() {
  typedef typename __sm_unqualified<P>::type U;
  return is_same<U, uint>::value || is_same<U, uint2>::value || is_same<U, uint3>::value ||
         is_same<U, ushort>::value || is_same<U, ushort2>::value || is_same<U, ushort3>::value;
}
template <class P>
constexpr bool __sm_is_index() {
  typedef typename __sm_unqualified<P>::type U;
  return is_same<U, uint>::value || is_same<U, ushort>::value;
}
constexpr bool __sm_same_width(int a, int b) { return a == b; }

// The value of a parameter: the address for a pointer or reference, the address of a copy for a
// resource or data by value, and three numbers for a builtin.
template <class P>
struct __sm_value_of {
  static P get(ulong value) {
    typename __sm_unqualified<P>::type copy;
    __builtin_memcpy(&copy, (const __generic void*)value, sizeof copy);
    return copy;
  }
};
template <class P>
struct __sm_value_of<P*> {
  static P* get(ulong value) { return (P*)value; }
};
template <class P>
struct __sm_value_of<P&> {
  static P& get(ulong value) { return *(P*)value; }
};
template <class P>
struct __sm_builtin_of {
  static P get(const __generic uint* v) { return (P)v[0]; }
};
template <class T>
struct __sm_builtin_of<__sm_vec<T[2]>> {
  static vec<T, 2> get(const __generic uint* v) { return vec<T, 2>((T)v[0], (T)v[1]); }
};
template <class T>
struct __sm_builtin_of<__sm_vec<T[3]>> {
  static vec<T, 3> get(const __generic uint* v) { return vec<T, 3>((T)v[0], (T)v[1], (T)v[2]); }
};

// A threadgroup variable of a kernel: all threads of a group get the same storage. A section of the
// module also lists the size, for queries before the kernel runs (SmThreadgroupVariable). The
// result is a pointer: clang assumes that references can always be read, and would move reads to
// before a condition, and so before a barrier.
extern "C" __generic void* __sm_threadgroup_variable(uint id, ulong size, ulong alignment);
template <class T, uint Id, ulong Alignment, uint Flag>
inline threadgroup T* __sm_listed_threadgroup() {
  constexpr ulong alignment = Alignment == 0 ? alignof(T) : Alignment;
  __asm__ volatile(
      ".pushsection sm_threadgroup,\"a\",@progbits\n\t.balign 8\n\t.quad %c0, %c1, %c2\n\t"
      ".popsection"
      :
      : "i"((ulong)Id), "i"((ulong)sizeof(T)), "i"(alignment));
  return (threadgroup T*)(ulong)__sm_threadgroup_variable(Id | Flag, sizeof(T), alignment);
}
template <class T, uint Id, ulong Alignment = 0>
inline threadgroup T* __sm_threadgroup() {
  return __sm_listed_threadgroup<T, Id, Alignment, 0>();
}
// A threadgroup variable that is zero before the first thread reaches its declaration.
template <class T, uint Id, ulong Alignment = 0>
inline threadgroup T* __sm_zero_threadgroup() {
  return __sm_listed_threadgroup<T, Id, Alignment, 1u << 31>();
}

// Tells the optimizer that x is true.
inline void assume(bool x) { __builtin_assume(x); }
}  // namespace metal
