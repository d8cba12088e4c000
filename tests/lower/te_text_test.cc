// The text form of stage te: printed texts parse back, and errors have locations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/print_names.h"
#include "tests/ir/text/mutator.h"
#include "tests/lower/passes.h"
#include "tests/lower/te_texts.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::IterVar;
using ir::Tensor;

TEST(TeText, PrintsWhatItReads) {
  for (const std::string_view text : kTeTexts) {
    EXPECT_EQ(to_string(parse_lowering(text, "p.tl")), text);
  }
}

// Comments, white space and a partial reorder: only their meaning survives.
TEST(TeText, ByHand) {
  const char* text = R"(program p stage=te target="opencl" param A param B  // both
placeholder A: int32[4, 4]  compute B(i < 4, j < 2 + 2): int32 = A[j, i] + (1 + 2)
output reorder j, i bind j threadIdx.x)";
  EXPECT_EQ(to_string(parse_lowering(text, "p.tl")), R"(program p stage=te target="opencl"
  param A
  param B

placeholder A: int32[4, 4]

compute B(i < 4, j < 4): int32 = A[j, i] + 3
  output
  reorder j, i
  bind j threadIdx.x
)");
}

// Two stages, two axes or two reducers may have the same name.
TEST(TeText, TellsNamesApart) {
  const Tensor a = placeholder("A", {8, 8}), other = placeholder("A", {8, 8}, ir::kInt32);
  const auto sum_over = [](const Tensor& t, const ir::Expr& i) {
    const IterVar k = reduce_axis("i", 8);
    return sum(at(t, {i, k->var}), {k});
  };
  const Tensor b = compute("B", {8}, [&](const Exprs& i) { return sum_over(a, i[0]); });
  const Tensor c = compute("B", {8}, [&](const Exprs& i) { return sum_over(other, i[0]); });
  Te te({b, c});
  te.split(c, te.axis(c, 0), 4);
  te.split(c, te.reduction(c), 2);
  const Lowering lowering = lowering_of(te, {a, other});
  EXPECT_EQ(to_string(lowering), R"(program main stage=te target="opencl"
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
  reducer sum.1(lhs, rhs): int32 = lhs + rhs, identity=0
  param A
  param A.1
  param B
  param B.1

placeholder A: float32[8, 8]

compute B(i < 8): float32 = reduce(sum, [i.1 < 8], A[i, i.1])
  output

placeholder A.1: int32[8, 8]

compute B.1(i < 8): int32 = reduce(sum.1, [i.1 < 8], A.1[i, i.1])
  output
  split i factor=4 -> i.outer, i.inner
  split i.1 factor=2 -> i.outer.1, i.inner.1
)");
  expect_te_round_trip(lowering, {.locations = true});
}

TEST(TeText, Locations) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({c});
  te.split(c, te.axis(c, 0), 4);
  te.compute_at(b, c, te.stage(c).leaves[0]);
  te.unroll(b, te.axis(b, 0));
  te.set_scope(b, "local");
  Lowering lowering = lowering_of(te, {a});
  lowering.arguments[0].declaration = declaration("texture", {8});
  EXPECT_EQ(to_string(lowering, {.locations = true}),
            R"(program main stage=te target="opencl" @"te.py":90
  param A: float32[8] in texture @"te.py":80
  param C

placeholder A: float32[8] @"te.py":1

compute B(i < 8 @"te.py":2): float32 = A[i] + 1.0 @"te.py":4
  scope local @"te.py":21
  compute_at C, i.outer @"te.py":18
  unroll i @"te.py":17

compute C(i < 8 @"te.py":2): float32 = B[i] + 1.0 @"te.py":4
  output
  split i factor=4 -> i.outer, i.inner @"te.py":2
)");
  expect_te_round_trip(lowering, {.locations = true});
}

// Variables of a declared shape are symbols of the program, whether the tensor uses them or not.
TEST(TeText, DeclarationsOfSymbolicShapes) {
  const ir::Expr n = ir::make_var("n");
  const Tensor a =
      output_of(schedule::make_placeholder("A", ir::kFloat32, {n}, schedule::testing::line(1)));
  Lowering lowering = lowering_of(Te({plus_one(placeholder("B", {8}), "C")}), {a});
  lowering.arguments[0].declaration = declaration("global", {8});
  lowering.arguments[0].declaration->shape = {n, ir::make_var("m") + n};
  const std::string text = to_string(lowering);
  EXPECT_EQ(text.substr(0, text.find("\n\n")), R"(program main stage=te target="opencl"
  symbol n: int32
  symbol m: int32
  param A placeholder float32[n]: float32[n, m + n] in global
  param C)");
  expect_te_round_trip(lowering);
}

TEST(TeText, OfLayoutsIsLoweredToTheSame) {
  Lowering lowering = parse_lowering(kLayoutText, "p.tl");
  const Lowering first = lowering;
  run_to(lowering, pipeline().back().name);
  EXPECT_EQ(ir::to_string(lowering.program.params[0]->layout),
            "texture[(d0, d1) -> rows=(d1/4), cols=(d0), lanes=(d1%4)]");
  EXPECT_EQ(lowering.array_layouts[1].shape, (ir::Shape{1, 10, 6}));
}

// The parser accepts an argument that is not in the schedule and a removed loop; lowering refuses
// them.
TEST(TeText, OfSchedulesThatLoweringRefuses) {
  const Tensor a = placeholder("A", {8, 6}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({c});
  te.compute_at(b, c, te.axis(c, 0));
  te.fuse(c, {te.axis(c, 0), te.axis(c, 1)});
  const Lowering lowering = lowering_of(te, {a, plus_one(a, "other")});
  expect_te_round_trip(lowering, {.locations = true});
  EXPECT_THAT(to_string(lowering), ::testing::HasSubstr("  param other compute float32[8, 6]\n"));
  EXPECT_EQ(faults([&] { lower(lowering); }), faults([&] {
              lower(parse_lowering(to_string(lowering, {.locations = true}), "p.tl"));
            }));
}

// -- Errors.

// "code line:column message"
std::string error_of(const std::string& text) {
  try {
    parse_lowering(text, "p.tl");
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_FALSE(d.help.empty());
    EXPECT_FALSE(d.line_text.empty() && d.location.line > 1) << error.what();
    return fmt::format("{} {}:{} {}", code_text(d.code), d.location.line, d.location.column,
                       d.message);
  }
  return "no error";
}
// An error in line 2 of a program.
std::string error_in_head(const std::string& words) {
  return error_of("program p stage=te target=\"opencl\"\n" + words + "\n");
}
// An error in line 5, after the compute B(i < 8, j < 4) of A in line 4, and before C.
std::string error_in(const std::string& directive) {
  return error_of(
      "program p stage=te target=\"opencl\"\n"
      "reducer sum(a, b): float32 = a + b, identity=0.0 "
      "reducer plus(a, b, n: int32): float32 = a + b, identity=float32(n)\n"
      "placeholder A: float32[8, 4]\n"
      "compute B(i < 8, j < 4): float32 = reduce(sum, [k < 4], A[i, k])\n" +
      directive + "\ncompute C(i < 8, j < 4): float32 = B[i, j]\n");
}

struct Case {
  std::string text, error;
};

TEST(TeTextErrors, OfTheHead) {
  EXPECT_EQ(error_of("program p stage=te\n"),
            "TL6001 1:19 expected 'target', found the end of the text");
  EXPECT_EQ(error_of("program p stage=te target=\"cuda\"\n"),
            "TL4003 1:27 no kernels are made for the target 'cuda'");
  const Case cases[] = {
      {"symbol n: float32x4", "TL6002 2:11 the symbol n has the type float32x4"},
      {"reducer r(a, a): int32 = a + a, identity=0", "TL6002 2:14 the name a is used twice"},
      {"reducer r(a, b): int32 = a < b, identity=0", "TL6002 2:26 the result is bool, not int32"},
      {"reducer r(a, b): int32 = a + c, identity=0", "TL6002 2:30 there is no variable c here"},
      {"reducer r(a, b): int32 = a + b, identity=a", "TL6002 2:42 there is no variable a here"},
      {"reducer r(a, b, a: int32): int32 = a + b, identity=0",
       "TL6002 2:11 the name a is used twice"},
      {"reducer r(a, b, n: int32, n: int32): int32 = a + b, identity=0",
       "TL6002 2:27 the name n is used twice"},
      {"reducer r(a, b): int32x4 = a + b, identity=0", "TL6002 2:18 the reducer combines vectors"},
      {"reducer r(tuple(a, b), c): tuple(int32, int8) = tuple(a, b), identity=0",
       "TL6002 2:28 the reducer has 2 left and 1 right operands, and 2 types"},
      {"reducer r(tuple(a, b), tuple(c, b)): tuple(int32, int8) = tuple(a, b), identity=0",
       "TL6002 2:33 the name b is used twice"},
      {"reducer r(tuple(a, b), tuple(c, d)): tuple(int32, int8) = a, identity=0",
       "TL6002 2:59 the result has 1 values, not 2"},
      {"reducer r(tuple(a, b), tuple(c, d)): tuple(int32, int8) = tuple(a, b), identity=tuple(0, "
       "1)",
       "TL6002 2:81 the identity is int32, not int8"},
      {"reducer r(a, b): tuple = a, identity=0", "TL6001 2:24 expected '(', found '='"},
      {"reducer r(a, b): int32 = a + b", "TL6001 2:31 expected ',', found the end of the text"},
      {"reducer r(a, b): int32 = a, identity=0 reducer r(a, b): int32 = b, identity=0",
       "TL6002 2:48 r is a reducer already"},
      {"param A", "TL6002 2:7 there is no tensor A here"},
      {"param A: float32[8] in textures", "TL6002 2:24 unknown memory scope textures"},
      {"param A: float32[8] in texture, fold",
       "TL6001 2:33 expected 'layout', 'origin', 'exact_image' or 'name', found 'fold'"},
      {"symbol n: int32 param A: float32[n] in texture, layout=texture[(c) -> cols=(c/4)]",
       "TL2017 2:77 the parts of axis c leave out c%4"},
      {"symbol n: int32 param A: float32[n] in global, layout=buffer[(c) -> cols=(c)]",
       "TL2017 2:55 the layout of a buffer has an extent that is known only at the call"},
      {"param A: float32[8]", "TL6001 2:20 expected 'in', found the end of the text"},
      {"param A compute float32x4[8]", "TL6002 2:17 an element is float32x4, not a scalar"},
      {"for i < 3 { }",
       "TL6001 2:1 expected 'placeholder', 'compute', 'extern' or 'scan', found 'for'"},
      {"param A: float32[8] in texture, layout=texture[(c) -> cols=(c/4)]",
       "TL2017 2:61 the parts of axis c leave out c%4"},
      {"param A: float32[8] in global, layout=texture[(c) -> cols=(c/4), lanes=(c%4)]",
       "TL2017 2:39 a layout of kind 'texture' does not fit the scope 'global'"},
      {"placeholder A: float32[8] placeholder A: float32[8]", "TL6002 2:39 A is a tensor already"},
      {"placeholder A: float32[m]", "TL6002 2:24 there is no variable m here"},
      {"placeholder A: float32[2147483648]", "TL6002 2:24 2147483648 does not fit int32"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(error_in_head(c.text), c.error) << c.text;
  }
}

TEST(TeTextErrors, OfIntrinsics) {
  const std::string start = "intrinsic f reads a: global float32[4]";
  const std::string whole = start + " writes b: global float32[4] computes (i < 4) = a[i]";
  const Case cases[] = {
      {start, "TL6001 2:39 expected 'computes', found the end of the text"},
      {start + " strides=(s", "TL6001 2:50 expected ')', found the end of the text"},
      {start + " strides=(-1)", "TL6001 2:49 expected a stride, found '-'"},
      {start + " offset=1", "TL6001 2:47 expected the name of a variable, found '1'"},
      {start + " reads a: global float32[4] computes", "TL6002 2:46 a is a tensor already"},
      {start + " offset=o multiple=0",
       "TL6002 2:58 '0' is out of range for a factor of the offset"},
      {start + " in nowhere", "TL6002 2:43 unknown memory scope nowhere"},
      {"intrinsic f scalar a: float32 reads a: global float32[4]", "TL6002 2:37 a is a variable"},
      {"intrinsic f scalar s: float32 scalar s: int32",
       "TL6002 2:38 s is int32 here and float32 before"},
      {whole, "TL6001 2:91 expected 'body', found the end of the text"},
      {whole + " body { b[0] = s }", "TL6002 2:106 there is no variable s here"},
      {whole + " body { b[4] = 0.0 }",
       "TL1021 2:11 tensor intrinsic 'f': b[4] = 0.0: index 4 is out of bounds for axis 0 of 'b' "
       "(0 to 3)"},
      {whole + " body { } " + whole + " body { }", "TL6002 2:111 f is an intrinsic already"},
      {"intrinsic f writes b: local float32[4] computes (i < 4) = 1.0 body { }",
       "TL1021 2:11 tensor intrinsic 'f': the buffer 'b' is not row-major in global memory"},
      {"intrinsic f scalar s: float32 writes b: global float32[4] computes (i < 4) = 1.0 body { }",
       "TL1021 2:11 tensor intrinsic 'f': its computation does not use the scalar s"},
      {"intrinsic f scalar s: float32 scalar s: float32 writes b: global float32[4] "
       "computes (i < 4) = s body { }",
       "TL1021 2:11 tensor intrinsic 'f': its scalar s is named twice"},
      {"intrinsic f scalar s: float32x4 writes b: global float32[4] computes (i < 4) = 1.0 body { "
       "}",
       "TL1021 2:11 tensor intrinsic 'f': its scalar s is not a variable of a scalar type"},
      {"intrinsic f computes (i < 4) = 1.0 body { }",
       "TL1021 2:11 tensor intrinsic 'f': it has more or fewer buffers than tensors"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_in_head(c.text), c.error) << c.text;
}

TEST(TeTextErrors, OfComputes) {
  const Case cases[] = {
      {"compute D(i < 8): float32 = X[i]", "TL6002 5:29 there is no tensor X here"},
      {"compute D(i < 8): float32 = D[i]", "TL6002 5:29 there is no tensor D here"},
      {"compute D(i < 8): float32 = C[i, 0]", "TL6002 5:29 there is no tensor C here"},
      {"compute D(i < 8): float32 = A[i]", "TL6002 5:29 A has 2 axes, not 1"},
      {"compute D(i < 8): float32 = A[i, 1.0]",
       "TL6002 5:29 an index of A is float32, not an integer"},
      {"compute D(i < 8): int32 = A[i, 0]",
       "TL6002 5:19 D is declared int32, but its expression is float32"},
      {"compute D(i < 8, i < 8): int32 = i", "TL6002 5:18 i is an axis already"},
      {"compute D(i: float32 < 8): int32 = 1", "TL6002 5:12 the axis i is float32"},
      {"compute D(i = 8): int32 = 1", "TL6001 5:13 expected '<' or 'from', found '='"},
      {"compute D(i from 2 extent 8): int32 = 1", "TL6002 5:11 the axis i does not begin at 0"},
      {"compute D(i < 8.0): int32 = 1",
       "TL6002 5:15 the extent is float32, which does not fit an axis"},
      {"compute D(i < int32(A[0, 0])): int32 = 1", "TL6002 5:15 the extent depends on a tensor"},
      {"compute D(i < reduce(sum, [k < 2], A[0, k])): int32 = 1",
       "TL6002 5:15 the extent is float32, which does not fit an axis"},
      {"compute D(i < 8): float32 = k", "TL6002 5:29 there is no variable k here"},
      {"compute D(i < 8): float32 = reduce(max, [k < 8], A[i, k])",
       "TL6002 5:36 there is no reducer max"},
      {"compute D(i < 8): float32 = reduce(sum(i), [k < 8], A[i, k])",
       "TL6002 5:29 the reducer takes 0 variables, not 1"},
      {"compute D(i < 8): float32 = reduce(plus, [k < 8], A[i, k])",
       "TL6002 5:29 the reducer takes 1 variables, not 0"},
      {"compute D(i < 8): float32 = reduce(plus(k), [k < 8], A[i, k])",
       "TL6002 5:41 there is no variable k here"},
      {"compute D(i: int64 < 8): float32 = reduce(plus(i), [k < 8], A[i, k])",
       "TL6002 5:36 the reducer takes a variable of type int32, not int64"},
      {"compute D(i < 8): float32 = reduce(sum, [], A[i, k])",
       "TL6001 5:42 expected the name of an axis, found ']'"},
      {"compute D(i < 8): float32 = reduce(sum, [k < 8, k < 8], A[i, k])",
       "TL6002 5:49 k is an axis already"},
      {"compute D(i < 8): float32 = reduce(sum, [i < 8], A[i, 0])",
       "TL6002 5:29 i is an axis already"},
      {"compute D(i < 8): int32 = reduce(sum, [k < 8], k)",
       "TL6002 5:27 the reducer combines float32, not int32"},
      {"compute D(i < 8): float32 = reduce(sum, [k < 8], A[i, k], where=k)",
       "TL6002 5:29 the condition of reduce is int32, not bool"},
      {"compute D(i < 8): float32 = 1.0 + reduce(sum, [k < 8], A[i, k])",
       "TL1004 5:29 'D' has a reduction inside its expression; only the whole expression may be "
       "a reduction"},
      {"compute D(i < 8): float32 = A[i, 0] origin = i",
       "TL6002 5:46 D is declared float32, but its expression is int32"},
      {"compute D(i < 8): float32 = reduce(sum, [k < 8], tuple(A[i, k], 1.0))",
       "TL6002 5:29 the reducer combines 1 at once, but 2 are given"},
      {"compute D(i < 8): float32 = reduce(sum, [k < 8], A[i, k], init=i)",
       "TL6002 5:29 the reducer combines float32, not int32"},
      {"compute D(i < 8): float32 = reduce(sum, [k < 8], A[i, k], init=A[i, k])",
       "TL1004 5:29 the reduction of 'D' starts from a value that uses its axis 'k'"},
      {"compute D(i < 8): float32 = reduce(sum, [k < 8], A[i, k], init=1.0, where=true)",
       "TL6001 5:69 expected ')', found 'where'"},
      {"compute D(i < 8): float32 = tuple(A[i, 0], A[i, 1])",
       "TL6002 5:19 D has 1 types, but its expression has 2 values"},
      {"compute D(i < 8): tuple(float32, int32) = tuple(A[i, 0], A[i, 1])",
       "TL6002 5:19 D is declared int32, but its expression is float32"},
      {"compute D(i < 8): float32 = tuple()", "TL6002 5:29 a tuple has 1 to 64 values, not 0"},
      {"compute D(i < 8): float32 = 1.0 + tuple(A[i, 0], A[i, 1])",
       "TL6002 5:35 there is no function 'tuple'"},
      {"compute D(i < 8): float32 = A#1[i, 0]", "TL6002 5:29 A has 1 output, no number 1"},
      {"compute D(i < 8): float32 = A#64[i, 0]",
       "TL6002 5:31 '64' is out of range for the number of an output"},
      {"compute D(i < 8): float32 = x4(1.0).lane[i]",
       "TL6002 5:29 the expression computes vectors"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_in(c.text), c.error) << c.text;
}

TEST(TeTextErrors, OfDirectives) {
  const Case cases[] = {
      {"tile i",
       "TL6001 5:1 expected a directive, 'placeholder', 'compute', 'extern' or 'scan', found "
       "'tile'"},
      {"scope textures", "TL6002 5:7 unknown memory scope textures"},
      {"inline", "TL2012 5:1 cannot inline 'B': it is a reduction"},
      {"tensorize i f", "TL6002 5:13 there is no tensor intrinsic f"},
      {"compute_at D, i", "TL6002 5:12 there is no tensor D here"},
      {"compute_at A, i", "TL6002 5:15 'A' has no axis i"},
      {"compute_at C, k", "TL6002 5:15 'C' has no axis k"},
      {"compute_at B, i", "TL2013 5:12 'B' cannot be computed at its own loop 'i'"},
      {"compute_at C, i compute_at C, j", "TL6002 5:17 'B' is attached already"},
      {"compute_at C, i output", "TL6002 5:17 'B' is attached already"},
      {"split x factor=4 -> a, b", "TL6002 5:7 'B' has no axis x"},
      {"split i by=4 -> a, b", "TL6001 5:9 expected 'factor' or 'nparts', found 'by'"},
      {"split i factor=0 -> a, b", "TL6002 5:16 '0' is out of range for factor"},
      {"split i factor=4 -> j, b", "TL6002 5:21 j is an axis already"},
      {"split i factor=4 -> a, a", "TL6002 5:24 both parts are named a"},
      {"split i factor=4 -> a, b split i factor=2 -> c, d",
       "TL2005 5:26 split on the stage of 'B': the axis 'i' has already been split into 'a' and "
       "'b'"},
      {"bind i blockIdx.x split i factor=4 -> a, b",
       "TL2016 5:19 cannot split 'i' of 'B': it is already bound to blockIdx.x"},
      {"unroll i split i factor=4 -> a, b",
       "TL6002 5:10 the axis 'i' of 'B' was unrolled and is now split, which drops the annotation"},
      {"vectorize i fuse i, j -> f",
       "TL6002 5:13 the axis 'i' of 'B' was vectorized and is now fused, which drops the "
       "annotation"},
      {"fuse i, i -> f", "TL2009 5:1 cannot fuse 'i' with itself"},
      {"fuse i -> f", "TL6001 5:8 expected ',', found '->'"},
      {"reorder i, i", "TL2008 5:1 reorder names the axis 'i' twice"},
      {"bind k blockIdx.x",
       "TL2014 5:1 cannot bind the reduction axis 'k' to blockIdx.x: results cannot be combined "
       "across it"},
      {"bind i threadIdx",
       "TL6001 5:8 expected a thread index such as 'blockIdx.x', found 'threadIdx'"},
      {"vectorize k", "TL2010 5:1 cannot vectorize 'k' of 'B': it is a reduction axis"},
      {"scope local layout buffer[(i, j) -> cols=(j, i)]",
       "TL6001 5:20 expected '=', found 'buffer'"},
      {"scope local layout=buffer[(i, i) -> cols=(i)]", "TL6002 5:31 i is named twice"},
      {"scope local layout=buffer[(i, j) -> cols=(j, k)]", "TL6002 5:46 there is no axis k"},
      {"scope local layout=buffer[(i) -> cols=(i)]",
       "TL2017 5:20 the layout has 1 axes, but the shape has 2"},
      {"scope local layout=buffer[(i, j) -> cols=(j)]",
       "TL2017 5:28 the parts of axis i leave out i"},
      {"scope texture layout=texture[(i, j) -> rows=(i), cols=(j/2), lanes=(j%2)]",
       "TL2017 5:62 a texel has 4 lanes, not 2"},
      {"scope texture layout=image1d_buffer[(i, j) -> cols=(i), lanes=(j)]",
       "TL2017 5:22 no kernel accesses an object of kind 'image1d_buffer'"},
      {"scope shared layout=texture[(i, j) -> rows=(i), lanes=(j)]",
       "TL2017 5:21 a layout of kind 'texture' does not fit the scope 'shared'"},
      {"transform (i) -> (i)", "TL2017 5:11 the transform takes 1 axes, but the tensor has 2"},
      {"transform (i, i) -> (i)", "TL6002 5:15 i is named twice"},
      {"transform (i, j) -> (j, k)", "TL6002 5:25 there is no axis k"},
      {"transform (i, j) -> (j, i || j)", "TL6001 5:27 expected ',' or ')', found '||'"},
      {"transform (i, j) -> (j, i/0)", "TL6002 5:27 '0' is out of range for a divisor"},
      {"transform (i, j) -> (j)", "TL2017 5:12 the parts of axis i leave out i"},
      {"transform (i, j) -> (i/4, j, i)", "TL2017 5:30 the parts of axis i overlap: i and i/4"},
      {"transform (i, j) -> (i%281474976710656, j%281474976710656)",
       "TL2017 5:11 there are too many elements"},
      {"transform (i, j) -> (j, i) transform (i, j) -> (j, i)",
       "TL6002 5:28 'B' is transformed already"},
      {"unroll i bind i blockIdx.x", "TL6002 5:15 another directive already applies to i"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(error_in(c.text), c.error) << c.text;
  }
  EXPECT_EQ(error_of("program p stage=te target=\"opencl\"\nplaceholder A: int8[8]\nscope local\n"),
            "TL3009 3:7 cannot put the input 'A' in local memory: it is in the caller's memory");
  EXPECT_EQ(
      error_of("program p stage=te target=\"opencl\"\nplaceholder A: int8[8]\nfuse -> x\n"),
      "TL2015 3:1 cannot apply fuse to 'A': it is a placeholder and has no loops to schedule");
}

// Layouts of buffers need constant extents.
TEST(TeTextErrors, OfSymbolicShapes) {
  const auto error_of_n = [](const std::string& directive) {
    return error_of(
        "program p stage=te target=\"opencl\" symbol n: int32\n"
        "placeholder A: float32[n, 4]\n" +
        directive + "\n");
  };
  EXPECT_EQ(error_of_n("scope global layout=buffer[(i, j) -> cols=(j, i)]"),
            "TL2017 3:21 the layout of a buffer has an extent that is known only at the call");
  EXPECT_EQ(error_of_n("scope texture layout=texture[(i, j) -> rows=(j), lanes=(i)]"),
            "TL2017 3:50 the number of lanes of a texel is known only at the call");
  EXPECT_EQ(error_of_n("transform (i, j) -> (j, i)"),
            "TL1001 3:1 the shape of 'A' has the extent n, which is not a positive constant");
}

// Refuses loops too deep for lowering, and texts that would take too long to check.
TEST(TeTextErrors, OfSize) {
  std::string axes = "i < 1", splits, sum = "a + b";
  for (int i = 0; i < 1000; ++i) axes += fmt::format(", i{} < 1", i);
  EXPECT_THAT(error_in("compute D(" + axes + "): int32 = 1"),
              ::testing::EndsWith(" more than 1000 axes nest loops too deeply"));
  for (int i = 0; i < 2500; ++i) {
    splits += fmt::format("split {} factor=1 -> o{}, x{}\n",
                          i == 0 ? "i" : fmt::format("x{}", i - 1), i, i);
  }
  EXPECT_THAT(error_in(splits), ::testing::EndsWith(" 'B' has more than 4000 axes"));
  for (int i = 0; i < 500; ++i) sum += " + a";
  EXPECT_EQ(error_in_head("reducer r(a, b): int32 = " + sum + ", identity=0"),
            "TL6002 2:26 the result has more than 1000 parts");
}

// -- Mutations.

constexpr int kMutations = 20'000;  // tried once with 100'000

// Parsing and lowering randomly mutated texts gives schedules or diagnostics, never crashes.
TEST(TeTextMutations, AreSchedulesOrDiagnostics) {
  ir::Mutator mutator(1, kTeTexts);
  int schedules = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutator.changed();
    SCOPED_TRACE(text);
    try {
      Lowering lowering = parse_lowering(text, "p.tl");
      ++schedules;
      const ir::PrintOptions options{.locations = i % 2 == 1};
      const std::string printed = to_string(lowering, options);
      ASSERT_EQ(to_string(parse_lowering(printed, "p.tl"), options), printed);
      lower(std::move(lowering));
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      ASSERT_FALSE(d.message.empty());
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
  // Both outcomes occur.
  EXPECT_GT(schedules, kMutations / 20);
  EXPECT_LT(schedules, kMutations / 2);
}

}  // namespace
}  // namespace texloom::lower
