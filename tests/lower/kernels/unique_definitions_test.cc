// Repeated definitions get new variables and arrays.
#include "lower/kernels/unique_definitions.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::Expr;
using ir::global;
using ir::local;
using ir::make_int;
using ir::put;
using ir::shared;
using ir::Stmt;

class UniqueDefinitions : public ::testing::Test {
 protected:
  static std::string unique(const Stmt& body) { return to_string(unique_definitions(body)); }
  ir::Buffer c = global("c", ir::kInt32, 64);
  Expr i = ir::make_var("i"), j = ir::make_var("j");
};

// A statement whose definitions are already unique is returned unchanged.
TEST_F(UniqueDefinitions, KeepsExpressionsOfUniqueDefinitions) {
  const Expr value = i + j;
  const Stmt body = unique_definitions(
      make_for(i, make_int(4), ir::LoopKind::Unrolled, make_let(j, i, put(c, i, value))));
  EXPECT_EQ(to_string(body), "unrolled i < 4 {\n  let j: int32 = i\n  c[i] = i + j\n}\n");
  EXPECT_TRUE(as<ir::Store>(as<ir::Let>(as<ir::For>(body)->body)->body)->value.same_as(value));
}

TEST_F(UniqueDefinitions, RenamesLoops) {
  const Stmt loop = make_for(i, make_int(4), ir::LoopKind::Serial, put(c, i, i));
  EXPECT_EQ(unique(ir::make_seq({loop, loop, loop})),
            "for i < 4 {\n  c[i] = i\n}\n"
            "for i.1 < 4 {\n  c[i.1] = i.1\n}\n"
            "for i.2 < 4 {\n  c[i.2] = i.2\n}\n");
}

TEST_F(UniqueDefinitions, RenamesLets) {
  const Stmt let = make_let(i, at(c, 1), put(c, i, i * i));
  EXPECT_EQ(unique(ir::make_seq({let, let})),
            "{\n  let i: int32 = c[1]\n  c[i] = i * i\n}\n"
            "let i.1: int32 = c[1]\nc[i.1] = i.1 * i.1\n");
}

// Extents and values are outside the scope of the definition: here `i` is the outer loop's
// variable.
TEST_F(UniqueDefinitions, ExtentsAndValuesAreOutside) {
  const Stmt inner = ir::make_seq(
      {make_for(j, i, ir::LoopKind::Serial, put(c, j, i)), make_let(j, i + 1, put(c, j, i))});
  const Stmt body = make_for(i, make_int(4), ir::LoopKind::Serial, inner);
  EXPECT_EQ(unique(ir::make_seq({body, body})),
            "for i < 4 {\n  for j < i {\n    c[j] = i\n  }\n"
            "  let j.1: int32 = i + 1\n  c[j.1] = i\n}\n"
            "for i.1 < 4 {\n  for j.2 < i.1 {\n    c[j.2] = i.1\n  }\n"
            "  let j.3: int32 = i.1 + 1\n  c[j.3] = i.1\n}\n");
}

TEST_F(UniqueDefinitions, RenamesArraysOfAThread) {
  const ir::Buffer a = local("a", ir::kInt32, 4);
  const Stmt body = make_allocate(
      a, ir::make_seq({put(a, make_int(0), at(c, 1)), put(c, make_int(1), at(a, 0) + at(c, 2))}));
  EXPECT_EQ(unique(ir::make_seq({body, body})),
            "{\n  buffer.alloca a: local int32[4]\n  a[0] = c[1]\n  c[1] = a[0] + c[2]\n}\n"
            "buffer.alloca a.1: local int32[4]\na.1[0] = c[1]\nc[1] = a.1[0] + c[2]\n");
}

// All threads of a block share one array, which is allocated once.
TEST_F(UniqueDefinitions, KeepsSharedArrays) {
  const ir::Buffer a = shared("a", ir::kInt32, 4);
  const Stmt body = make_allocate(a, put(a, make_int(0), at(c, 1)));
  EXPECT_EQ(unique(ir::make_seq({body, body})),
            "{\n  buffer.alloca a: shared int32[4]\n  a[0] = c[1]\n}\n"
            "buffer.alloca a: shared int32[4]\na[0] = c[1]\n");
}

// A renaming ends with its scope: expressions rewritten inside are not reused outside.
TEST_F(UniqueDefinitions, MeaningsEndWithTheirScope) {
  const Expr square = i * i;
  const Stmt set = put(c, make_int(0), square);
  const Stmt loop = make_for(i, make_int(4), ir::LoopKind::Serial, set);
  const Stmt let = make_let(i, make_int(7), set);
  EXPECT_EQ(unique(ir::make_seq({loop, let, loop})),
            "for i < 4 {\n  c[0] = i * i\n}\n"
            "{\n  let i.1: int32 = 7\n  c[0] = i.1 * i.1\n}\n"
            "for i.2 < 4 {\n  c[0] = i.2 * i.2\n}\n");
}

// `i` is renamed and restored while `j` is renamed.
TEST_F(UniqueDefinitions, NestedMeanings) {
  const Expr sum = i + j;
  const Stmt set = put(c, make_int(0), sum);
  const Stmt inner = make_for(i, make_int(2), ir::LoopKind::Serial, set);
  const Stmt outer = make_for(j, make_int(3), ir::LoopKind::Serial, ir::make_seq({inner, inner}));
  EXPECT_EQ(unique(ir::make_seq({outer, outer})),
            "for j < 3 {\n  for i < 2 {\n    c[0] = i + j\n  }\n"
            "  for i.1 < 2 {\n    c[0] = i.1 + j\n  }\n}\n"
            "for j.1 < 3 {\n  for i.2 < 2 {\n    c[0] = i.2 + j.1\n  }\n"
            "  for i.3 < 2 {\n    c[0] = i.3 + j.1\n  }\n}\n");
}

// Replaces variables in all kinds of statements, between two copies of an array.
TEST_F(UniqueDefinitions, ReplacesInAllStatements) {
  const ir::Buffer t = ir::texture("t", ir::kFloat32, 4, 4);
  const Stmt body = make_let(
      i, at(c, 1),
      ir::make_seq({make_if(i < make_int(3), put(c, i, i)),
                    make_texture_store(t, i, i, make_broadcast(make_cast(ir::kFloat32, i), 4))}));
  EXPECT_EQ(unique(ir::make_seq({body, body})),
            "{\n  let i: int32 = c[1]\n  if i < 3 {\n    c[i] = i\n  }\n"
            "  texture2d.store(t, x=i, y=i, x4(float32(i)): float32x4)\n}\n"
            "let i.1: int32 = c[1]\nif i.1 < 3 {\n  c[i.1] = i.1\n}\n"
            "texture2d.store(t, x=i.1, y=i.1, x4(float32(i.1)): float32x4)\n");
}

}  // namespace
}  // namespace texloom::lower
