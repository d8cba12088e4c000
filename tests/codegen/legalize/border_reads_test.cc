// Tests which textures need a sampler because a read may be outside the image.
#include "codegen/c/border_reads.h"

#include <gtest/gtest.h>

#include "tests/codegen/kernels.h"

namespace texloom::codegen::msl {
namespace {

using ir::Expr;
using ir::kFloat32;
using ir::make_int;
using ir::Stmt;
using opencl::testing::TestKernel;

class BorderReads : public ::testing::Test {
 protected:
  ir::Buffer t = ir::texture("t", kFloat32, 16, 8), y = ir::global("y", kFloat32, 64);
  TestKernel kernel;
  Expr i = kernel.axis("threadIdx.x", 16);

  bool found(const Stmt& body) const {
    return textures_with_border(kernel.program(body).kernels.front()).contains(t.get());
  }
  Expr read(const Expr& x, const Expr& y_coordinate) const {
    return ir::lane(ir::texel(t, x, y_coordinate), 0);
  }
};

TEST_F(BorderReads, IntervalsOfAxesAndLoops) {
  const Expr k = ir::make_var("k");
  const auto loop = [&](int64_t extent) {
    return make_for(k, make_int(extent), ir::LoopKind::Serial, ir::put(y, i, read(i, k)));
  };
  EXPECT_FALSE(found(loop(8)));
  EXPECT_TRUE(found(loop(9)));
  EXPECT_TRUE(found(ir::put(y, i, read(i - 1, make_int(0)))));
  EXPECT_TRUE(found(ir::put(y, i, read(i + 1, make_int(0)))));
}

// A guard proves nothing about reads outside of its branch.
TEST_F(BorderReads, Guards) {
  const Expr inside = i + 1 < make_int(16), zero = ir::make_float(0);
  const Expr guarded = make_select(inside, read(i + 1, make_int(0)), zero);
  EXPECT_FALSE(found(ir::put(y, i, guarded)));
  EXPECT_TRUE(found(ir::put(y, i, make_select(inside, zero, read(i + 1, make_int(0))))));
  EXPECT_FALSE(found(make_if(inside, ir::put(y, i, read(i + 1, make_int(0))))));
  const Expr v = ir::make_var("v", kFloat32);
  EXPECT_TRUE(found(make_let(v, read(i + 1, make_int(0)), make_if(inside, ir::put(y, i, v)))));
  // The same node is read with and without a guard.
  const Expr shared = read(i + 1, make_int(0));
  EXPECT_TRUE(found(ir::put(y, i, make_select(inside, shared, zero) + shared)));
}

// If an image holds several tensors, a read must stay inside the rectangle of its own tensor.
TEST_F(BorderReads, Origins) {
  const Expr x = ir::make_var("t.origin.x"), row = ir::make_var("t.origin.y");
  t = ir::make_texture("t", kFloat32, ir::texture_layout({8, 16, 4}, ir::TextureRule::Activation),
                       {x, row});
  kernel.scalars = {x, row};
  EXPECT_FALSE(found(ir::put(y, i, read(x + i, row + 7))));
  EXPECT_TRUE(found(ir::put(y, i, read(x + i, row + 8))));
  EXPECT_TRUE(found(ir::put(y, i, read(i, row))));
}

// The height of an image with an open layout is known only at the call, so no row is proven inside.
TEST_F(BorderReads, OpenLayouts) {
  t = ir::make_texture("t", kFloat32,
                       ir::texture_layout({ir::kToTheEnd, 16, 4}, ir::TextureRule::Activation), {});
  EXPECT_TRUE(found(ir::put(y, i, read(i, make_int(0)))));
}

}  // namespace
}  // namespace texloom::codegen::msl
