// Tests the checks of a source kernel's body that run before its compilation.
#include "runtime/custom/body_check.h"

#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

const std::vector<OperatorArgument> kArguments = {
    {.name = "b", .storage = ArgumentStorage::Buffer},
    {.name = "c", .access = Access::Write, .storage = ArgumentStorage::Buffer},
    {.name = "d", .access = Access::ReadWrite, .storage = ArgumentStorage::Buffer},
    {.name = "t", .storage = ArgumentStorage::Texture},
    {.name = "u", .access = Access::Write, .storage = ArgumentStorage::Texture}};

Status checked(std::string_view body) { return check_body(body, kArguments); }
auto says(const char* part) { return fails_with(StatusCode::InvalidArgument, part); }

TEST(BodyChecks, UsesThatFit) {
  TL_EXPECT_OK(
      checked("tl_texel(t) v = tl_load(t, tl_global_id(0), 0) * tl_get(b, tl_extent(b, 0));\n"
              "tl_store (u, tl_width( t ), tl_height(u), v); tl_put(d, 0, tl_get(d, 0));\n"
              "tl_type(c) z = 0; tl_put(c, 0, z);"));
}

TEST(BodyChecks, TheWordOfTheOtherStorage) {
  EXPECT_THAT(checked("int i;\nfloat v = tl_load(b, 0, 0).x;"),
              says("line 2 of the body: tl_load(b): \"b\" is a buffer, but the word is for "
                   "textures; help: use tl_get(b, i)"));
  EXPECT_THAT(checked("tl_get(t, 0)"), says("help: use tl_load(t, col, row)"));
  EXPECT_THAT(checked("tl_put(u, 0, 1)"), says("help: use tl_store(u, col, row, v)"));
  EXPECT_THAT(checked("tl_store(b, 0, 0, 1)"), says("help: declare \"b\" as \"write texture\""));
  EXPECT_THAT(checked("tl_width(d)"), says("help: use tl_extent(d, axis)"));
}

TEST(BodyChecks, AccessThatIsNotDeclared) {
  EXPECT_THAT(checked("tl_put(b, 0, 1)"),
              says("\"b\" is only read; help: declare it as \"read_write buffer\""));
  EXPECT_THAT(checked("tl_load(u, 0, 0)"),
              says("\"u\" is only written; help: declare it as \"read texture\""));
  EXPECT_THAT(checked("tl_get(e, 0)"),
              says("\"e\" is not an argument; help: the arguments are b, c, d, t, u"));
}

TEST(BodyChecks, VectorLiteralsOfOpenClC) {
  EXPECT_TRUE(has_vector_literal("float4 v = ( float4 ) (1, 2, 3, 4);"));
  EXPECT_TRUE(has_vector_literal("f((int2)(a, b))"));
  EXPECT_FALSE(has_vector_literal("float4 v = tl_four(t, 1, 2, 3, 4); (float4)v; f(x2)"));
  EXPECT_FALSE(has_vector_literal("// (float4)(1)\n(float)(1) + (v)(2) + float4(1)"));
}

// Comments, strings, longer names and macro definitions are not uses of a word.
TEST(BodyChecks, WhatIsNoUse) {
  TL_EXPECT_OK(checked("// tl_load(b, 0, 0)\n/* tl_load(b,\n 0, 0) */ int tl_loads(b), tl_load;"));
  TL_EXPECT_OK(checked("printf(\"tl_load(b)\\\"tl_load(b)\"); 't';"));
  TL_EXPECT_OK(checked("#define GET(a) tl_load(a, 0, 0)\nGET(t);"));
  EXPECT_THAT(checked("/* one\n */ tl_load(b, 0, 0)"), says("line 2"));
  TL_EXPECT_OK(checked("/* never closed tl_load(b, 0, 0)"));
  TL_EXPECT_OK(checked("\"never closed tl_load(b, 0, 0)\\"));
}

}  // namespace
}  // namespace texloom::runtime
