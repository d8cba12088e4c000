// Tests the spelling of element functions in OpenCL C.
#include "codegen/opencl/intrinsics.h"

#include <gtest/gtest.h>

namespace texloom::codegen::opencl {
namespace {

TEST(OpenCLIntrinsics, HaveNames) {
  EXPECT_EQ(function_name(ir::Intrinsic::Exp), "exp");
  EXPECT_EQ(function_name(ir::Intrinsic::Abs), "fabs");
  EXPECT_EQ(function_name(ir::Intrinsic::Nearbyint), "rint");
  EXPECT_EQ(function_name(ir::Intrinsic::Power), "pow");
  EXPECT_EQ(function_name(ir::Intrinsic::NativePowr), "native_powr");
  EXPECT_EQ(function_name(ir::Intrinsic::Clz), "clz");
}

}  // namespace
}  // namespace texloom::codegen::opencl
