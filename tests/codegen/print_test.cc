// The printer: what a whole source looks like, and how nodes are spelled.
#include "codegen/opencl/print.h"

#include <gtest/gtest.h>

#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::Stmt;
using ir::Type;

// One kernel with all that a matrix product through textures needs.
TEST(Print, WholeSourceOfATexturedKernel) {
  TestKernel kernel;
  const Expr bx = kernel.axis("blockIdx.x", 4), tx = kernel.axis("threadIdx.x", 8);
  const ir::Buffer a = texture("A.texture", kFloat32, 8, 16), c = global("C", kFloat32, 128);
  const ir::Buffer acc = local("C.local", kFloat32, 4);
  const Expr k = ir::make_var("k");
  const Expr x = bx * 2 + floordiv(tx, 4);
  ir::Stmts body;
  body.push_back(put_vector(acc, ir::make_int(0), ir::make_const(0, kFloat32.with_lanes(4))));
  body.push_back(
      make_for(k, ir::make_int(16), ir::LoopKind::Serial,
               ir::make_seq({put(acc, ir::make_int(0), at(acc, 0) + lane(texel(a, x, k), 0)),
                             put(acc, ir::make_int(1), at(acc, 1) + lane(texel(a, x, k), 1))})));
  body.push_back(put_vector(c, bx * 32 + tx * 4, vector_at(acc, ir::make_int(0), 4)));
  EXPECT_EQ(source_of(kernel.program(make_allocate(acc, ir::make_seq(body)))),
            R"(#pragma OPENCL FP_CONTRACT OFF

__constant sampler_t tl_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void k(
    __read_only image2d_t A_texture,
    __global float* restrict C) {
  const int blockIdx_x = (int)get_group_id(0);
  const int threadIdx_x = (int)get_local_id(0);
  float C_local[4] __attribute__((aligned(16)));
  ((__private float4*)C_local)[0] = (float4)(0.0f);
  for (int k_1 = 0; k_1 < 16; ++k_1) {
    const float4 A_texture_texel = read_imagef(A_texture, tl_sampler, (int2)(blockIdx_x * 2 + threadIdx_x / 4, k_1));
    C_local[0] = C_local[0] + A_texture_texel.x;
    C_local[1] = C_local[1] + A_texture_texel.y;
  }
  vstore4(((__private float4*)C_local)[0], 0, C + (blockIdx_x * 32 + threadIdx_x * 4));
}
)");
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
