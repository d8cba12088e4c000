#include <metal_stdlib>
using namespace metal;
float2 __mma_8_8_8(float2 a, float2 b, float2 c){
  simdgroup_float8x8 mat_a, mat_b; simdgroup_float8x8 mat_c;
  mat_a.thread_elements()[0] = a[0]; mat_b.thread_elements()[0] = b[0]; mat_c.thread_elements()[0] = c[0];
  mat_a.thread_elements()[1] = a[1]; mat_b.thread_elements()[1] = b[1]; mat_c.thread_elements()[1] = c[1];
  simdgroup_multiply_accumulate(mat_c, mat_a, mat_b, mat_c);
  return float2(mat_c.thread_elements()[0], mat_c.thread_elements()[1]);
}
kernel void r_4_8(device float* data0_1, device float* data1_32, constant int& n, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  threadgroup __attribute__((aligned(16))) float temp0[4];
  threadgroup float temp1[4] __attribute__((aligned(16)));
  alignas(16) threadgroup float2 temp2;
  int lidx0 = lid.x; /* 4 */
  float acc0[1];
  acc0[0] = 0.0f;
  for (int ridx0 = 0; ridx0 < n; ridx0++) {
    acc0[0] = (acc0[0]+(*(data1_32+((lidx0<<3)+ridx0))));
  }
  *(temp0+lidx0) = acc0[0];
  *(temp1+lidx0) = (-acc0[0]);
  if ((lidx0==3)) { temp2 = float2(1.0f,2.0f); }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float4 val0 = (*((threadgroup float4*)((temp0+0))));
  float4 val1 = (*((threadgroup float4*)((temp1+0))));
  bool alu0 = (lidx0==0);
  if (alu0) {
    *(data0_1+0) = (((val0.x+val0.y)+(val0.z+val0.w))+((val1.x*0.5f)+temp2.y));
  }
}
kernel void mma(device float2* data0, device float2* data1, device float2* data2, uint3 lid [[thread_position_in_threadgroup]]) {
  data0[lid.x] = __mma_8_8_8(data1[lid.x], data2[lid.x], data1[lid.x]);
}
