#include <metal_stdlib>
#include <metal_simdgroup>
using namespace metal;

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;

constant bool has_bias [[function_constant(20)]];

struct Multiply {
  template <typename T>
  T operator()(T x, T y) { return x * y; }
};
struct Larger {
  template <typename T>
  T operator()(T x, T y) { return x > y ? x : y; }
};

template <typename T, typename Op, int N>
[[kernel, max_total_threads_per_threadgroup(N * 8)]] void binary(
    const device T* a [[buffer(0)]],
    const device T* b [[buffer(1)]],
    device T* out [[buffer(2)]],
    const constant float& bias [[buffer(3), function_constant(has_bias)]],
    const constant size_t& size [[buffer(4)]],
    uint index [[thread_position_in_grid]]) {
  for (int i = 0; i < N; ++i) {
    size_t at = size_t(index) * N + i;
    if (at < size) {
      out[at] = Op()(a[at], b[at]);
      if (has_bias) {
        out[at] += T(bias);
      }
    }
  }
}

instantiate_kernel("binary_mul_float", binary, float, Multiply, 2)
instantiate_kernel("binary_max_half", binary, half, Larger, 1)
template [[host_name("binary_max_int")]] [[kernel]] void binary<int, Larger, 4>(
    const device int* a [[buffer(0)]],
    const device int* b [[buffer(1)]],
    device int* out [[buffer(2)]],
    const constant float& bias [[buffer(3), function_constant(has_bias)]],
    const constant size_t& size [[buffer(4)]],
    uint index [[thread_position_in_grid]]);
