// Function: main_kernel
#include <metal_stdlib>
using namespace metal;

union __TVMArgUnion {
 int v_int[2];
};

struct main_kernel_args_t {
  int n;
};
kernel void main_kernel(  device float* A [[ buffer(0) ]],
  device float* B [[ buffer(1) ]],
  device float* C [[ buffer(2) ]],
  constant main_kernel_args_t& arg [[ buffer(3) ]],
  uint blockIdx [[threadgroup_position_in_grid]],
  uint threadIdx [[thread_position_in_threadgroup]]
) {
  thread float C_local[2];
  threadgroup float A_shared[16];
  threadgroup float B_shared[16];
  C_local[0] = 0.000000e+00f;
  C_local[1] = 0.000000e+00f;
  for (int k_outer = 0; k_outer < (arg.n >> 2); ++k_outer) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    *(threadgroup float2*)(A_shared + (((int)threadIdx) * 2)) = *(device float2*)(A + ((((((int)threadIdx) >> 1) * arg.n) + (k_outer * 4)) + ((((int)threadIdx) & 1) * 2)));
    *(threadgroup float2*)(B_shared + (((int)threadIdx) * 2)) = *(device float2*)(B + (((((k_outer * 4) + (((int)threadIdx) >> 1)) * 4)) + ((((int)threadIdx) & 1) * 2)));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k_inner = 0; k_inner < 4; ++k_inner) {
      C_local[0] = (C_local[0] + (A_shared[(((((int)threadIdx) >> 1) * 4) + k_inner)] * B_shared[((k_inner * 4) + ((((int)threadIdx) & 1) * 2))]));
      C_local[1] = (C_local[1] + (A_shared[(((((int)threadIdx) >> 1) * 4) + k_inner)] * B_shared[(((k_inner * 4) + ((((int)threadIdx) & 1) * 2)) + 1)]));
    }
  }
  for (int j_inner = 0; j_inner < 2; ++j_inner) {
    C[((((((int)threadIdx) >> 1) * 4) + ((((int)threadIdx) & 1) * 2)) + j_inner)] = C_local[j_inner];
  }
}
