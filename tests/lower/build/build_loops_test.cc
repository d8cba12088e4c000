// Tests building loops from schedules: nests, attached stages, guards.
#include "lower/build/build_loops.h"

#include <gtest/gtest.h>

#include "ir/visit.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Expr;
using ir::Exprs;
using ir::make_int;
using ir::Tensor;

std::string built_loops(const Te& te, const std::vector<Tensor>& arguments) {
  return after("build_loops", te, arguments);
}

TEST(BuildLoops, OneStage) {
  const Tensor a = placeholder("A", {4, 6}), b = plus_one(a, "B");
  EXPECT_EQ(built_loops(Te({b}), {a, b}),
            "nest B {\n"
            "  for i < 4 {\n"
            "    for j < 6 {\n"
            "      B[i, j] = A[i, j] + 1.0\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(BuildLoops, Parameters) {
  const Tensor a = placeholder("A", {4}), b = plus_one(a, "B");
  Lowering lowering = lowering_of(Te({b}), {b, a});
  run_to(lowering, "build_loops");
  ASSERT_EQ(lowering.program.params.size(), 2U);
  EXPECT_EQ(lowering.program.params[0]->name, "B");
  EXPECT_EQ(lowering.program.params[1]->name, "A");
}

// A root stage that is not an argument is a temporary of the program; an attached stage is not.
TEST(BuildLoops, Temporaries) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = plus_one(a, "B"), c = plus_one(b, "C"), d = plus_one(c, "D");
  Lowering lowering = lowering_of(Te({d}), {a, c, d});
  run_to(lowering, "build_loops");
  ASSERT_EQ(lowering.program.temporaries.size(), 1U);
  EXPECT_EQ(lowering.program.temporaries.front()->name, "B");
  EXPECT_EQ(to_string(lowering.program.body),
            "nest B {\n"
            "  for i < 4 {\n"
            "    B[i] = A[i] + 1.0\n"
            "  }\n"
            "}\n"
            "nest C {\n"
            "  for i.1 < 4 {\n"
            "    C[i.1] = B[i.1] + 1.0\n"
            "  }\n"
            "}\n"
            "nest D {\n"
            "  for i.2 < 4 {\n"
            "    D[i.2] = C[i.2] + 1.0\n"
            "  }\n"
            "}\n");
}

TEST(BuildLoops, LoopKinds) {
  const Tensor a = placeholder("A", {2, 4, 8}), b = plus_one(a, "B");
  Te te({b});
  te.bind(b, te.axis(b, 0), "threadIdx.y");
  te.unroll(b, te.axis(b, 1));
  te.vectorize(b, te.axis(b, 2));
  EXPECT_EQ(built_loops(te, {a, b}),
            "nest B {\n"
            "  thread<threadIdx.y> i < 2 {\n"
            "    unrolled j < 4 {\n"
            "      vectorized k < 8 {\n"
            "        B[i, j, k] = A[i, j, k] + 1.0\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// The source line of a loop is that of its directive or, without a directive, that of its axis.
TEST(BuildLoops, Lines) {
  const Tensor a = placeholder("A", {2, 4, 8}), b = plus_one(a, "B");
  Te te({b});
  te.bind(b, te.axis(b, 0), "threadIdx.y", 31);
  te.unroll(b, te.axis(b, 1), 32);
  Lowering lowering = lowering_of(te, {a, b});
  run_to(lowering, "build_loops");
  std::vector<int> lines;
  ir::walk(
      lowering.program.body, [&](const ir::Nest& n) { lines.push_back(n.location.line); },
      [&](const ir::For& n) { lines.push_back(n.location.line); },
      [&](const ir::Store& n) { lines.push_back(n.location.line); });
  EXPECT_EQ(lines, (std::vector<int>{4, 31, 32, 2, 4}));
}

// Producers come before their readers, at the start of the loop body.
TEST(BuildLoops, AttachedStages) {
  const Tensor a = placeholder("A", {8, 16});
  const Tensor b = plus_one(a, "B"), c = plus_one(b, "C"), d = plus_one(c, "D");
  Te te({d});
  te.bind(d, te.axis(d, 0), "blockIdx.x");
  te.compute_at(b, d, te.axis(d, 0));
  te.compute_at(c, d, te.axis(d, 0));
  EXPECT_EQ(built_loops(te, {a, d}),
            "nest D {\n"
            "  thread<blockIdx.x> i < 8 {\n"
            "    buffer.alloca B: shared float32[1, 16]\n"
            "    for i.1 < 1 {\n"
            "      for j < 16 {\n"
            "        B[0, j] = A[i, j] + 1.0\n"
            "      }\n"
            "    }\n"
            "    buffer.alloca C: shared float32[1, 16]\n"
            "    for i.2 < 1 {\n"
            "      for j.1 < 16 {\n"
            "        C[0, j.1] = B[0, j.1] + 1.0\n"
            "      }\n"
            "    }\n"
            "    for j.2 < 16 {\n"
            "      D[i, j.2] = C[0, j.2] + 1.0\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Stages are attached to a loop of another stage even if that loop was split or fused later.
TEST(BuildLoops, AttachedToASplitLoop) {
  const Tensor a = placeholder("A", {16}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({c});
  te.compute_at(b, c, te.axis(c, 0));
  te.set_scope(b, "local");
  te.split(c, te.axis(c, 0), 4);
  EXPECT_EQ(built_loops(te, {a, c}),
            "nest C {\n"
            "  for i.outer < 4 {\n"
            "    for i.inner < 4 {\n"
            "      buffer.alloca B: local float32[1]\n"
            "      for i < 1 {\n"
            "        B[0] = A[i.outer * 4 + i.inner] + 1.0\n"
            "      }\n"
            "      C[i.outer * 4 + i.inner] = B[0] + 1.0\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(BuildLoops, InlinedStages) {
  const Tensor a = placeholder("A", {4}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({c});
  te.compute_inline(b);
  EXPECT_EQ(built_loops(te, {a, c}),
            "nest C {\n  for i < 4 {\n    C[i] = A[i] + 1.0 + 1.0\n  }\n}\n");
}

TEST(BuildLoops, Guards) {
  const Tensor a = placeholder("A", {10, 10}), b = plus_one(a, "B");
  Te te({b});
  te.split(b, te.axis(b, 0), 4);
  te.split(b, te.axis(b, 1), 3);
  EXPECT_EQ(built_loops(te, {a, b}),
            "nest B {\n"
            "  for i.outer < 3 {\n"
            "    for i.inner < 4 {\n"
            "      for j.outer < 4 {\n"
            "        for j.inner < 3 {\n"
            "          if j.outer * 3 + j.inner < 10 && i.outer * 4 + i.inner < 10 {\n"
            "            B[i.outer * 4 + i.inner, j.outer * 3 + j.inner] = "
            "A[i.outer * 4 + i.inner, j.outer * 3 + j.inner] + 1.0\n"
            "          }\n"
            "        }\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Indices are int32, and relative to the part of the stage that is computed.
TEST(BuildLoops, IndicesOfReads) {
  const Tensor a = placeholder("A", {20}), x = placeholder("X", {8}, ir::Type::i(64));
  const Tensor b = plus_one(a, "B");
  const Tensor c =
      compute("C", {8}, [&](const Exprs& i) { return at(b, {i[0] + 3}) + at(a, {at(x, i)}); });
  EXPECT_EQ(built_loops(Te({c}), {a, x, c}),
            "nest B {\n"
            "  for i < 8 {\n"
            "    B[i] = A[i + 3] + 1.0\n"
            "  }\n"
            "}\n"
            "nest C {\n"
            "  for i.1 < 8 {\n"
            "    C[i.1] = B[i.1] + A[int32(X[i.1])]\n"
            "  }\n"
            "}\n");
}

// -- Points outside the tensor, which need no guard if computing them is harmless.

// C is split in parts of four, the last of which extends past the end; B with this body is
// attached.
template <class F>
std::string attached(std::string_view scope, const std::vector<Tensor>& inputs, F body) {
  const Tensor b = compute("B", {10}, [&](const Exprs& i) { return body(i[0]); });
  const Tensor c = plus_one(b, "C");
  Te te({c});
  const auto [outer, inner] = te.split(c, te.axis(c, 0), 4);
  te.compute_at(b, c, outer);
  te.set_scope(b, scope);
  const std::string text = built_loops(te, inputs);
  const size_t begin = text.find("for i < 4 {\n") + 12;
  return text.substr(begin, text.find("for i.inner") - begin);
}

TEST(BuildLoops, RunsAnywhereWhereNothingCanFault) {
  const Tensor a = placeholder("A", {12}), small = placeholder("A", {10});
  const auto read_from = [](const Tensor& t) {
    return [t](const Expr& i) { return at(t, {i}) * ir::make_float(3); };
  };
  const std::string store = "B[i] = A[i.outer * 4 + i] * 3.0\n";
  const std::string end = "    }\n    ";
  const std::string guarded =
      "      if i.outer * 4 + i < 10 {\n        " + store + "      }\n" + end;
  EXPECT_EQ(attached("local", {a}, read_from(a)), "      " + store + end);
  EXPECT_EQ(attached("local", {small}, read_from(small)), guarded);
  EXPECT_EQ(attached("shared", {a}, read_from(a)), guarded);
}

// A[11] would be read at i.outer = 2 and i = 3.
TEST(BuildLoops, FirstElementOutside) {
  const Tensor a = placeholder("A", {11});
  EXPECT_NE(attached("local", {a}, [&](const Expr& i) { return at(a, {i}); }).find("if "),
            std::string::npos);
}

// If the loops of B run past the end of its local buffer, its stores need a guard. Elements inside
// of the buffer are inside of B, too, which needs no other guard.
TEST(BuildLoops, LoopsBeyondALocalBuffer) {
  const Tensor a = placeholder("A", {80});
  const Tensor b = compute("B", {64}, [&](const Exprs& i) { return at(a, i); });
  const Tensor c = plus_one(b, "C");
  Te te({c});
  const auto [outer, inner] = te.split(c, te.axis(c, 0), 4);
  te.compute_at(b, c, outer);
  te.set_scope(b, "local");
  te.split(b, te.axis(b, 0), 3);
  const std::string text = built_loops(te, {a, c});
  EXPECT_NE(text.find("if i.outer.1 * 3 + i.inner < 4 {"), std::string::npos) << text;
}

TEST(BuildLoops, TexturesMayBeReadAnywhere) {
  const Tensor a = placeholder("A", {10, 4}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({c});
  te.set_scope(a, "texture");
  const auto [outer, inner] = te.split(c, te.axis(c, 0), 4);
  te.compute_at(b, c, outer);
  te.set_scope(b, "local");
  const std::string text = built_loops(te, {a, c});
  EXPECT_NE(text.find("for j < 4 {\n        B[i, j] = A[i.outer * 4 + i, j] + 1.0\n"),
            std::string::npos)
      << text;
}

// A division by a variable may divide by zero; a division by a constant, or of floats, is safe.
TEST(BuildLoops, DivisionsOutside) {
  const Tensor n = placeholder("N", {12}, ir::kInt32), x = placeholder("X", {12});
  const auto is_guarded = [&](const Tensor& t, ir::BinaryOp op, const Expr& divisor) {
    const std::string text = attached("local", {t}, [&](const Expr& i) {
      return make_binary(op, at(t, {i}), divisor ? divisor : at(t, {i}));
    });
    return text.find("if ") != std::string::npos;
  };
  using enum ir::BinaryOp;
  for (const ir::BinaryOp op : {Div, Mod, FloorDiv, FloorMod}) {
    EXPECT_TRUE(is_guarded(n, op, nullptr)) << spelling(op);
    EXPECT_FALSE(is_guarded(n, op, make_int(3))) << spelling(op);
  }
  EXPECT_FALSE(is_guarded(n, Mul, nullptr));
  EXPECT_FALSE(is_guarded(n, Min, nullptr));
  EXPECT_FALSE(is_guarded(x, Div, nullptr));
}

}  // namespace
}  // namespace texloom::lower
