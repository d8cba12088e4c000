// Tests C identifiers for tensors and axes with arbitrary names.
#include "codegen/c/names.h"

#include <gtest/gtest.h>

#include "codegen/opencl/reserved_words.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

class NamesTest : public ::testing::Test {
 protected:
  // Makes an identifier for a new owner.
  std::string identifier(std::string_view name) { return names_.of(&owners_[next_++], name); }

 private:
  Names names_{reserved_words()};
  std::array<char, 64> owners_{};
  size_t next_ = 0;
};

TEST_F(NamesTest, KeepsWhatIsAnIdentifier) {
  EXPECT_EQ(identifier("conv2d_Out9"), "conv2d_Out9");
  EXPECT_EQ(identifier("azAZ_09"), "azAZ_09");
  EXPECT_EQ(identifier("image"), "image");
}

TEST_F(NamesTest, ReplacesOtherCharacters) {
  EXPECT_EQ(identifier("X.texture"), "X_texture");
  EXPECT_EQ(identifier("a-b c"), "a_b_c");
  EXPECT_EQ(identifier("\xc3\xa4"), "v___");    // two bytes of UTF-8
  EXPECT_EQ(identifier("`{@[/:"), "v_______");  // the neighbors of letters and digits in ASCII
}

TEST_F(NamesTest, BeginsWithALetterOrUnderscore) {
  EXPECT_EQ(identifier("0"), "_0");
  EXPECT_EQ(identifier("9x"), "_9x");
  EXPECT_EQ(identifier(""), "_");
}

// If several owners have the same name, numbers tell them apart; names in use are skipped.
TEST_F(NamesTest, TellsOwnersApart) {
  EXPECT_EQ(identifier("i"), "i");
  EXPECT_EQ(identifier("i_1"), "i_1");
  EXPECT_EQ(identifier("i"), "i_2");
  EXPECT_EQ(identifier("i"), "i_3");
  EXPECT_EQ(identifier("i.1"), "i_1_1");
}

TEST_F(NamesTest, RemembersOwners) {
  Names names(reserved_words());
  const int a = 0, b = 0;
  EXPECT_EQ(names.of(&a, "x"), "x");
  EXPECT_EQ(names.of(&b, "x"), "x_1");
  EXPECT_EQ(names.of(&a, "another"), "x");
}

TEST_F(NamesTest, AvoidsReservedNames) {
  EXPECT_EQ(identifier("kernel"), "v_kernel");
  EXPECT_EQ(identifier("float"), "v_float");
  EXPECT_EQ(identifier("float4"), "v_float4");
  EXPECT_EQ(identifier("uchar16"), "v_uchar16");
  EXPECT_EQ(identifier("select"), "v_select");
  EXPECT_EQ(identifier("read_imagef"), "v_read_imagef");
  EXPECT_EQ(identifier("vload4"), "v_vload4");
  EXPECT_EQ(identifier("auto"), "v_auto");
  EXPECT_EQ(identifier("write_mem_fence"), "v_write_mem_fence");
  EXPECT_EQ(identifier("work_group_barrier"), "v_work_group_barrier");
  EXPECT_EQ(identifier("__local"), "v___local");
  EXPECT_EQ(identifier("tl_sampler"), "v_tl_sampler");
  EXPECT_EQ(identifier("bool"), "v_bool");
  EXPECT_EQ(identifier("ushort3"), "v_ushort3");
  EXPECT_FALSE(reserved_words().contains("floats"));
  EXPECT_FALSE(reserved_words().contains("x4"));
  EXPECT_FALSE(reserved_words().contains("kernels"));
  EXPECT_FALSE(reserved_words().contains("expo"));
}

// A kernel compiles even if all its names are reserved in OpenCL C.
TEST_F(NamesTest, ReservedNamesCompile) {
  TestKernel kernel;
  kernel.name = "main";
  kernel.axes.push_back({{true, 0}, ir::make_var("get_group_id"), ir::make_int(4)});
  const ir::Buffer in = texture("image2d_t", ir::kFloat32, 4, 4);
  const ir::Buffer out = global("write_imagef", ir::kFloat32, 16);
  const ir::Buffer array = local("float4", ir::kFloat32, 4);
  const ir::Expr i = ir::make_var("int"),
                 v = ir::make_var("CLK_FILTER_NEAREST", ir::kFloat32.with_lanes(4));
  const ir::Stmt body =
      make_let(v, texel(in, i, kernel.axes[0].var),
               ir::make_seq({put(array, i, lane(v, 0) + lane(v, 1)), put(out, i, at(array, i))}));
  const std::string source =
      code(kernel, make_allocate(array, make_for(i, ir::make_int(4), ir::LoopKind::Serial, body)));
  EXPECT_NE(source.find("v_write_imagef[v_int] = v_float4[v_int];"), std::string::npos) << source;
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
