#include "ir/type.h"

#include <gtest/gtest.h>

namespace texloom::ir {
namespace {

struct NamedType {
  std::string name;
  Type type;
  int64_t bytes;
};

const std::vector<NamedType>& all_types() {
  static const std::vector<NamedType> kTypes = {
      {"bool", {TypeCode::UInt, 1, 1}, 1},        {"int8", {TypeCode::Int, 8, 1}, 1},
      {"int16", {TypeCode::Int, 16, 1}, 2},       {"int32", {TypeCode::Int, 32, 1}, 4},
      {"int64", {TypeCode::Int, 64, 1}, 8},       {"uint8", {TypeCode::UInt, 8, 1}, 1},
      {"uint16", {TypeCode::UInt, 16, 1}, 2},     {"uint32", {TypeCode::UInt, 32, 1}, 4},
      {"uint64", {TypeCode::UInt, 64, 1}, 8},     {"float16", {TypeCode::Float, 16, 1}, 2},
      {"float32", {TypeCode::Float, 32, 1}, 4},   {"float64", {TypeCode::Float, 64, 1}, 8},
      {"bfloat16", {TypeCode::BFloat, 16, 1}, 2},
  };
  return kTypes;
}

TEST(Type, NamesGoBothWays) {
  for (const auto& [name, type, bytes] : all_types()) {
    EXPECT_EQ(to_string(type), name);
    EXPECT_EQ(parse_type(name), type) << name;
    EXPECT_EQ(type.bytes(), bytes) << name;
    for (int lanes = 2; lanes <= 16; ++lanes) {
      const std::string vector = name + "x" + std::to_string(lanes);
      EXPECT_EQ(to_string(type.with_lanes(lanes)), vector);
      EXPECT_EQ(parse_type(vector), type.with_lanes(lanes)) << vector;
    }
  }
}

TEST(Type, OtherTextsNameNoType) {
  for (const char* text : {"",
                           "int",
                           "int3",
                           "int33",
                           "Int32",
                           " int32",
                           "int32 ",
                           "float",
                           "float8",
                           "uint1",
                           "x4",
                           "int32x",
                           "int32x0",
                           "int32x1",
                           "int32x65",
                           "int32x99",
                           "int32x160",
                           "int32x4x4",
                           "int32x-4",
                           "int32x4 ",
                           "int32xx4",
                           "int32*4",
                           "int8x18446744073709551620",
                           "unknown",
                           "boolx",
                           "float32:",
                           "float32x4/",
                           "handle"}) {
    EXPECT_EQ(parse_type(text), std::nullopt) << text;
  }
}

TEST(Type, WithoutAName) {
  EXPECT_EQ(to_string(Type::i(24)), "unknown");
  EXPECT_EQ(to_string(Type{TypeCode::BFloat, 32, 1}), "unknown");
}

TEST(Type, Classes) {
  for (const auto& [name, type, bytes] : all_types()) {
    const bool is_float = name.find("float") != std::string::npos;
    const bool is_bool = name == "bool";
    EXPECT_EQ(type.is_float(), is_float) << name;
    EXPECT_EQ(type.is_bool(), is_bool) << name;
    EXPECT_EQ(type.is_integer(), !is_float && !is_bool) << name;
    EXPECT_EQ(type.is_int(), name.starts_with("int")) << name;
    EXPECT_EQ(type.is_uint(), is_bool || name.starts_with("uint")) << name;
    EXPECT_TRUE(type.is_scalar()) << name;
    const Type vector = type.with_lanes(4);
    EXPECT_FALSE(vector.is_scalar()) << name;
    EXPECT_EQ(vector.lanes, 4) << name;
    EXPECT_EQ(vector.element(), type) << name;
    EXPECT_NE(vector, type) << name;
    EXPECT_EQ(vector.bytes(), bytes) << name;
  }
}

TEST(Type, Constants) {
  EXPECT_EQ(kInt32, Type::i(32));
  EXPECT_EQ(kInt64, Type::i(64));
  EXPECT_EQ(kFloat32, Type::f(32));
  EXPECT_EQ(kBool, Type::boolean());
  EXPECT_EQ(Type(), kInt32);
  EXPECT_EQ(to_string(Type::u(8)), "uint8");
}

}  // namespace
}  // namespace texloom::ir
