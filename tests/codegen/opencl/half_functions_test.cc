// Tests the conversions between float32 and float16 that have no value of OpenCL's type half: one
// function for each type and width.
#include "codegen/opencl/half_functions.h"

#include <gtest/gtest.h>

#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::kFloat32;
using ir::Type;

TEST(RoundHalf, OfScalarsAndVectors) {
  Prelude prelude;
  EXPECT_EQ(round_to_half(prelude, kFloat32), "tl_round_half_float");
  EXPECT_EQ(round_to_half(prelude, Type::f(64).with_lanes(4)), "tl_round_half_double4");
  EXPECT_EQ(prelude.text(),
            "float4 tl_round_half_double4(double4 x) {\n"
            "  ushort h[4];\n"
            "  vstore_half4_rte(x, 0, (__private half*)h);\n"
            "  return vload_half4(0, (__private const half*)h);\n"
            "}\n\n"
            "float tl_round_half_float(float x) {\n"
            "  ushort h[1];\n"
            "  vstore_half_rte(x, 0, (__private half*)h);\n"
            "  return vload_half(0, (__private const half*)h);\n"
            "}\n\n");
  EXPECT_EQ(build_log("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + prelude.text()), "");
}

TEST(HalvesInMemory, AreVectorsOfIntegers) {
  Prelude prelude;
  EXPECT_EQ(widen_halves(prelude, 4), "tl_widen_half4");
  EXPECT_EQ(narrow_to_halves(prelude, kFloat32.with_lanes(2)), "tl_narrow_half_float2");
  EXPECT_EQ(prelude.text(),
            "ushort2 tl_narrow_half_float2(float2 x) {\n"
            "  ushort2 h;\n"
            "  vstore_half2_rte(x, 0, (__private half*)&h);\n"
            "  return h;\n"
            "}\n\n"
            "float4 tl_widen_half4(ushort4 h) {\n"
            "  return vload_half4(0, (__private const half*)&h);\n"
            "}\n\n");
  EXPECT_EQ(build_log(prelude.text()), "");
}

TEST(RoundToOdd, SetsTheLastBitOfInexactResults) {
  Prelude prelude;
  EXPECT_EQ(round_to_odd(prelude, 2), "tl_round_to_odd2");
  EXPECT_EQ(round_to_odd(prelude, 1), "tl_round_to_odd");
  EXPECT_EQ(prelude.text(),
            "float tl_round_to_odd(double x) {\n"
            "  const float f = convert_float_rtz(x);\n"
            "  const uint inexact = convert_uint(convert_double(f) != x) & 1u;\n"
            "  return as_float(as_uint(f) | inexact);\n"
            "}\n\n"
            "float2 tl_round_to_odd2(double2 x) {\n"
            "  const float2 f = convert_float2_rtz(x);\n"
            "  const uint2 inexact = convert_uint2(convert_double2(f) != x) & 1u;\n"
            "  return as_float2(as_uint2(f) | inexact);\n"
            "}\n\n");
  EXPECT_EQ(build_log("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + prelude.text()), "");
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
