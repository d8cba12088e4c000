// A kernel as the compiler prints it: the 3x3 convolution of Conv2dLayer (`texloom.examples`) from
// 64 to 64 channels of 56 x 56 pixels, through textures.
#pragma once

namespace texloom::startup {

inline constexpr const char* kConvolution = R"CL(
#pragma OPENCL FP_CONTRACT OFF

__constant sampler_t tl_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel __attribute__((reqd_work_group_size(14, 4, 1)))
void conv2d_texture_kernel0(
    __read_only image2d_t data,
    __read_only image2d_t weight,
    __write_only image2d_t output) {
  const int blockIdx_y = (int)get_group_id(1);
  const int blockIdx_z = (int)get_group_id(2);
  const int threadIdx_x = (int)get_local_id(0);
  const int threadIdx_y = (int)get_local_id(1);
  float4 sums[4];
  sums[0] = (float4)(0.0f);
  sums[1] = (float4)(0.0f);
  sums[2] = (float4)(0.0f);
  sums[3] = (float4)(0.0f);
  #pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    #pragma unroll 1
    for (int ky = 0; ky < 3; ++ky) {
      float padded[24] __attribute__((aligned(16)));
      ((__private float4*)padded)[0] = blockIdx_y * 4 + threadIdx_y + ky >= 1 && blockIdx_y * 4 + threadIdx_y + ky < 57 && threadIdx_x >= 1 ? read_imagef(data, tl_sampler, (int2)(threadIdx_x * 4 - 1, i * 56 + blockIdx_y * 4 + threadIdx_y + ky - 1)) : (float4)(0.0f);
      ((__private float4*)padded)[1] = blockIdx_y * 4 + threadIdx_y + ky >= 1 && blockIdx_y * 4 + threadIdx_y + ky < 57 ? read_imagef(data, tl_sampler, (int2)(threadIdx_x * 4, i * 56 + blockIdx_y * 4 + threadIdx_y + ky - 1)) : (float4)(0.0f);
      ((__private float4*)padded)[2] = blockIdx_y * 4 + threadIdx_y + ky >= 1 && blockIdx_y * 4 + threadIdx_y + ky < 57 ? read_imagef(data, tl_sampler, (int2)(threadIdx_x * 4 + 1, i * 56 + blockIdx_y * 4 + threadIdx_y + ky - 1)) : (float4)(0.0f);
      ((__private float4*)padded)[3] = blockIdx_y * 4 + threadIdx_y + ky >= 1 && blockIdx_y * 4 + threadIdx_y + ky < 57 ? read_imagef(data, tl_sampler, (int2)(threadIdx_x * 4 + 2, i * 56 + blockIdx_y * 4 + threadIdx_y + ky - 1)) : (float4)(0.0f);
      ((__private float4*)padded)[4] = blockIdx_y * 4 + threadIdx_y + ky >= 1 && blockIdx_y * 4 + threadIdx_y + ky < 57 ? read_imagef(data, tl_sampler, (int2)(threadIdx_x * 4 + 3, i * 56 + blockIdx_y * 4 + threadIdx_y + ky - 1)) : (float4)(0.0f);
      ((__private float4*)padded)[5] = blockIdx_y * 4 + threadIdx_y + ky >= 1 && blockIdx_y * 4 + threadIdx_y + ky < 57 && threadIdx_x < 13 ? read_imagef(data, tl_sampler, (int2)(threadIdx_x * 4 + 4, i * 56 + blockIdx_y * 4 + threadIdx_y + ky - 1)) : (float4)(0.0f);
      float4 weight_local[1];
      weight_local[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3, blockIdx_z));
      sums[0] = fma((float4)(padded[0]), weight_local[0], sums[0]);
      sums[1] = fma((float4)(padded[4]), weight_local[0], sums[1]);
      sums[2] = fma((float4)(padded[8]), weight_local[0], sums[2]);
      sums[3] = fma((float4)(padded[12]), weight_local[0], sums[3]);
      float4 weight_local_1[1];
      weight_local_1[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 1, blockIdx_z));
      sums[0] = fma((float4)(padded[4]), weight_local_1[0], sums[0]);
      sums[1] = fma((float4)(padded[8]), weight_local_1[0], sums[1]);
      sums[2] = fma((float4)(padded[12]), weight_local_1[0], sums[2]);
      sums[3] = fma((float4)(padded[16]), weight_local_1[0], sums[3]);
      float4 weight_local_2[1];
      weight_local_2[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 2, blockIdx_z));
      sums[0] = fma((float4)(padded[8]), weight_local_2[0], sums[0]);
      sums[1] = fma((float4)(padded[12]), weight_local_2[0], sums[1]);
      sums[2] = fma((float4)(padded[16]), weight_local_2[0], sums[2]);
      sums[3] = fma((float4)(padded[20]), weight_local_2[0], sums[3]);
      float4 weight_local_3[1];
      weight_local_3[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 9, blockIdx_z));
      sums[0] = fma((float4)(padded[1]), weight_local_3[0], sums[0]);
      sums[1] = fma((float4)(padded[5]), weight_local_3[0], sums[1]);
      sums[2] = fma((float4)(padded[9]), weight_local_3[0], sums[2]);
      sums[3] = fma((float4)(padded[13]), weight_local_3[0], sums[3]);
      float4 weight_local_4[1];
      weight_local_4[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 10, blockIdx_z));
      sums[0] = fma((float4)(padded[5]), weight_local_4[0], sums[0]);
      sums[1] = fma((float4)(padded[9]), weight_local_4[0], sums[1]);
      sums[2] = fma((float4)(padded[13]), weight_local_4[0], sums[2]);
      sums[3] = fma((float4)(padded[17]), weight_local_4[0], sums[3]);
      float4 weight_local_5[1];
      weight_local_5[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 11, blockIdx_z));
      sums[0] = fma((float4)(padded[9]), weight_local_5[0], sums[0]);
      sums[1] = fma((float4)(padded[13]), weight_local_5[0], sums[1]);
      sums[2] = fma((float4)(padded[17]), weight_local_5[0], sums[2]);
      sums[3] = fma((float4)(padded[21]), weight_local_5[0], sums[3]);
      float4 weight_local_6[1];
      weight_local_6[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 18, blockIdx_z));
      sums[0] = fma((float4)(padded[2]), weight_local_6[0], sums[0]);
      sums[1] = fma((float4)(padded[6]), weight_local_6[0], sums[1]);
      sums[2] = fma((float4)(padded[10]), weight_local_6[0], sums[2]);
      sums[3] = fma((float4)(padded[14]), weight_local_6[0], sums[3]);
      float4 weight_local_7[1];
      weight_local_7[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 19, blockIdx_z));
      sums[0] = fma((float4)(padded[6]), weight_local_7[0], sums[0]);
      sums[1] = fma((float4)(padded[10]), weight_local_7[0], sums[1]);
      sums[2] = fma((float4)(padded[14]), weight_local_7[0], sums[2]);
      sums[3] = fma((float4)(padded[18]), weight_local_7[0], sums[3]);
      float4 weight_local_8[1];
      weight_local_8[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 20, blockIdx_z));
      sums[0] = fma((float4)(padded[10]), weight_local_8[0], sums[0]);
      sums[1] = fma((float4)(padded[14]), weight_local_8[0], sums[1]);
      sums[2] = fma((float4)(padded[18]), weight_local_8[0], sums[2]);
      sums[3] = fma((float4)(padded[22]), weight_local_8[0], sums[3]);
      float4 weight_local_9[1];
      weight_local_9[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 27, blockIdx_z));
      sums[0] = fma((float4)(padded[3]), weight_local_9[0], sums[0]);
      sums[1] = fma((float4)(padded[7]), weight_local_9[0], sums[1]);
      sums[2] = fma((float4)(padded[11]), weight_local_9[0], sums[2]);
      sums[3] = fma((float4)(padded[15]), weight_local_9[0], sums[3]);
      float4 weight_local_10[1];
      weight_local_10[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 28, blockIdx_z));
      sums[0] = fma((float4)(padded[7]), weight_local_10[0], sums[0]);
      sums[1] = fma((float4)(padded[11]), weight_local_10[0], sums[1]);
      sums[2] = fma((float4)(padded[15]), weight_local_10[0], sums[2]);
      sums[3] = fma((float4)(padded[19]), weight_local_10[0], sums[3]);
      float4 weight_local_11[1];
      weight_local_11[0] = read_imagef(weight, tl_sampler, (int2)(i * 36 + ky * 3 + 29, blockIdx_z));
      sums[0] = fma((float4)(padded[11]), weight_local_11[0], sums[0]);
      sums[1] = fma((float4)(padded[15]), weight_local_11[0], sums[1]);
      sums[2] = fma((float4)(padded[19]), weight_local_11[0], sums[2]);
      sums[3] = fma((float4)(padded[23]), weight_local_11[0], sums[3]);
    }
  }
  write_imagef(output, (int2)(threadIdx_x * 4, blockIdx_z * 56 + blockIdx_y * 4 + threadIdx_y), sums[0]);
  write_imagef(output, (int2)(threadIdx_x * 4 + 1, blockIdx_z * 56 + blockIdx_y * 4 + threadIdx_y), sums[1]);
  write_imagef(output, (int2)(threadIdx_x * 4 + 2, blockIdx_z * 56 + blockIdx_y * 4 + threadIdx_y), sums[2]);
  write_imagef(output, (int2)(threadIdx_x * 4 + 3, blockIdx_z * 56 + blockIdx_y * 4 + threadIdx_y), sums[3]);
}
)CL";

}  // namespace texloom::startup
