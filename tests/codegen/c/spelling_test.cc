// Tests the spelling of types, literals and operators.
#include "codegen/c/spelling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/check.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::kFloat32;
using ir::kInt32;
using ir::kInt64;
using ir::Type;

TEST(Spelling, ValueTypes) {
  EXPECT_EQ(value_type_name(ir::kBool), "bool");
  EXPECT_EQ(value_type_name(Type::i(8)), "char");
  EXPECT_EQ(value_type_name(Type::i(16)), "short");
  EXPECT_EQ(value_type_name(kInt32), "int");
  EXPECT_EQ(value_type_name(kInt64), "long");
  EXPECT_EQ(value_type_name(Type::u(8)), "uchar");
  EXPECT_EQ(value_type_name(Type::u(16)), "ushort");
  EXPECT_EQ(value_type_name(Type::u(32)), "uint");
  EXPECT_EQ(value_type_name(Type::u(64)), "ulong");
  EXPECT_EQ(value_type_name(kFloat32), "float");
  EXPECT_EQ(value_type_name(Type::f(64)), "double");
  EXPECT_EQ(value_type_name(Type::f(16).with_lanes(8)), "half8");
  EXPECT_EQ(value_type_name(kFloat32.with_lanes(4)), "float4");
  EXPECT_EQ(value_type_name(Type::u(8).with_lanes(16)), "uchar16");
}

TEST(Spelling, MemoryTypes) {
  EXPECT_EQ(memory_type_name(Type::f(16)), "half");
  EXPECT_EQ(memory_type_name(ir::kBool), "uchar");
  EXPECT_EQ(memory_type_name(Type::f(64)), "double");
  EXPECT_EQ(memory_type_name(Type::u(16)), "ushort");
  EXPECT_THROW(value_type_name(Type::i(24)), InternalError);
}

std::string text(int64_t value, Type type) {
  return literal(*as<ir::IntImm>(ir::make_int(value, type)));
}

TEST(Spelling, IntegerLiterals) {
  EXPECT_EQ(text(0, kInt32), "0");
  EXPECT_EQ(text(-5, kInt32), "-5");
  EXPECT_EQ(text(2147483647, kInt32), "2147483647");
  EXPECT_EQ(text(-2147483647 - 1, kInt32), "(-2147483647 - 1)");
  EXPECT_EQ(text(4294967295, Type::u(32)), "4294967295u");
  EXPECT_EQ(text(2147483648, Type::u(32)), "2147483648u");
  EXPECT_EQ(text(7, kInt64), "7L");
  EXPECT_EQ(text(-7, kInt64), "-7L");
  EXPECT_EQ(text(-2147483648, kInt64), "-2147483648L");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min(), kInt64), "(-9223372036854775807L - 1L)");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min(), Type::u(64)), "9223372036854775808UL");
  EXPECT_EQ(text(-1, Type::u(64)), "18446744073709551615UL");
  EXPECT_EQ(text(-128, Type::i(8)), "(char)-128");
  EXPECT_EQ(text(200, Type::u(8)), "(uchar)200");
  EXPECT_EQ(text(-3, Type::i(16)), "(short)-3");
  EXPECT_EQ(text(1, ir::kBool), "true");
  EXPECT_EQ(text(0, ir::kBool), "false");
}

std::string float_text(double value, Type type = kFloat32) {
  return literal(*as<ir::FloatImm>(ir::make_float(value, type)));
}

TEST(Spelling, FloatLiterals) {
  EXPECT_EQ(float_text(1), "1.0f");
  EXPECT_EQ(float_text(-0.0), "-0.0f");
  EXPECT_EQ(float_text(0.1), "0.1f");
  EXPECT_EQ(float_text(1e-10), "1e-10f");
  EXPECT_EQ(float_text(16777216), "16777216.0f");
  EXPECT_EQ(float_text(1e30), "1e+30f");
  EXPECT_EQ(float_text(0.099975586, Type::f(16)), "0.099975586h");
  EXPECT_EQ(float_text(-2, Type::f(16)), "-2.0h");
  EXPECT_EQ(float_text(0.1, Type::f(64)), "0.1");
  EXPECT_EQ(float_text(2, Type::f(64)), "2.0");
  EXPECT_EQ(float_text(1.0 / 3, Type::f(64)), "0.3333333333333333");
  EXPECT_EQ(float_text(1.0 / 3), "0.33333334f");
}

TEST(Spelling, NotFiniteLiterals) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(float_text(infinity), "INFINITY");
  EXPECT_EQ(float_text(-infinity), "-INFINITY");
  EXPECT_EQ(float_text(std::nan("")), "NAN");
  EXPECT_EQ(float_text(infinity, Type::f(64)), "(double)INFINITY");
  EXPECT_EQ(float_text(-infinity, Type::f(16)), "(half)-INFINITY");
  EXPECT_EQ(float_text(-infinity, Type::f(64)), "(double)-INFINITY");
}

TEST(Spelling, Lanes) {
  EXPECT_EQ(lane_suffix(2, 0), ".x");
  EXPECT_EQ(lane_suffix(4, 1), ".y");
  EXPECT_EQ(lane_suffix(4, 2), ".z");
  EXPECT_EQ(lane_suffix(4, 3), ".w");
  EXPECT_EQ(lane_suffix(8, 3), ".s3");
  EXPECT_EQ(lane_suffix(16, 10), ".sa");
  EXPECT_EQ(lane_suffix(16, 15), ".sf");
}

TEST(Spelling, FloorOperationsAreNoOperators) {
  EXPECT_THROW(operator_spelling(BinaryOp::FloorDiv, kInt32), InternalError);
  EXPECT_THROW(operator_spelling(BinaryOp::FloorMod, kInt32), InternalError);
}

// The device reads each literal as the value that it stands for.
TEST(Spelling, LiteralsKeepTheirValues) {
  const std::vector<float> floats = {0.1F,
                                     -0.0F,
                                     1e-45F,
                                     std::numeric_limits<float>::max(),
                                     1.0F / 3,
                                     1.17549435e-38F,
                                     -std::numeric_limits<float>::infinity(),
                                     16777217.0F};
  const std::vector<int64_t> longs = {std::numeric_limits<int64_t>::min(), -1, 2147483648,
                                      -2147483648};
  const ir::Buffer f = global("f", kFloat32, 8), l = global("l", kInt64, 4);
  ir::Stmts stores;
  for (size_t i = 0; i < floats.size(); ++i) {
    stores.push_back(put(f, ir::make_int(static_cast<int64_t>(i)), ir::make_float(floats[i])));
  }
  for (size_t i = 0; i < longs.size(); ++i) {
    stores.push_back(put(l, ir::make_int(static_cast<int64_t>(i)), ir::make_int(longs[i], kInt64)));
  }
  std::vector<HostArray> arguments = {HostArray::of(std::vector<float>(8)),
                                      HostArray::of(std::vector<int64_t>(4))};
  run(TestKernel().program(make_seq(stores)), arguments);
  EXPECT_EQ(arguments[0].bytes, HostArray::of(floats).bytes);
  EXPECT_EQ(arguments[1].as<int64_t>(), longs);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
