// Tests compiling a program of kernels to sources.
#include "compile/module.h"

#include <gtest/gtest.h>

#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::Expr;
using ir::kFloat32;

TEST(Module, OneSourceForEachKernel) {
  const ir::Buffer x = global("x", kFloat32, 64), y = global("y", kFloat32, 64);
  TestKernel first, second;
  first.name = "scale";
  const Expr b = first.axis("blockIdx.y", 4), t = first.axis("threadIdx.x", 16);
  second.name = "exp";  // a function of OpenCL C
  ir::Program program = first.program(put(y, b * 16 + t, at(x, b * 16 + t) * ir::make_float(2)));
  program.kernels.push_back(second.program(put(y, ir::make_int(0), ir::make_float(7))).kernels[0]);
  program.body = ir::make_seq({ir::make_launch(0), ir::make_launch(1)});

  const compile::CompiledModule module = compile::generate(program, {});
  EXPECT_EQ(module.program.stage, ir::ProgramStage::Legalized);
  EXPECT_TRUE(module.program.body.same_as(program.body));
  ASSERT_EQ(module.kernels.size(), 2U);
  const compile::CompiledKernel& scale = module.kernels[0];
  EXPECT_EQ(scale.name, "scale");
  EXPECT_TRUE(is_int(scale.grid[0], 1) && is_int(scale.grid[1], 4) && is_int(scale.grid[2], 1));
  EXPECT_EQ(scale.block, (std::array<int64_t, 3>{16, 1, 1}));
  ASSERT_EQ(scale.params.size(), 2U);
  EXPECT_TRUE(scale.params[0].buffer.same_as(y));
  EXPECT_EQ(scale.params[1].access, ir::Access::Read);
  EXPECT_EQ(module.kernels[1].name, "v_exp");
  EXPECT_NE(module.kernels[1].code->bytes.find("void v_exp("), std::string::npos);

  std::vector<HostArray> arguments = {HostArray::of(std::vector<float>(64)),
                                      HostArray::of(std::vector<float>(64, 3))};
  run(scale, arguments);
  EXPECT_EQ(arguments[0].as<float>(), std::vector<float>(64, 6));
  arguments.pop_back();
  run(module.kernels[1], arguments);
  std::vector<float> expected(64, 6);
  expected[0] = 7;
  EXPECT_EQ(arguments[0].as<float>(), expected);
}

// An offset is computed in 64 bits if an intermediate value exceeds int32.
TEST(Module, OffsetsOfSixtyFourBits) {
  const ir::Buffer x = global("x", kFloat32, 64), y = global("y", kFloat32, 64);
  TestKernel kernel;
  const Expr t = make_cast(ir::kInt64, kernel.axis("threadIdx.x", 16));
  constexpr int64_t kFar = int64_t{1} << 33;
  const Expr offset = t * (kFar + 1) - t * kFar;
  const ir::Program program = kernel.program(put(y, offset, at(x, offset + 1)));
  EXPECT_NE(source_of(program).find("y[(long)threadIdx_x * 8589934593L"), std::string::npos)
      << source_of(program);
  std::vector<float> values(64);
  for (size_t i = 0; i < 64; ++i) values[i] = static_cast<float>(i);
  std::vector<HostArray> arguments = {HostArray::of(std::vector<float>(64)), HostArray::of(values)};
  run(program, arguments);
  EXPECT_EQ(arguments[0].as<float>()[15], 16);
}

// Scalars are parameters, like the origins of textures.
TEST(Module, ScalarsAreArguments) {
  TestKernel kernel;
  kernel.scalars = {ir::make_var("x"), ir::make_var("y")};
  const ir::Buffer t = texture("t", kFloat32, 2, 2), out = global("out", kFloat32, 4);
  const ir::Program program = kernel.program(
      put_vector(out, ir::make_int(0), texel(t, kernel.scalars[0], kernel.scalars[1])));
  std::vector<float> texels(16);
  for (size_t i = 0; i < 16; ++i) texels[i] = static_cast<float>(i);
  std::vector<HostArray> arguments = {HostArray::of(std::vector<float>(4)), HostArray::of(texels),
                                      HostArray::of(std::vector<int32_t>{1}),
                                      HostArray::of(std::vector<int32_t>{0})};
  run(program, arguments);
  EXPECT_EQ(arguments[0].as<float>(), (std::vector<float>{4, 5, 6, 7}));
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
