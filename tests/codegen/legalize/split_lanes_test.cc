// Tests which vectors are computed lane by lane, and which stay vectors.
#include "codegen/legalize/split_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "codegen/opencl/opencl_dialect.h"
#include "tests/codegen/kernels.h"

namespace texloom::codegen::opencl::testing {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::make_int;
using ir::Stmt;
using ir::Type;

class SplitLanes : public ::testing::Test {
 protected:
  static std::string split(const Stmt& body) {
    return to_string(split_lanes(body, opencl_dialect({})));
  }
  static Expr number(double value, int lanes) {
    return ir::make_const(value, kFloat32.with_lanes(lanes));
  }
  ir::Buffer x = global("x", kFloat32, 64), y = global("y", kFloat32, 64);
  ir::Buffer n = global("n", kInt32, 64);
  ir::Buffer t = texture("t", kFloat32, 8, 8);
  Expr i = ir::make_var("i"), j = ir::make_var("j");
};

TEST_F(SplitLanes, KeepsWidthsOfOpenCL) {
  for (const int lanes : {1, 2, 3, 4, 8, 16}) {
    const Stmt body = put_vector(y, i * lanes, vector_at(x, i, lanes) + number(1, lanes));
    EXPECT_EQ(split(body), to_string(body)) << lanes;
  }
}

TEST_F(SplitLanes, SplitsOtherWidths) {
  EXPECT_EQ(split(put_vector(y, i, vector_at(x, i * 5, 5) + number(1, 5))),
            "y[i] = x[i * 5] + 1.0\n"
            "y[i + 1] = x[i * 5 + 1] + 1.0\n"
            "y[i + 2] = x[i * 5 + 2] + 1.0\n"
            "y[i + 3] = x[i * 5 + 3] + 1.0\n"
            "y[i + 4] = x[i * 5 + 4] + 1.0\n");
  for (const int lanes : {6, 7, 9, 12, 15}) {
    const std::string text = split(put_vector(y, i, vector_at(x, i, lanes)));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), lanes);
  }
}

// If the store may overlap the loads, all lanes are read before the first is written.
TEST_F(SplitLanes, BindsLanesThatTheStoreWouldOverwrite) {
  EXPECT_EQ(split(put_vector(
                x, i + 1, ir::make_pack({at(x, i), at(x, i + 1), at(x, i), at(x, 3), at(x, 4)}))),
            "let x.index: int32 = i + 1\n"
            "let x.value: float32 = x[i]\n"
            "let x.index.1: int32 = i + 1 + 1\n"
            "let x.value.1: float32 = x[i + 1]\n"
            "let x.index.2: int32 = i + 1 + 2\n"
            "let x.value.2: float32 = x[i]\n"
            "let x.index.3: int32 = i + 1 + 3\n"
            "let x.value.3: float32 = x[3]\n"
            "let x.index.4: int32 = i + 1 + 4\n"
            "let x.value.4: float32 = x[4]\n"
            "x[x.index] = x.value\n"
            "x[x.index.1] = x.value.1\n"
            "x[x.index.2] = x.value.2\n"
            "x[x.index.3] = x.value.3\n"
            "x[x.index.4] = x.value.4\n");
}

// An index that is loaded from the stored buffer is bound before the store.
TEST_F(SplitLanes, BindsIndicesThatTheStoreWouldOverwrite) {
  EXPECT_EQ(split(make_store(n, {vector_at(n, i, 2)}, ir::make_const(7, kInt32.with_lanes(2)))),
            "let n.index: int32 = n[i]\n"
            "let n.value: int32 = 7\n"
            "let n.index.1: int32 = n[i + 1]\n"
            "let n.value.1: int32 = 7\n"
            "n[n.index] = n.value\n"
            "n[n.index.1] = n.value.1\n");
}

TEST_F(SplitLanes, GathersAndScatters) {
  EXPECT_EQ(split(put_vector(y, i, at(x, ramp(i, 2, 3)))),
            "y[ramp(i, 1, 2)] = pack(x[i], x[i + 3])\n");
  EXPECT_EQ(split(put_vector(y, i, at(x, vector_at(n, i, 2)))),
            "y[ramp(i, 1, 2)] = pack(x[n[i]], x[n[i + 1]])\n");
  EXPECT_EQ(split(put_vector(y, i, at(x, make_broadcast(j, 2)))), "y[ramp(i, 1, 2)] = x2(x[j])\n");
  EXPECT_EQ(split(make_store(y, {ramp(i, 2, 3)}, vector_at(x, j, 2))),
            "y[i] = x[j]\n"
            "y[i + 3] = x[j + 1]\n");
  EXPECT_EQ(split(make_store(y, {ir::make_pack({i, j})}, number(0, 2))),
            "y[i] = 0.0\ny[j] = 0.0\n");
}

// An inner ramp that is not an index becomes a pack.
TEST_F(SplitLanes, RampsThatAreNoIndexBecomePacks) {
  EXPECT_EQ(split(put_vector(n, i, ramp(j, 4, 2) + ir::make_const(1, kInt32.with_lanes(4)))),
            "n[ramp(i, 1, 4)] = pack(j, j + 2, j + 4, j + 6) + x4(1)\n");
}

TEST_F(SplitLanes, TrigonometryThatIsInexactForVectors) {
  const auto body = [&](ir::Intrinsic function) {
    return put_vector(y, i * 2, ir::make_call(function, {vector_at(x, i, 2)}));
  };
  EXPECT_EQ(split(body(ir::Intrinsic::Sin)),
            "y[ramp(i * 2, 1, 2)] = pack(sin(x[i]), sin(x[i + 1]))\n");
  EXPECT_EQ(split(body(ir::Intrinsic::Exp)), to_string(body(ir::Intrinsic::Exp)));
  Dialect exact = opencl_dialect({});
  exact.vector_trigonometry = true;
  EXPECT_EQ(to_string(split_lanes(body(ir::Intrinsic::Sin), exact)),
            to_string(body(ir::Intrinsic::Sin)));
}

TEST_F(SplitLanes, KeepsConstantLanes) {
  const Stmt body = put(y, i, lane(vector_at(x, i, 4) * number(2, 4), 3));
  EXPECT_EQ(split(body), to_string(body));
  const Stmt of_texel = put(y, i, lane(texel(t, i, j), 3));
  EXPECT_EQ(split(of_texel), to_string(of_texel));
}

// Out-of-range lanes under a condition become zero, because no language can spell them.
TEST_F(SplitLanes, LanesOutsideTheVector) {
  const Expr outside = lane(vector_at(x, i, 4) * number(2, 4), 4);
  EXPECT_EQ(split(put(y, i, make_select(i < j, outside, at(x, i)))),
            "y[i] = select(i < j, 0.0, x[i])\n");
}

TEST_F(SplitLanes, WidthsOfOtherDialects) {
  const Dialect pairs{.name = "pairs", .vector_widths = {2}};
  const auto text = [&](int lanes) {
    return to_string(split_lanes(put_vector(y, i, vector_at(x, i, lanes)), pairs));
  };
  EXPECT_EQ(text(2), "y[ramp(i, 1, 2)] = x[ramp(i, 1, 2)]\n");
  EXPECT_EQ(text(3), "y[i] = x[i]\ny[i + 1] = x[i + 1]\ny[i + 2] = x[i + 2]\n");
}

// Without vectors of bools, each lane is selected by a scalar condition. If all lanes have the same
// condition, whole vectors are selected.
TEST_F(SplitLanes, WithoutVectorsOfBools) {
  const Dialect plain{.name = "plain"};
  const Expr two = vector_at(x, i, 2), zero = number(0, 2);
  const auto text = [&](const Stmt& body) { return to_string(split_lanes(body, plain)); };
  const Expr less = make_binary(ir::BinaryOp::Lt, two, zero);
  EXPECT_EQ(
      text(put_vector(y, i, make_select(less, two, zero))),
      "y[ramp(i, 1, 2)] = pack(select(x[i] < 0.0, x[i], 0.0), select(x[i + 1] < 0.0, x[i + 1], "
      "0.0))\n");
  EXPECT_EQ(text(put_vector(y, i, make_select(make_broadcast(i < j, 2), two, zero))),
            "y[ramp(i, 1, 2)] = select(i < j, x[ramp(i, 1, 2)], x2(0.0))\n");
  const Expr named = ir::make_var("v", less->type);
  EXPECT_EQ(text(make_let(named, less, put_vector(y, i, make_cast(two->type, named)))),
            "let v.0: bool = x[i] < 0.0\n"
            "let v.1: bool = x[i + 1] < 0.0\n"
            "y[ramp(i, 1, 2)] = pack(float32(v.0), float32(v.1))\n");
}

TEST_F(SplitLanes, PushesVariableLanesDown) {
  const auto of = [&](const Expr& vector) {
    const std::string text = split(put(y, i, make_lane(vector, j)));
    return text.substr(7, text.size() - 8);
  };
  EXPECT_EQ(of(vector_at(x, i, 4) * number(2, 4)), "x[i + j] * 2.0");
  EXPECT_EQ(of(make_cast(kFloat32.with_lanes(4), ramp(i, 4, 3))), "float32(i + 3 * j)");
  EXPECT_EQ(of(make_fma(number(2, 4), vector_at(x, i, 4), number(1, 4))),
            "fma(2.0, x[i + j], 1.0)");
  EXPECT_EQ(of(make_call(ir::Intrinsic::Exp, {vector_at(x, i, 4)})), "exp(x[i + j])");
  EXPECT_EQ(of(ir::make_pack({at(x, 0), at(x, 5), at(x, 7)})),
            "select(j == 0, x[0], select(j == 1, x[5], x[7]))");
  EXPECT_EQ(of(make_select(i < j, vector_at(x, i, 4), number(0, 4))),
            "select(i < j, x[i + j], 0.0)");
  EXPECT_EQ(of(at(x, vector_at(n, i, 4))), "x[n[i + j]]");
  EXPECT_EQ(of(make_broadcast(at(x, i), 4)), "x[i]");
}

// A lane number may be int64.
TEST_F(SplitLanes, LaneNumbersOfAnotherType) {
  const Expr wide = ir::make_var("w", ir::kInt64);
  EXPECT_EQ(split(put(n, i, make_lane(ramp(i, 4, 3), wide))), "n[i] = i + 3 * int32(w)\n");
  EXPECT_EQ(split(put(y, i, make_lane(ir::make_pack({at(x, 0), at(x, 5)}), wide))),
            "y[i] = select(w == int64(0), x[0], x[5])\n");
}

// To select a lane by a variable number, the result names the vector or the texel once per lane.
// Then the pass share_texels merges the reads of the texel.
TEST_F(SplitLanes, ChoosesLanesOfVariablesAndTexels) {
  const Expr v = ir::make_var("v", kFloat32.with_lanes(3));
  EXPECT_EQ(split(make_let(v, vector_at(x, i, 3), put(y, i, make_lane(v, j)))),
            "let v: float32x3 = x[ramp(i, 1, 3)]\n"
            "y[i] = select(j == 0, v.lane[0], select(j == 1, v.lane[1], v.lane[2]))\n");
  EXPECT_EQ(code(put(global("z", kFloat32, 1), make_int(0),
                     make_lane(texel(t, make_int(1), make_int(2)), at(n, 0)))),
            "const float4 t_texel = read_imagef(t, tl_sampler, (int2)(1, 2));\n"
            "z[0] = n[0] == 0 ? t_texel.x : n[0] == 1 ? t_texel.y : n[0] == 2 ? t_texel.z : "
            "t_texel.w;\n");
}

TEST_F(SplitLanes, LetsOfOtherWidths) {
  const Expr v = ir::make_var("v", kFloat32.with_lanes(5));
  const Expr doubled = v * number(2, 5);
  EXPECT_EQ(
      split(make_let(v, vector_at(x, i, 5),
                     ir::make_seq({put(y, i, lane(doubled, 4)), put(y, j, make_lane(v, j))}))),
      "let v.0: float32 = x[i]\n"
      "let v.1: float32 = x[i + 1]\n"
      "let v.2: float32 = x[i + 2]\n"
      "let v.3: float32 = x[i + 3]\n"
      "let v.4: float32 = x[i + 4]\n"
      "y[i] = v.4 * 2.0\n"
      "y[j] = select(j == 0, v.0, select(j == 1, v.1, select(j == 2, v.2, select(j == 3, v.3, "
      "v.4))))\n");
}

// A vector select evaluates both operands, and these loads may be out of bounds.
TEST_F(SplitLanes, LoadsUnderVectorConditionsAreLazy) {
  const Expr inside = ramp(i, 2) < ramp(j, 2);
  const std::string lazy = "pack(select(i < j, x[i], 0.0), select(i + 1 < j + 1, x[i + 1], 0.0))";
  EXPECT_EQ(split(put_vector(y, i, make_select(inside, vector_at(x, i, 2), number(0, 2)))),
            "y[ramp(i, 1, 2)] = " + lazy + "\n");
  EXPECT_EQ(split(put_vector(y, i, make_select(inside, number(0, 2), vector_at(x, i, 2)))),
            "y[ramp(i, 1, 2)] = pack(select(i < j, 0.0, x[i]), "
            "select(i + 1 < j + 1, 0.0, x[i + 1]))\n");
  // The select may be nested in other operations.
  EXPECT_EQ(split(put_vector(y, i,
                             number(1, 2) + make_select(inside, number(1, 2) * vector_at(x, i, 2),
                                                        number(0, 2)))),
            "y[ramp(i, 1, 2)] = x2(1.0) + pack(select(i < j, 1.0 * x[i], 0.0), "
            "select(i + 1 < j + 1, 1.0 * x[i + 1], 0.0))\n");
}

// Texel reads are always defined, and a condition is always evaluated.
TEST_F(SplitLanes, OtherConditionsStayVectors) {
  const Stmt texels =
      put_vector(y, i, make_select(ramp(i, 4) < ramp(j, 4), texel(t, i, j), number(0, 4)));
  EXPECT_EQ(
      split(texels),
      "y[ramp(i, 1, 4)] = select(pack(i, i + 1, i + 2, i + 3) < pack(j, j + 1, j + 2, j + 3), "
      "texture2d.load(t, x=i, y=j: float32x4), x4(0.0))\n");
  const Expr loaded = vector_at(x, i, 2);
  const Stmt condition =
      put_vector(y, i, make_select(loaded < number(0, 2), number(0, 2), number(1, 2)));
  EXPECT_EQ(split(condition), to_string(condition));
  const Stmt whole = put_vector(y, i, make_select(i < j, loaded, number(0, 2)));
  EXPECT_EQ(split(whole), to_string(whole));
  const Stmt scalar = put(y, i, make_select(i < j, at(x, i), ir::make_float(0)));
  EXPECT_EQ(split(scalar), to_string(scalar));
}

TEST_F(SplitLanes, LoadsRightOfVectorAndsAreLazy) {
  const Expr left = vector_at(x, i, 2) < number(0, 2), right = number(1, 2) < vector_at(y, i, 2);
  const auto select = [&](const Expr& condition) {
    return put_vector(y, i, make_select(condition, number(0, 2), number(1, 2)));
  };
  EXPECT_EQ(
      split(select(left && right)),
      "y[ramp(i, 1, 2)] = select(pack(x[i] < 0.0 && 1.0 < y[i], x[i + 1] < 0.0 && 1.0 < y[i + "
      "1]), x2(0.0), x2(1.0))\n");
  EXPECT_EQ(
      split(select(make_binary(BinaryOp::Or, left, right))),
      "y[ramp(i, 1, 2)] = select(pack(x[i] < 0.0 || 1.0 < y[i], x[i + 1] < 0.0 || 1.0 < y[i + "
      "1]), x2(0.0), x2(1.0))\n");
  const Stmt no_load = select(left && (number(1, 2) < number(2, 2)));
  EXPECT_EQ(split(no_load), to_string(no_load));
  const Stmt comparison = select(make_binary(BinaryOp::Eq, left, right));
  EXPECT_EQ(split(comparison), to_string(comparison));
}

// Lanes of vectors of bools are computed as scalars.
TEST_F(SplitLanes, LanesOfConditions) {
  const Expr condition = vector_at(x, i, 4) < number(0, 4);
  EXPECT_EQ(split(put(y, i, make_select(lane(condition, 2), at(x, 0), at(x, 1)))),
            "y[i] = select(x[i + 2] < 0.0, x[0], x[1])\n");
}

TEST_F(SplitLanes, GoesThroughAllStatements) {
  const Stmt inner = put(y, i, make_lane(ir::make_pack({at(x, 0), at(x, 5)}), j));
  const std::string split_inner = "y[i] = select(j == 0, x[0], x[5])\n";
  EXPECT_EQ(split(make_for(i, make_lane(ir::make_pack({i, j}), j), ir::LoopKind::Serial, inner)),
            "for i < select(j == 0, i, j) {\n  " + split_inner + "}\n");
  EXPECT_EQ(
      split(make_texture_store(t, make_lane(ir::make_pack({i, j}), j), j, vector_at(x, i, 4))),
      "texture2d.store(t, x=select(j == 0, i, j), y=j, x[ramp(i, 1, 4)]: float32x4)\n");
  EXPECT_EQ(split(put(y, make_lane(ir::make_pack({i, j}), j), ir::make_float(0))),
            "y[select(j == 0, i, j)] = 0.0\n");
}

// Each node of a deep graph of shared nodes is computed once for a lane.
TEST_F(SplitLanes, RemembersLanes) {
  Expr value = vector_at(x, i, 4);
  for (int k = 0; k < 60; ++k) value = value + value;
  const Stmt dynamic = split_lanes(put(y, i, make_lane(value, j)), opencl_dialect({}));
  EXPECT_EQ(as<ir::Store>(dynamic)->value->depth, value->depth);
  Expr odd = vector_at(x, i, 5);
  for (int k = 0; k < 60; ++k) odd = odd + odd;
  EXPECT_NE(as<ir::Seq>(split_lanes(put_vector(y, i, odd), opencl_dialect({}))), nullptr);
  Expr whole = at(x, ramp(i, 4, 2));
  for (int k = 0; k < 60; ++k) whole = whole + whole;
  EXPECT_EQ(
      as<ir::Store>(split_lanes(put_vector(y, i, whole), opencl_dialect({})))->value->type.lanes,
      4);
}

// Run: widths, gathers, scatters, variable lanes, guarded loads at the end of a buffer.
TEST(SplitLanesRun, ComputesTheSame) {
  constexpr int kSize = 40;
  const ir::Buffer in = global("in", kInt32, kSize), out = global("out", kInt32, kSize);
  const ir::Buffer where = global("where", kInt32, 8);
  const Expr k = ir::make_var("k");
  const Expr six = vector_at(in, make_int(1), 6);
  const Expr gathered = at(in, vector_at(where, make_int(0), 8));
  const Expr guarded =
      make_select(ramp(make_int(36), 8) < ir::make_const(kSize, kInt32.with_lanes(8)),
                  vector_at(in, make_int(36), 8), ir::make_const(-1, kInt32.with_lanes(8)));
  const Stmt body = ir::make_seq({
      make_store(out, {ramp(make_int(0), 6, 2)}, six + six),
      make_for(k, make_int(8), ir::LoopKind::Serial,
               put(out, k + 12, make_lane(gathered * ramp(make_int(0), 8), k))),
      put_vector(out, make_int(20), guarded),
      put_vector(out, make_int(30), at(out, ramp(make_int(0), 3, 2))),
      // The copy overlaps: elements 33 to 37 move to 34 to 38.
      make_store(out, {ramp(make_int(33), 5)}, vector_at(in, make_int(0), 5)),
      make_store(out, {ramp(make_int(34), 5)}, vector_at(out, make_int(33), 5)),
  });
  std::vector<int32_t> input(kSize);
  std::iota(input.begin(), input.end(), 100);
  const std::vector<int32_t> places = {7, 0, 3, 3, 39, 11, 20, 5};
  const ir::Program program = TestKernel().program(body);
  std::vector<HostArray> arguments;
  for (const ir::KernelParam& p : program.kernels[0].params) {
    arguments.push_back(p.buffer.same_as(out)  ? HostArray::of(std::vector<int32_t>(kSize))
                        : p.buffer.same_as(in) ? HostArray::of(input)
                                               : HostArray::of(places));
  }
  run(program, arguments);
  std::vector<int32_t> expected(kSize);
  for (size_t l = 0; l < 6; ++l) expected[2 * l] = 2 * input[l + 1];
  for (size_t l = 0; l < 8; ++l) {
    expected[l + 12] = input[static_cast<size_t>(places[l])] * static_cast<int32_t>(l);
    expected[l + 20] = l + 36 < kSize ? input[l + 36] : -1;
  }
  for (size_t l = 0; l < 3; ++l) expected[l + 30] = expected[2 * l];
  expected[33] = input[0];
  for (size_t l = 0; l < 5; ++l) expected[34 + l] = input[l];
  EXPECT_EQ(arguments[0].as<int32_t>(), expected);
}

}  // namespace
}  // namespace texloom::codegen::opencl::testing
