// Matrices, stored as columns.
#pragma once

#include "access.h"
#include "vector.h"

namespace metal {

#define SM_COLUMNS(N) static_assert(C == (N), "a matrix is made of all its columns")
template <class T, int C, int R>
struct matrix {
  typedef T element_type;
  vec<T, R> columns[C];

  matrix() = default;
  constexpr explicit matrix(T diagonal) : matrix(diagonal, make_index_sequence<C>()) {}
  // Constructs a matrix from all elements in column order, or from columns.
  template <class... V, class = enable_if_t<sizeof...(V) + 2 == C * R>>
  constexpr matrix(T first, T second, V... rest)
      : matrix(__elements{{first, second, T(rest)...}}, make_index_sequence<C>()) {}
  // Constructs a matrix from columns, which may be braced lists.
  constexpr matrix(vec<T, R> a, vec<T, R> b) : columns{a, b} { SM_COLUMNS(2); }
  constexpr matrix(vec<T, R> a, vec<T, R> b, vec<T, R> c) : columns{a, b, c} { SM_COLUMNS(3); }
  constexpr matrix(vec<T, R> a, vec<T, R> b, vec<T, R> c, vec<T, R> d) : columns{a, b, c, d} {
    SM_COLUMNS(4);
  }
  template <class U, class = enable_if_t<!is_same<U, T>::value>>
  constexpr explicit matrix(matrix<U, C, R> other) : columns{} {
    for (int c = 0; c < C; ++c) columns[c] = vec<T, R>(other.columns[c]);
  }
  typedef vec<T, R> __column;
  SM_ELEMENT_ACCESS(__column, size_t, columns[i])

  __generic matrix& operator+=(matrix b) {
    for (int c = 0; c < C; ++c) columns[c] += b.columns[c];
    return *this;
  }
  __generic matrix& operator-=(matrix b) {
    for (int c = 0; c < C; ++c) columns[c] -= b.columns[c];
    return *this;
  }
  __generic matrix& operator*=(T b) {
    for (int c = 0; c < C; ++c) columns[c] *= b;
    return *this;
  }
  __generic matrix& operator*=(matrix<T, C, C> b) { return *this = *this * b; }

  friend matrix operator+(matrix a, matrix b) { return a += b; }
  friend matrix operator-(matrix a, matrix b) { return a -= b; }
  friend matrix operator*(matrix a, T b) { return a *= b; }
  friend matrix operator*(T a, matrix b) { return b *= a; }
  friend matrix operator/(matrix a, T b) {
    for (int c = 0; c < C; ++c) a.columns[c] /= b;
    return a;
  }
  matrix operator-() const {
    matrix r;
    for (int c = 0; c < C; ++c) r.columns[c] = -columns[c];
    return r;
  }
  friend vec<T, R> operator*(matrix a, vec<T, C> x) {
    vec<T, R> sum = a.columns[0] * vec<T, R>(static_cast<T>(x.__v[0]));
    for (int c = 1; c < C; ++c) sum += a.columns[c] * vec<T, R>(static_cast<T>(x.__v[c]));
    return sum;
  }
  friend vec<T, C> operator*(vec<T, R> x, matrix a) {
    vec<T, C> r;
    for (int c = 0; c < C; ++c) {
      vec<T, R> products = x * a.columns[c];
      T sum = products[0];
      for (int i = 1; i < R; ++i) sum += static_cast<T>(products.__v[i]);
      r.__v[c] = sum;
    }
    return r;
  }
  friend bool operator==(matrix a, matrix b) {
    for (int c = 0; c < C; ++c)
      for (int r = 0; r < R; ++r)
        if (!(a.columns[c].__v[r] == b.columns[c].__v[r])) return false;
    return true;
  }
  friend bool operator!=(matrix a, matrix b) { return !(a == b); }

 private:
  struct __elements {
    T all[C * R];
  };
  template <size_t... I>
  static constexpr vec<T, R> __column_of(__elements from, size_t c, index_sequence<I...>) {
    return vec<T, R>(from.all[c * R + I]...);
  }
  template <size_t... I>
  static constexpr vec<T, R> __diagonal_of(T x, size_t c, index_sequence<I...>) {
    return vec<T, R>((I == c ? x : T(0))...);
  }
  template <size_t... K>
  constexpr matrix(__elements from, index_sequence<K...>)
      : columns{__column_of(from, K, make_index_sequence<R>())...} {}
  template <size_t... K>
  constexpr matrix(T diagonal, index_sequence<K...>)
      : columns{__diagonal_of(diagonal, K, make_index_sequence<R>())...} {}
};

template <class T, int K, int R, int C>
inline matrix<T, C, R> operator*(matrix<T, K, R> a, matrix<T, C, K> b) {
  matrix<T, C, R> r;
  for (int c = 0; c < C; ++c) r.columns[c] = a * b.columns[c];
  return r;
}
template <class T, int C, int R>
inline matrix<T, R, C> transpose(matrix<T, C, R> a) {
  matrix<T, R, C> r;
  for (int c = 0; c < C; ++c)
    for (int i = 0; i < R; ++i) r.columns[i].__v[c] = a.columns[c].__v[i];
  return r;
}
template <class T>
inline T determinant(matrix<T, 2, 2> m) {
  return m.columns[0].x * m.columns[1].y - m.columns[1].x * m.columns[0].y;
}
template <class T>
inline T determinant(matrix<T, 3, 3> m) {
  vec<T, 3> a = m.columns[0], b = m.columns[1], c = m.columns[2];
  return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) +
         a.z * (b.x * c.y - b.y * c.x);
}
template <class T>
inline T determinant(matrix<T, 4, 4> m) {
  T sum = 0;
  for (int c = 0; c < 4; ++c) {  // expansion along the first row
    matrix<T, 3, 3> minor;
    for (int k = 0, n = 0; k < 4; ++k)
      if (k != c) minor.columns[n++] = m.columns[k].yzw;
    T term = m.columns[c].x * determinant(minor);
    sum += c % 2 ? -term : term;
  }
  return sum;
}

#define SM_MATRIX_NAMES(C, R)                 \
  typedef matrix<float, C, R> float##C##x##R; \
  typedef matrix<half, C, R> half##C##x##R;
SM_MATRIX_NAMES(2, 2)
SM_MATRIX_NAMES(2, 3)
SM_MATRIX_NAMES(2, 4)
SM_MATRIX_NAMES(3, 2)
SM_MATRIX_NAMES(3, 3)
SM_MATRIX_NAMES(3, 4)
SM_MATRIX_NAMES(4, 2)
SM_MATRIX_NAMES(4, 3)
SM_MATRIX_NAMES(4, 4)
#undef SM_MATRIX_NAMES
}  // namespace metal
#define SM_MATRIX_NAMES(C, R)                   \
  typedef metal::float##C##x##R float##C##x##R; \
  typedef metal::half##C##x##R half##C##x##R;
SM_MATRIX_NAMES(2, 2)
SM_MATRIX_NAMES(2, 3)
SM_MATRIX_NAMES(2, 4)
SM_MATRIX_NAMES(3, 2)
SM_MATRIX_NAMES(3, 3)
SM_MATRIX_NAMES(3, 4)
SM_MATRIX_NAMES(4, 2)
SM_MATRIX_NAMES(4, 3)
SM_MATRIX_NAMES(4, 4)
#undef SM_MATRIX_NAMES
