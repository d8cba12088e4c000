// Programs of stage te in the text form. Together they use every part of the grammar.
#pragma once

#include <array>
#include <string_view>

namespace texloom::lower {

// Caches, tiles, and an argument in a texture.
inline constexpr std::string_view kTiledText =
    R"(program matmul stage=te target="opencl -device=mali -max_num_threads=128"
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
  param A: float32[8, 16] in "texture:weight", origin, name="A in an image"
  param B
  param C
  param unread placeholder float32[3]

placeholder A: float32[8, 16]
placeholder B: float32[16, 8]

compute B.shared(ax0 < 16, ax1 < 8): float32 = B[ax0, ax1]
  scope shared
  compute_at C.local, k.outer
  fuse ax0, ax1 -> ax0.ax1.fused
  split ax0.ax1.fused nparts=4 -> t, rest
  bind t threadIdx.x

compute C.local(i.c < 8, j.c < 8): float32 = reduce(sum, [k < 16], A[i.c, k] * B.shared[k, j.c])
  tag gemm
  scope local
  compute_at C, j.inner
  split k factor=4 -> k.outer, k.inner
  reorder k.outer, k.inner, i.c, j.c
  unroll k.inner

compute C(i < 8, j < 8): float32 = C.local[i, j]
  origin = reduce(sum, [k < 16], A[i, k] * B[k, j])
  tag gemm
  output
  split j factor=4 exact -> j.outer, j.inner
  bind i blockIdx.y
  bind j.outer blockIdx.x
  bind j.inner threadIdx.x
)";

// Conditions, integers, inlined stages, and names that must be quoted.
inline constexpr std::string_view kOddText =
    R"(program "an odd one" stage=te target="opencl"
  symbol n: int32
  reducer max(lhs, rhs): int8 = max(lhs, rhs), identity=int8(-128)
  reducer sum(a, b): int32 = a + b, identity=0
  param "an input"
  param S
  param D

placeholder "an input": int8[6, 7]
placeholder n: float16[n, n * 2]

compute P(i < 8, j < 7): int8 = select(i >= 1 && i < 7, "an input"[i - 1, j], int8(0))
  inline

compute M(i < 6): int8 = reduce(max, [r < 3, "a b" from 2 extent 4], P[i + r, "a b"], where=r != 1 || "a b" < 4)
  scope texture
  fuse -> unit
  split i factor=2 -> i.outer, i.inner
  reorder i.outer, unit, i.inner, r, "a b"
  bind i.outer blockIdx.x
  serial unit

compute S(): int32 = reduce(sum, [k: int64 < 6], int32(M[int32(k)]))
  output

compute D(i < 6): float32 = float32(S[]) / float32(M[i] + int8(1))
  output
  vectorize i
)";

// User-defined layouts of an argument, a cache and a stage, and transformed axes.
inline constexpr std::string_view kLayoutText =
    R"(program layouts stage=te target="opencl"
  param A: float32[6, 10] in texture, layout=texture[(h, w) -> rows=(w/4), cols=(h), lanes=(w%4)], exact_image
  param D

placeholder A: float32[6, 10]

compute A.shared(i < 6, j < 10): float32 = A[i, j]
  scope shared layout=buffer[("an axis", j) -> cols=(j/2, "an axis", j%2)]
  compute_at B, f
  bind i threadIdx.x

compute B(i < 6, j < 10): float32 = A.shared[i, j]
  scope "texture:weight"
  split j factor=4 exact -> j.outer, j.inner
  fuse j.outer, i -> f
  transform (d0, d1) -> ((d1/4, d0), |, d1%4)
  bind f blockIdx.x

compute C(i < 6, j < 10): float32 = B[i, j] * 2.0
  scope texture layout=texture[(r, c) -> rows=(c), cols=(r/4), lanes=(r%4), padding=zero]
  bind j threadIdx.x

compute E(): float32 = C[0, 0]
  scope global layout=buffer[() -> cols=()]
  fuse -> unit
  bind unit blockIdx.x

compute D(i < 6, j < 10): float32 = C[i, j] + E[]
  output
  fuse -> unit
  transform (d0, d1) -> ((), d1, d0)
  bind i blockIdx.x
)";

// Operations with several outputs, and tuple reductions with initial elements.
inline constexpr std::string_view kTupleText =
    R"(program tuples stage=te target="opencl"
  reducer argmax(tuple(i, v), tuple(j, w)): tuple(int32, float32) = tuple(select(v < w, j, i), max(v, w)), identity=tuple(-1, -1e+30)
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
  param A
  param T
  param S
  param P#1

placeholder A: float32[8, 16]

compute P(i < 8, k < 16): tuple(float32, float32) = tuple(A[i, k] * 2.0, A[i, k] + 1.0)

compute T(i < 8): tuple(int32, float32) = reduce(argmax, [k < 16], tuple(k, P#1[i, k]), where=k != i, init=tuple(0, A[i, 0]))
  output
  split i factor=4 -> i.outer, i.inner
  bind i.outer blockIdx.x
  vectorize i.inner

compute S(i < 8): float32 = reduce(sum, [k < 16], P[i, k], init=T#1[i])
  output
)";

// Externs: two outputs, two kernels with memory between them, and an input through a cache.
inline constexpr std::string_view kExternText = R"(program externs stage=te target="opencl"
  param A
  param Y

placeholder A: float32[8, 4]

compute A.global(ax0 < 8, ax1 < 4): float32 = A[ax0, ax1]
  scope global
  bind ax0 blockIdx.x

extern E
  reads A: global float32[8, 4] = A.global origin = A
  writes E.v0: global float32[8]
  writes E.v1: global int32[8]
{
  buffer.alloca sums: global float32[8]
  thread<threadIdx.x> threadIdx.x < 8 {
    sums[threadIdx.x] = 0.0
    unrolled i < 4 {
      sums[threadIdx.x] = sums[threadIdx.x] + A[threadIdx.x, i]
    }
  }
  thread<blockIdx.x> blockIdx.x < 8 {
    let negative: bool = sums[blockIdx.x] < 0.0
    E.v0[blockIdx.x] = sums[blockIdx.x]
    if negative {
      E.v1[blockIdx.x] = 1
    }
    if !negative {
      E.v1[blockIdx.x] = 0
    }
  }
}
  tag reduction

compute Y(i < 8): float32 = E[i] + float32(E#1[i])
  output
  bind i blockIdx.x
)";

// A scan of two states, with a stage attached to the loop over steps and one attached deeper.
inline constexpr std::string_view kScanText = R"(program scans stage=te target="opencl"
  symbol m: int32
  param A
  param S#1

placeholder A: float32[m, 8]

compute I(t < 1, i < 8): tuple(float32, int32) = tuple(A[t, i], 1)

placeholder R: float32[m, 8]
placeholder Q: int32[m, 8]

compute R.shared(ax0 < m, ax1 < 8): float32 = R[ax0, ax1]
  scope shared
  bind ax1 threadIdx.x

compute H(t < m, i < 8): float32 = R.shared[t - 1, 7 - i] * 2.0
  origin = R[t - 1, 7 - i] * 2.0
  compute_at U, i

compute U(t < m, i < 8): float32 = H[t, i] + A[t, i]
  bind i threadIdx.x

compute V(t < m, i < 8): int32 = Q[t - 1, i] + int32(U[t, i])
  bind i threadIdx.x

scan S(S.idx)
  state R init=I update=U
  state Q init=I#1 update=V
  tag recurrence
  output
  unroll S.idx
)";

// Tensor intrinsics: a reduction in steps, a guard, views with strides; and a copy whose name must
// be quoted.
inline constexpr std::string_view kIntrinsicText = R"(program intrinsics stage=te target="opencl"
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
  intrinsic gemv
    reads a: global float32[2] strides=(1)
    reads b: global float32[4, 2] strides=(row, 1) offset=first
    writes c: global float32[4]
    computes (i < 4) = reduce(sum, [k < 2], a[k] * b[i, k])
  body {
    for i < 4 {
      c[i] = a[0] * b[i, 0] + a[1] * b[i, 1]
    }
  }
  reset {
    for i < 4 {
      c[i] = 0.0
    }
  }
  update {
    buffer.alloca part: local float32[2]
    for k < 2 {
      part[k] = a[k] + float32((first - first) * row)
    }
    for i < 4 {
      c[i] = c[i] + part[0] * b[i, 0] + part[1] * b[i, 1]
    }
  }
  intrinsic "copy of 4"
    reads x: global float32[4]
    writes y: global float32[4]
    computes (i < 4) = x[i]
  body {
    y[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]
  }
  param A
  param B
  param C

placeholder A: float32[6, 4]
placeholder B: float32[8, 4]

compute C.local(i < 6, j < 8): float32 = reduce(sum, [k < 4], A[i, k] * B[j, k])
  scope local
  compute_at C, j.outer
  split k factor=2 -> k.outer, k.inner
  reorder i, k.outer, j, k.inner
  tensorize j gemv

compute C(i < 6, j < 8): float32 = C.local[i, j]
  origin = reduce(sum, [k < 4], A[i, k] * B[j, k])
  output
  split i factor=4 -> i.outer, i.inner
  split j factor=4 -> j.outer, j.inner
  bind i.outer blockIdx.x
  bind i.inner threadIdx.x
  tensorize j.inner "copy of 4"
)";

inline constexpr std::array kTeTexts = {kTiledText,  kOddText,  kLayoutText,   kTupleText,
                                        kExternText, kScanText, kIntrinsicText};

}  // namespace texloom::lower
