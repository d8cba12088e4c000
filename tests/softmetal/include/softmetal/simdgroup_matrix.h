// <metal_simdgroup_matrix>: 8 x 8 matrices that are distributed over the threads of a simdgroup.
// With 32 threads, each thread has two adjacent elements of a row, in the order of Apple's GPUs;
// with 8 threads, each has a row.
#pragma once

#include "depth.h"

namespace metal {

template <class T, int Columns, int Rows>
struct simdgroup_matrix;

template <class T>
struct __sm_fragment {
  T e[8];
};

// The elements of thread `lane` of `count` threads: `per` adjacent elements from column x of row y.
struct __sm_place {
  uint x, y, per;
  SM_INLINE __sm_place() {
    const uint lane = __sm_lane(0), count = __sm_lane_count(0);
    per = 64 / count;
    if (count == 32) {
      const uint quad = lane / 4;
      y = (quad & 4) + (lane / 2) % 4;
      x = (quad & 2) * 2 + (lane % 2) * 2;
    } else {
      y = lane * per / 8;
      x = lane * per % 8;
    }
  }
};

template <class T>
struct simdgroup_matrix<T, 8, 8> {
  static_assert(is_floating_point<T>::value, "a simdgroup_matrix is of float, half or bfloat");
  typedef vec<T, 2> storage_type;
  __sm_fragment<T> __f;
  simdgroup_matrix() = default;
  // A diagonal matrix.
  explicit simdgroup_matrix(T diagonal) {
    __sm_place at;
    for (uint i = 0; i < at.per; ++i) __f.e[i] = at.x + i == at.y ? diagonal : T(0);
  }
  thread storage_type& thread_elements() __private { return *(thread storage_type*)&__f; }
  const thread storage_type& thread_elements() const __private {
    return *(const thread storage_type*)&__f;
  }
};

// Returns all 64 elements in row order to every thread. All threads of a simdgroup must call this.
template <class T>
SM_INLINE void __sm_whole(simdgroup_matrix<T, 8, 8> m, thread T* whole) {
  const uint count = __sm_lane_count(0), per = 64 / count;
  const __generic __sm_fragment<T>* all =
      (const __generic __sm_fragment<T>*)__sm_gather(&m.__f, sizeof m.__f, 0);
  for (uint lane = 0; lane < count; ++lane) {
    uint x, y;
    if (count == 32) {
      const uint quad = lane / 4;
      y = (quad & 4) + (lane / 2) % 4;
      x = (quad & 2) * 2 + (lane % 2) * 2;
    } else {
      y = lane * per / 8, x = lane * per % 8;
    }
    for (uint i = 0; i < per; ++i) whole[y * 8 + x + i] = all[lane].e[i];
  }
}

template <class T, int C, int R = C>
inline simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, C, R> m;
  for (int i = 0; i < 8; ++i) m.__f.e[i] = value;
  return m;
}

#define SM_MATRIX_LOAD(SPACE)                                                             \
  template <class T>                                                                      \
  SM_INLINE void simdgroup_load(thread simdgroup_matrix<T, 8, 8>& m, const SPACE T* from, \
                                ulong stride = 8, ulong2 origin = ulong2(0),              \
                                bool transposed = false) {                                \
    __sm_place at;                                                                        \
    for (uint i = 0; i < at.per; ++i) {                                                   \
      const ulong x = transposed ? at.y : at.x + i, y = transposed ? at.x + i : at.y;     \
      m.__f.e[i] = from[(origin.__v[1] + y) * stride + origin.__v[0] + x];                \
    }                                                                                     \
  }
#define SM_MATRIX_STORE(SPACE)                                                               \
  template <class T>                                                                         \
  SM_INLINE void simdgroup_store(simdgroup_matrix<T, 8, 8> m, SPACE T* to, ulong stride = 8, \
                                 ulong2 origin = ulong2(0), bool transposed = false) {       \
    __sm_place at;                                                                           \
    for (uint i = 0; i < at.per; ++i) {                                                      \
      const ulong x = transposed ? at.y : at.x + i, y = transposed ? at.x + i : at.y;        \
      to[(origin.__v[1] + y) * stride + origin.__v[0] + x] = m.__f.e[i];                     \
    }                                                                                        \
  }
SM_MATRIX_LOAD(device)
SM_MATRIX_LOAD(threadgroup)
SM_MATRIX_STORE(device)
SM_MATRIX_STORE(threadgroup)
template <class T>
SM_INLINE void simdgroup_load(thread simdgroup_matrix<T, 8, 8>& m, constant T* from,
                              ulong stride = 8, ulong2 origin = ulong2(0)) {
  __sm_place at;
  for (uint i = 0; i < at.per; ++i)
    m.__f.e[i] = from[(origin.__v[1] + at.y) * stride + origin.__v[0] + at.x + i];
}
#undef SM_MATRIX_LOAD
#undef SM_MATRIX_STORE

// d = a b + c, summed in the type of d, in the order of the inner index.
template <class D, class A, class B, class C>
SM_INLINE void simdgroup_multiply_accumulate(thread simdgroup_matrix<D, 8, 8>& d,
                                             simdgroup_matrix<A, 8, 8> a,
                                             simdgroup_matrix<B, 8, 8> b,
                                             simdgroup_matrix<C, 8, 8> c) {
  A left[64];
  B right[64];
  __sm_whole(a, left);
  __sm_whole(b, right);
  __sm_place at;
  for (uint i = 0; i < at.per; ++i) {
    float sum = (float)c.__f.e[i];
    for (uint k = 0; k < 8; ++k)
      sum = fma((float)left[at.y * 8 + k], (float)right[k * 8 + at.x + i], sum);
    d.__f.e[i] = (D)sum;
  }
}
template <class D, class A, class B>
SM_INLINE void simdgroup_multiply(thread simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                  simdgroup_matrix<B, 8, 8> b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)));
}
template <class T>
SM_INLINE simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a,
                                              simdgroup_matrix<T, 8, 8> b) {
  simdgroup_matrix<T, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}

typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

}  // namespace metal
