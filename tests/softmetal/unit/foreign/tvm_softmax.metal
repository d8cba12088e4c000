// Function: softmax_kernel
#include <metal_stdlib>
using namespace metal;

kernel void softmax_kernel(  device half* data [[ buffer(0) ]],
  device half* out [[ buffer(1) ]],
  uint3 blockIdx [[threadgroup_position_in_grid]],
  uint3 threadIdx [[thread_position_in_threadgroup]]
) {
  float red_buf0;
  threadgroup float red_result[1];
  float v = (float)data[((((int)blockIdx.x) * 32) + ((int)threadIdx.x))];
  red_buf0 = v;
  red_buf0 = max(red_buf0, simd_shuffle_down(red_buf0, 16));
  red_buf0 = max(red_buf0, simd_shuffle_down(red_buf0, 8));
  red_buf0 = max(red_buf0, simd_shuffle_down(red_buf0, 4));
  red_buf0 = max(red_buf0, simd_shuffle_down(red_buf0, 2));
  red_buf0 = max(red_buf0, simd_shuffle_down(red_buf0, 1));
  if (((int)threadIdx.x) == 0) {
    red_result[0] = red_buf0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float e = exp((v - red_result[0]));
  float total = simd_sum(e);
  out[((((int)blockIdx.x) * 32) + ((int)threadIdx.x))] = ((half)(e / total));
}
