// <simd/simd.h>: names of types that shaders and their hosts share.
#pragma once

#include "packed.h"

#define SM_SIMD_NAMES(T, NAME)               \
  typedef T simd_##NAME##1;                  \
  typedef metal::vec<T, 2> simd_##NAME##2;   \
  typedef metal::vec<T, 3> simd_##NAME##3;   \
  typedef metal::vec<T, 4> simd_##NAME##4;   \
  typedef metal::vec<T, 2> vector_##NAME##2; \
  typedef metal::vec<T, 3> vector_##NAME##3; \
  typedef metal::vec<T, 4> vector_##NAME##4; \
  namespace simd {                           \
  typedef metal::vec<T, 2> NAME##2;          \
  typedef metal::vec<T, 3> NAME##3;          \
  typedef metal::vec<T, 4> NAME##4;          \
  }
SM_SIMD_NAMES(char, char)
SM_SIMD_NAMES(uchar, uchar)
SM_SIMD_NAMES(short, short)
SM_SIMD_NAMES(ushort, ushort)
SM_SIMD_NAMES(int, int)
SM_SIMD_NAMES(uint, uint)
SM_SIMD_NAMES(long, long)
SM_SIMD_NAMES(ulong, ulong)
SM_SIMD_NAMES(half, half)
SM_SIMD_NAMES(float, float)
#undef SM_SIMD_NAMES

#define SM_SIMD_MATRIX(C, R)                           \
  typedef metal::float##C##x##R simd_float##C##x##R;   \
  typedef metal::float##C##x##R matrix_float##C##x##R; \
  namespace simd {                                     \
  typedef metal::float##C##x##R float##C##x##R;        \
  }
SM_SIMD_MATRIX(2, 2)
SM_SIMD_MATRIX(2, 3)
SM_SIMD_MATRIX(2, 4)
SM_SIMD_MATRIX(3, 2)
SM_SIMD_MATRIX(3, 3)
SM_SIMD_MATRIX(3, 4)
SM_SIMD_MATRIX(4, 2)
SM_SIMD_MATRIX(4, 3)
SM_SIMD_MATRIX(4, 4)
#undef SM_SIMD_MATRIX
