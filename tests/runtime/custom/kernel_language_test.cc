// Tests the text that a source kernel becomes in each kernel language.
#include "runtime/custom/kernel_language.h"

#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

using hal::ElementType;
using ::testing::HasSubstr;

class KernelLanguage : public ::testing::Test {
 protected:
  std::vector<hal::KernelCode> codes(std::string_view body) {
    auto made = codes_of({.name = "k",
                          .body = body,
                          .arguments = arguments,
                          .tensors = tensors,
                          .numbers = numbers,
                          .limits = {5, 0, 0}});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : std::vector<hal::KernelCode>();
  }
  // Returns the kernel's text in a language; empty if there is none.
  std::string code(KernelFormat format, std::string_view body) {
    for (const hal::KernelCode& each : codes(body))
      if (each.format == format) return each.code;
    return {};
  }

  std::vector<OperatorArgument> arguments = {
      {.name = "t", .storage = ArgumentStorage::Texture},
      {.name = "b", .storage = ArgumentStorage::Buffer},
      {.name = "u", .access = Access::Write, .storage = ArgumentStorage::Texture}};
  std::vector<TensorSpec> tensors = {texture_of_elements("t"), buffer_of_elements("b"),
                                     texture_of_elements("u")};
  std::vector<hal::ConstantParam> numbers = {{"l", ElementType::Float32}};
};

TEST_F(KernelLanguage, OpenClC) {
  const std::string text = code(KernelFormat::OpenClC, "(float4)(1);");
  EXPECT_THAT(text, HasSubstr("__kernel void k(__read_only image2d_t t, int t_tl_x, int t_tl_y, "
                              "__global const float* b, __write_only image2d_t u, int u_tl_x, "
                              "int u_tl_y, float l) {\n  if (tl_global_id(0) >= 5) return;\n"));
}

// Buffers and textures are numbered separately; the constants are a struct after the last buffer.
TEST_F(KernelLanguage, Msl) {
  const std::string text = code(KernelFormat::Msl, "tl_store(u, 0, 0, tl_load(t, 0, 0) * l);");
  EXPECT_THAT(text, HasSubstr("struct tl_constants {\n  int t_tl_x;\n  int t_tl_y;\n  int u_tl_x;\n"
                              "  int u_tl_y;\n  float l;\n};\n"));
  EXPECT_THAT(text, HasSubstr("kernel void k(texture2d<float, access::read> t [[texture(0)]], "
                              "device const float* b [[buffer(0)]], "
                              "texture2d<float, access::write> u [[texture(1)]], "
                              "constant tl_constants& tl_given [[buffer(1)]], "));
  EXPECT_THAT(text,
              HasSubstr("  const float l = tl_given.l;\n  if (tl_global_id(0) >= 5) return;"));
}

TEST_F(KernelLanguage, WhatALanguageLacks) {
  EXPECT_EQ(code(KernelFormat::Msl, "(float4)(1, 2, 3, 4);"), "");
  tensors[1].element = ElementType::Float64;
  EXPECT_EQ(code(KernelFormat::Msl, ""), "");
  EXPECT_THAT(code(KernelFormat::OpenClC, ""), HasSubstr("cl_khr_fp64"));
}

}  // namespace
}  // namespace texloom::runtime
