#include "runtime/custom/kernel_spellings.h"

#include <array>

namespace texloom::runtime {
namespace {

KernelSpelling opencl_c() {
  return {
      .format = KernelFormat::OpenClC,
      .build_options = {"-cl-std=CL1.2"},
      .prelude = R"(#define tl_global_id(axis) ((int)get_global_id(axis))
#define tl_local_id(axis) ((int)get_local_id(axis))
#define tl_group_id(axis) ((int)get_group_id(axis))
__constant sampler_t tl_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
)",
      .has_float64 = true,
      .has_vector_literals = true,
      .double_prelude = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
      .kernel = "__kernel void {0}({1})",
      .read_buffer = "__global const {1}* {0}",
      .write_buffer = "__global {1}* {0}",
      .read_texture = "__read_only image2d_t {0}",
      .write_texture = "__write_only image2d_t {0}",
      .constant = "{1} {0}",
      .constants = {},
      .constants_parameter = {},
      .bound_constant = {},
      .last_parameters = {},
      .load =
          "#define tl_load_{0}(tl_col, tl_row) read_image{1}({0}, tl_sampler, "
          "(int2)((tl_col) + {0}_tl_x, (tl_row) + {0}_tl_y))\n",
      .store =
          "#define tl_store_{0}(tl_col, tl_row, tl_v) write_image{1}({0}, "
          "(int2)((tl_col) + {0}_tl_x, (tl_row) + {0}_tl_y), tl_v)\n",
      .four = "#define tl_four_{0}(tl_a, tl_b, tl_c, tl_d) (({1}4)(tl_a, tl_b, tl_c, tl_d))\n",
      .get = "#define tl_get_{0}(tl_i) ({0}[tl_i])\n",
      .put = "#define tl_put_{0}(tl_i, tl_v) ({0}[tl_i] = (tl_v))\n",
      .get_half = "#define tl_get_{0}(tl_i) vload_half(tl_i, {0})\n",
      .put_half = "#define tl_put_{0}(tl_i, tl_v) vstore_half_rte(tl_v, tl_i, {0})\n",
  };
}

// Texels outside of a texture are zero, as in the OpenCL C kernels. OpenCL's barrier() is defined,
// because bodies with shared arrays need it.
KernelSpelling msl() {
  return {
      .format = KernelFormat::Msl,
      .build_options = {"-std=metal2.3"},
      .prelude = R"(#include <metal_stdlib>
using namespace metal;
#define tl_global_id(axis) ((int)tl_global[axis])
#define tl_local_id(axis) ((int)tl_local[axis])
#define tl_group_id(axis) ((int)tl_group[axis])
#define __local threadgroup
#define CLK_LOCAL_MEM_FENCE mem_flags::mem_threadgroup
#define CLK_GLOBAL_MEM_FENCE mem_flags::mem_device
#define barrier(flags) threadgroup_barrier(flags)
)",
      .has_float64 = false,
      .has_vector_literals = false,
      .double_prelude = {},
      .kernel = "kernel void {0}({1})",
      .read_buffer = "device const {1}* {0} [[buffer({2})]]",
      .write_buffer = "device {1}* {0} [[buffer({2})]]",
      .read_texture = "texture2d<{1}, access::read> {0} [[texture({2})]]",
      .write_texture = "texture2d<{1}, access::write> {0} [[texture({2})]]",
      .constant = "  {1} {0};\n",
      .constants = "struct tl_constants {{\n{0}}};\n",
      .constants_parameter = "constant tl_constants& tl_given [[buffer({0})]]",
      .bound_constant = "  const {1} {0} = tl_given.{0};\n",
      .last_parameters =
          "uint3 tl_global [[thread_position_in_grid]], "
          "uint3 tl_local [[thread_position_in_threadgroup]], "
          "uint3 tl_group [[threadgroup_position_in_grid]]",
      .load =
          "#define tl_load_{0}(tl_col, tl_row) {0}.read("
          "uint2((tl_col) + {0}_tl_x, (tl_row) + {0}_tl_y))\n",
      .store =
          "#define tl_store_{0}(tl_col, tl_row, tl_v) {0}.write(tl_v, "
          "uint2((tl_col) + {0}_tl_x, (tl_row) + {0}_tl_y))\n",
      .four = "#define tl_four_{0}(tl_a, tl_b, tl_c, tl_d) {1}4(tl_a, tl_b, tl_c, tl_d)\n",
      .get = "#define tl_get_{0}(tl_i) ({0}[tl_i])\n",
      .put = "#define tl_put_{0}(tl_i, tl_v) ({0}[tl_i] = (tl_v))\n",
      .get_half = "#define tl_get_{0}(tl_i) float({0}[tl_i])\n",
      .put_half = "#define tl_put_{0}(tl_i, tl_v) ({0}[tl_i] = half(tl_v))\n",
  };
}

}  // namespace

std::span<const KernelSpelling> kernel_spellings() {
  static const std::array rows = {opencl_c(), msl()};
  return rows;
}

}  // namespace texloom::runtime
