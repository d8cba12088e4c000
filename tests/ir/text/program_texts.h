// Programs in the text form. Together they contain every node at every stage that allows it, and
// every part of a declaration.
#pragma once

#include <array>
#include <string_view>

namespace texloom::ir {

inline constexpr std::string_view kLoopsText =
    R"(program main stage=loops
  foreign "int touch(__global float* x) { x[0] = \"1\"[0]; return 0; }\x0a#define T 1"
  foreign "// another"
  foreign symbol dot(pointer float32, int32): float32 in "kernels.o"
  param A: global float32[8, 16]
  param "the image": texture2d<float16>[4, 16] 4 x 4 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)], origin=(ox, oy)
  param B: global int8[8, 16], buffer[(d0, d1) -> cols=(d1, d0), padding=zero]
  buffer.alloca C: global float32[8, 16]
  nest C {
    thread<blockIdx.x> bx < 8 {
      buffer.alloca C.local: local float32[4]
      vectorized v < 4 {
        C.local[v] = 0.0
      }
      unrolled u < 2 {
        {
          let t: float32 = A[bx, u] + float32(B[bx, u])
          C.local[u] = fma(t, -1.5, power(t, inf))
        }
        {
          let w: float32x4 = A[bx, ramp(u * 4, 1, 4)] * x4(nan)
          C.local[u + 2] = w.lane[u]
        }
        barrier
      }
      for k < int64(4) {
        if !(k < int64(2)) && bx != 7 {
          C[bx, k] = select(bx == 3, C.local[k], -0.0)
        }
      }
      while C[bx, 0] > 1.0 {
        C[bx, 0] = C[bx, 0] * 0.5
      }
      evaluate call_extern(touch, access_ptr(read_write, C[bx, 0], extents=(1, 16), offset=bx), 3: int32)
      prefetch A[bx + 1, 0]
      C[bx, 1] = call_pure_extern(touched, access_ptr(read, A[0, 0], extents=(8, 16)): float32) + call_extern(now: float32)
      for odd < 3 {
      }
    }
  }
  nest A {
    A[0, 0] = float32("the image"[1, 2])
    for third < 24 {
      A[0, ramp(0, 1, 2)] = pack(A[1, 1], C[floordiv(third, 3), 2])
    }
    for ahead < 2 {
      buffer.alloca D: local float32[1]
      pipelined D stages=3 {
        D[0] = 1.0
      }
    }
  }
)";

inline constexpr std::string_view kFlattenedText =
    R"(program main stage=flattened
  param A: global float32[128]
  param T: texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  texture2d.alloca U: texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  nest U {
    thread<threadIdx.x> tx < 4 {
      buffer.alloca P: local float32[1]
      for y < 8 {
        let i: int32 = tx * 4 + y * 16
        if i >= 2 {
          texture2d.store(U, x=tx, y=y, A[ramp(i, 1, 4)]: float32x4)
        }
        barrier
      }
    }
  }
  nest A {
    vectorized v < 4 {
      A[v] = texture2d.load(U, x=v, y=0: float32x4).lane[v]
    }
    unrolled u < 4 {
      A[u] = select(!(u < 1), sqrt(float32(u)), fma(A[0], 2.0, 1e+20))
    }
    while A[0] < 8.0 {
      A[0] = A[0] + 1.0
    }
    evaluate call_extern(touch, access_ptr(write, A[32], extents=(16)): int32)
    prefetch A[int64(4096)]
    A[ramp(0, 1, 2)] = pack(A[3], 1.0) + x2(0.5)
  }
)";

inline constexpr std::string_view kKernelsText =
    R"(program main stage=kernels
  param A: global float32[128]
  param O: texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)], origin=(ox, oy)
  texture2d.alloca T: texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  for step < 3 {
    launch fill(A, T, step) grid=(2, 1, 1) block=(4, 1, 1)
    launch "no identifier"(T, ox, oy, O, A) grid=(1, 1, 1) block=(1, 1, 1)
  }
  for n < max(min(ox, oy) - 1, floordiv(oy, 2)) {
  }
  texture2d.free T

kernel fill grid=(2, 1, 1) block=(4, 1, 1)
  param A: read global float32[128]
  param T: write texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  param step: int32 < 3
  axis bx = blockIdx.x < 2
  axis tx: int64 = threadIdx.x < 4
  buffer.alloca S: shared float32[16]
  S[tx] = A[bx * 16 + step]
  barrier
  texture2d.store(T, x=tx, y=bx, A[ramp(bx * 16 + step, 1, 4)] + x4(S[0]): float32x4)

kernel "no identifier" grid=(1, 1, 1) block=(1, 1, 1)
  param T: read texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  param ox: int32
  param oy: int32
  param O: read texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)], origin=(ox, oy)
  param A: read_write global float32[128]
  for y < 8 {
    let texel: float32x4 = texture2d.load(T, x=0, y=y: float32x4)
    if !(y < 3) {
      unrolled i < 4 {
        A[y * 4 + i] = fma(texel.lane[i], A[i], abs(texture2d.load(O, x=ox, y=oy: float32x4).lane[i]))
      }
    }
    while A[y] < 2.0 && y != 3 {
      A[y] = A[y] + 1.0
    }
    A[ramp(0, 1, 2)] = select(y == 1, pack(A[0], 0.1), x2(float32(y)))
    evaluate call_extern(touch, access_ptr(read_write, A[y * 16], extents=(16)): int32)
    prefetch A[y * 16 + 128]
  }
)";

inline constexpr std::string_view kLegalizedText =
    R"(program main stage=legalized
  param H: global float16[64]
  param T: texture2d<float16>[4, 16] 4 x 4 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  launch main_kernel0(H, T) grid=(1, 1, 1) block=(16, 1, 1)

kernel main_kernel0 grid=(1, 1, 1) block=(16, 1, 1)
  param H: read_write global float16[64]
  param T: write texture2d<float16>[4, 16] 4 x 4 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  axis tx = threadIdx.x < 16
  buffer.alloca L: local float32[4]
  L[0] = float32(float16(H[tx: float32] * 0.5))
  evaluate call_extern(touch, access_ptr(read_write, L[0], extents=(4)): int32)
  prefetch H[tx + 64]
  barrier
  {
    shuffle next: float32 = L[0] by 8 of 16
    L[1] = next
    shuffle first: int32 = tx * 2 by tx * -1 of 16
    L[2] = float32(first)
  }
  for k < 4 {
    let texel: float32x4 = H[ramp(k * 4, 1, 4): float32x4] + x4(float32(float16(float32(0.1))))
    texture2d.store(T, x=k, y=0, texel: float32x4)
    while L[0] < 2.0 {
      L[0] = L[0] + 1.0
    }
    if !(k == 3) {
      unrolled i < 2 {
        H[ramp(0, 1, 2)] = select(k < 2, pack(texel.lane[3], L[0]), x2(fma(L[0], 2.0, exp(1.0))))
      }
    }
  }
)";

// A texture read in stage legalized.
inline constexpr std::string_view kTexelText =
    R"(program main stage=legalized
  param A: global float32[64]
  param T: texture2d<float16>[4, 16] 4 x 4 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  launch k(A, T) grid=(1, 1, 1) block=(1, 1, 1)
  for plan < 2 {
    buffer.alloca scratch: global uint64[3], nontemporal
    buffer.free scratch
  }

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param A: write global float32[64]
  param T: read texture2d<float16>[4, 16] 4 x 4 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  A[ramp(0, 1, 4)] = texture2d.load(T, x=3, y=0: float32x4)
)";

// The call decides the rows and columns of the textures.
inline constexpr std::string_view kOpenTextureText =
    R"(program main stage=kernels
  symbol n: int32
  symbol m: int32
  param A: global float32[n, m * 2]
  param U: texture2d<float16>[n, 3, 4], texture[(d0, d1, d2) -> rows=(d0), cols=(d1), lanes=(d2)], origin=(x, y)
  texture2d.alloca T: texture2d<float32>[n, m * 2], texture[(d0, d1) -> rows=(d0%8), cols=(d0/8, d1/4), lanes=(d1%4)]
  launch k(A, T, m) grid=(n, 1, 1) block=(1, 1, 1)
  texture2d.free T

kernel k grid=(n, 1, 1) block=(1, 1, 1)
  param A: read global float32[n, m * 2]
  param T: write texture2d<float32>[n, m * 2], texture[(d0, d1) -> rows=(d0%8), cols=(d0/8, d1/4), lanes=(d1%4)]
  param m: int32
  axis i = blockIdx.x < n
  texture2d.store(T, x=floordiv(i, 8) * floordiv(m * 2 + 3, 4), y=floormod(i, 8), A[ramp(i * (m * 2), 1, 4)]: float32x4)
)";

inline constexpr std::string_view kTicketsLoopsText =
    R"(program tickets stage=loops
  param A: global float32[4]
  buffer.alloca C: global float32[8]
  buffer.alloca N: global int32[4], counters
  nest A {
    thread<blockIdx.x> bx < 4 {
      thread<blockIdx.y> by < 2 {
        C[bx * 2 + by] = 1.0
      }
      buffer.alloca F: shared int32[1]
      last_block N[bx] of 2 flag=F {
        A[bx] = C[bx * 2] + C[bx * 2 + 1]
      }
    }
  }
)";

inline constexpr std::string_view kTicketsFlattenedText =
    R"(program tickets stage=flattened
  param A: global float32[4]
  buffer.alloca C: global float32[8]
  buffer.alloca N: global int32[4], counters
  nest A {
    thread<blockIdx.x> bx < 4 {
      thread<blockIdx.y> by < 2 {
        C[bx * 2 + by] = 1.0
      }
      buffer.alloca F: shared int32[1]
      last_block N[bx] of 2 flag=F {
        A[bx] = C[bx * 2] + C[bx * 2 + 1]
      }
    }
  }
)";

inline constexpr std::string_view kTicketsKernelsText =
    R"(program tickets stage=kernels
  param A: global float32[4]
  buffer.alloca C: global float32[8]
  buffer.alloca N: global int32[4], counters
  launch k(C, N, A) grid=(4, 2, 1) block=(1, 1, 1)
  buffer.free C
  buffer.free N

kernel k grid=(4, 2, 1) block=(1, 1, 1)
  param C: read_write global float32[8]
  param N: read_write global int32[4], counters
  param A: write global float32[4]
  axis bx = blockIdx.x < 4
  axis by = blockIdx.y < 2
  buffer.alloca F: shared int32[1]
  C[bx * 2 + by] = 1.0
  last_block N[bx] of 2 flag=F {
    A[bx] = C[bx * 2] + C[bx * 2 + 1]
  }
)";

inline constexpr std::string_view kTicketsLegalizedText =
    R"(program tickets stage=legalized
  param A: global float32[4]
  buffer.alloca C: global float32[8]
  buffer.alloca N: global int32[4], counters
  launch k(C, N, A) grid=(4, 2, 1) block=(1, 1, 1)
  buffer.free C
  buffer.free N

kernel k grid=(4, 2, 1) block=(1, 1, 1)
  param C: read_write global float32[8]
  param N: read_write global int32[4], counters
  param A: write global float32[4]
  axis bx = blockIdx.x < 4
  axis by = blockIdx.y < 2
  buffer.alloca F: shared int32[1]
  C[bx * 2 + by] = 1.0
  last_block N[bx] of 2 flag=F {
    A[bx] = C[bx * 2] + C[bx * 2 + 1]
  }
)";

inline constexpr std::array kProgramTexts = {kLoopsText,     kFlattenedText, kKernelsText,
                                             kLegalizedText, kTexelText,     kOpenTextureText};
// Programs for targets with a fence of the device.
inline constexpr std::string_view kStepsLoopsText = R"(program p stage=loops
  param A: global float32[16, 16]
  nest A {
    thread<threadIdx.x> t < 32 {
    }
    buffer.alloca F: fragment float32[16, 16]
    fragment.load(access_ptr(write, F[0, 0], extents=(16, 16)), access_ptr(read, A[0, 0], extents=(16, 16)), 16)
    buffer.alloca S: shared float32[16]
    async_copies {
      S[0] = A[0, 0]
    }
    await_copies pending=0
  }
)";
inline constexpr std::string_view kStepsFlattenedText = R"(program p stage=flattened
  param A: global float32[16, 16]
  nest A {
    thread<threadIdx.x> t < 32 {
    }
    buffer.alloca F: fragment float32[16, 16]
    fragment.fill(access_ptr(write, F[0], extents=(256)), 0.0)
    buffer.alloca S: shared float32[16]
    async_copies {
      S[0] = A[0]
    }
    await_copies pending=0
  }
)";
inline constexpr std::string_view kStepsKernelsText = R"(program p stage=kernels
  param A: global float32[16, 16]
  param B: global float32[16, 16]
  launch k(A, B) grid=(1, 1, 1) block=(32, 1, 1)

kernel k grid=(1, 1, 1) block=(32, 1, 1)
  param A: read global float32[16, 16]
  param B: write global float32[16, 16]
  axis t = threadIdx.x < 32
  buffer.alloca C: shared float32[32]
  buffer.alloca S: fragment float32[16, 16]
  buffer.alloca L: fragment float32[16, 16]
  buffer.alloca R: fragment float32[16, 16]
  fragment.fill(access_ptr(write, S[0], extents=(256)), 0.0)
  async_copies {
    C[t] = 1.0
  }
  await_copies pending=0
  fragment.load(access_ptr(write, L[0], extents=(256)), access_ptr(read, A[0], extents=(256)), 16)
  fragment.load(access_ptr(write, R[0], extents=(256)), access_ptr(read, A[0], extents=(256)), 16)
  fragment.mma(access_ptr(read_write, S[0], extents=(256)), transposed access_ptr(read, L[0], extents=(256)), access_ptr(read, R[0], extents=(256)))
  fragment.store(access_ptr(write, B[0], extents=(256)), access_ptr(read, S[0], extents=(256)), 16)
)";
inline constexpr std::string_view kStepsLegalizedText = R"(program p stage=legalized
  param A: global float32[16, 16]
  launch k(A) grid=(1, 1, 1) block=(32, 1, 1)

kernel k grid=(1, 1, 1) block=(32, 1, 1)
  param A: write global float32[16, 16]
  axis t = threadIdx.x < 32
  buffer.alloca C: shared float32[32]
  buffer.alloca S: fragment float32[16, 16]
  fragment.fill(access_ptr(write, S[0], extents=(256)), 0.0)
  async_copies {
    C[t] = 1.0
  }
  await_copies pending=0
  fragment.store(access_ptr(write, A[0], extents=(256)), access_ptr(read, S[0], extents=(256)), 16)
)";
// Steps of SIMD-groups, as tickets, are not among the texts that are mutated.
inline constexpr std::array kStepTexts = {kStepsLoopsText, kStepsFlattenedText, kStepsKernelsText,
                                          kStepsLegalizedText};

inline constexpr std::array kTicketTexts = {kTicketsLoopsText, kTicketsFlattenedText,
                                            kTicketsKernelsText, kTicketsLegalizedText};

}  // namespace texloom::ir
