// <metal_atomic>: atomic types in device and threadgroup memory. The threads of a dispatch take
// turns on one thread of the host, but several dispatches may run at a time, so the operations are
// atomic on the host, too. Each operation reports its access, and may yield to other threads.
#pragma once

#include "relational.h"

enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};

extern "C" {
void __sm_atomic(const volatile __generic void* object, uint size, uint writes);
void __sm_fence(uint flags);
}

namespace metal {

using ::memory_order;
using ::memory_order_acq_rel;
using ::memory_order_acquire;
using ::memory_order_relaxed;
using ::memory_order_release;
using ::memory_order_seq_cst;

template <class T>
struct atomic {
  T __value;
};
template <class T>
using _atomic = atomic<T>;  // its name in Apple's header

template <class T>
struct __sm_atomic_bits {
  typedef T type;
};
template <>
struct __sm_atomic_bits<float> {
  typedef uint type;
};
template <>
struct __sm_atomic_bits<bool> {
  typedef uchar type;
};

// Operations for any space. The public operations below take only device and threadgroup memory.
template <class T>
struct __sm_atomic_access {
  typedef typename __sm_atomic_bits<T>::type B;
  static volatile __generic B* bits(volatile __generic atomic<T>* a) {
    return (volatile __generic B*)a;
  }
  static T load(const volatile __generic atomic<T>* a) {
    __sm_atomic(a, sizeof(T), 0);
    return __builtin_bit_cast(T, __atomic_load_n((const volatile __generic B*)a, __ATOMIC_SEQ_CST));
  }
  static void store(volatile __generic atomic<T>* a, T x) {
    __sm_atomic(a, sizeof(T), 1);
    __atomic_store_n(bits(a), __builtin_bit_cast(B, x), __ATOMIC_SEQ_CST);
  }
  static T exchange(volatile __generic atomic<T>* a, T x) {
    __sm_atomic(a, sizeof(T), 2);
    return __builtin_bit_cast(
        T, __atomic_exchange_n(bits(a), __builtin_bit_cast(B, x), __ATOMIC_SEQ_CST));
  }
  static bool compare_exchange(volatile __generic atomic<T>* a, __generic T* expected, T desired) {
    __sm_atomic(a, sizeof(T), 2);
    B old = __builtin_bit_cast(B, *expected);
    bool same = __atomic_compare_exchange_n(bits(a), &old, __builtin_bit_cast(B, desired), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *expected = __builtin_bit_cast(T, old);
    return same;
  }
  // Replaces the value by f(value) and returns the old one.
  template <class F>
  static T update(volatile __generic atomic<T>* a, F f) {
    __sm_atomic(a, sizeof(T), 2);
    B old = __atomic_load_n(bits(a), __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(
        bits(a), &old, __builtin_bit_cast(B, static_cast<T>(f(__builtin_bit_cast(T, old)))), false,
        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return __builtin_bit_cast(T, old);
  }
};

#define SM_ATOMICS_IN(SPACE)                                                                      \
  template <class T>                                                                              \
  inline T atomic_load_explicit(const volatile SPACE atomic<T>* a, memory_order) {                \
    return __sm_atomic_access<T>::load(a);                                                        \
  }                                                                                               \
  template <class T>                                                                              \
  inline void atomic_store_explicit(volatile SPACE atomic<T>* a,                                  \
                                    typename type_identity<T>::type x, memory_order) {            \
    __sm_atomic_access<T>::store(a, x);                                                           \
  }                                                                                               \
  template <class T>                                                                              \
  inline T atomic_exchange_explicit(volatile SPACE atomic<T>* a,                                  \
                                    typename type_identity<T>::type x, memory_order) {            \
    return __sm_atomic_access<T>::exchange(a, x);                                                 \
  }                                                                                               \
  template <class T>                                                                              \
  inline bool atomic_compare_exchange_weak_explicit(                                              \
      volatile SPACE atomic<T>* a, thread typename type_identity<T>::type* expected,              \
      typename type_identity<T>::type desired, memory_order, memory_order) {                      \
    return __sm_atomic_access<T>::compare_exchange(a, expected, desired);                         \
  }                                                                                               \
  SM_ATOMIC_FETCH(SPACE, add, old + x)                                                            \
  SM_ATOMIC_FETCH(SPACE, sub, old - x)                                                            \
  SM_ATOMIC_FETCH(SPACE, and, old& x)                                                             \
  SM_ATOMIC_FETCH(SPACE, or, old | x)                                                             \
  SM_ATOMIC_FETCH(SPACE, xor, old ^ x)                                                            \
  SM_ATOMIC_FETCH(SPACE, min, old < x ? old : x)                                                  \
  SM_ATOMIC_FETCH(SPACE, max, old < x ? x : old)                                                  \
  template <class T>                                                                              \
  inline void atomic_max_explicit(volatile SPACE atomic<T>* a, typename type_identity<T>::type x, \
                                  memory_order order) {                                           \
    atomic_fetch_max_explicit(a, x, order);                                                       \
  }                                                                                               \
  template <class T>                                                                              \
  inline void atomic_min_explicit(volatile SPACE atomic<T>* a, typename type_identity<T>::type x, \
                                  memory_order order) {                                           \
    atomic_fetch_min_explicit(a, x, order);                                                       \
  }
#define SM_ATOMIC_FETCH(SPACE, NAME, NEW)                                                    \
  template <class T>                                                                         \
  inline T atomic_fetch_##NAME##_explicit(volatile SPACE atomic<T>* a,                       \
                                          typename type_identity<T>::type x, memory_order) { \
    return __sm_atomic_access<T>::update(a, [x](T old) { return NEW; });                     \
  }
SM_ATOMICS_IN(device)
SM_ATOMICS_IN(threadgroup)
#undef SM_ATOMICS_IN
#undef SM_ATOMIC_FETCH

typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
typedef atomic<float> atomic_float;

}  // namespace metal
