// Tests reading each texel once: where the read goes, and which reads must not be shared.
#include "lower/kernels/share_texels.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::global;
using ir::kFloat32;
using ir::kInt32;
using ir::lane;
using ir::make_int;
using ir::make_seq;
using ir::put;
using ir::Stmt;
using ir::texel;
using ir::texture;

class ShareTexels : public ::testing::Test {
 protected:
  Expr load(int64_t x) const { return load(make_int(x)); }
  Expr load(const Expr& x) const { return texel(t, x, y); }
  Stmt set(int64_t i, const Expr& value) const { return put(c, make_int(i), value); }
  static std::string shared(const Stmt& body) { return to_string(bind_texels(body)); }

  ir::Buffer t = texture("t", kFloat32, 8, 8);
  ir::Buffer c = global("c", kFloat32, 64);
  ir::Buffer indices = global("indices", kInt32, 8);
  Expr y = ir::make_var("y");
};

// The purpose of the pass: the copies of an unrolled loop over lanes share their texels.
TEST_F(ShareTexels, BindsBeforeTheFirstOfSeveralStatements) {
  EXPECT_EQ(shared(make_seq({set(0, ir::make_float(1)), set(1, lane(load(2), 0)),
                             set(2, lane(load(2), 1)), set(3, ir::make_float(2))})),
            "c[0] = 1.0\n"
            "{\n"
            "  let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "  c[1] = t.texel.lane[0]\n"
            "  c[2] = t.texel.lane[1]\n"
            "}\n"
            "c[3] = 2.0\n");
}

// A single read stays in place, because control flow may never reach it.
TEST_F(ShareTexels, LeavesASingleReadAlone) {
  const Stmt body = make_seq({set(0, lane(load(2), 0)), set(1, lane(load(3), 0))});
  EXPECT_EQ(shared(body), to_string(body));
}

// Coordinates are compared by structure, textures by identity.
TEST_F(ShareTexels, TellsTexturesAndCoordinatesApart) {
  const ir::Buffer other = texture("u", kFloat32, 8, 8);
  const Stmt body = make_seq({set(0, lane(texel(t, make_int(1), y), 0)),
                              set(1, lane(texel(other, make_int(1), y), 0)),
                              set(2, lane(texel(t, y, make_int(1)), 0))});
  EXPECT_EQ(shared(body), to_string(body));
}

TEST_F(ShareTexels, SharesWithinOneExpression) {
  EXPECT_EQ(shared(set(0, lane(load(2), 0) * lane(load(2), 1))),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "c[0] = t.texel.lane[0] * t.texel.lane[1]\n");
}

// One node that two parents share is printed twice, so it is read twice.
TEST_F(ShareTexels, CountsASharedNodeAsOftenAsItIsPrinted) {
  const Expr product = lane(load(2), 0) * ir::make_float(3);
  EXPECT_EQ(shared(set(0, product + product)),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "c[0] = t.texel.lane[0] * 3.0 + t.texel.lane[0] * 3.0\n");
}

// The read goes to the innermost block around all uses, here the loop body that defines `i`.
TEST_F(ShareTexels, BindsInsideTheLoopThatDefinesACoordinate) {
  const Expr i = ir::make_var("i");
  EXPECT_EQ(shared(make_for(i, make_int(4), ir::LoopKind::Serial,
                            make_seq({set(0, lane(load(i), 0)), set(1, lane(load(i), 1))}))),
            "for i < 4 {\n"
            "  let t.texel: float32x4 = texture2d.load(t, x=i, y=y: float32x4)\n"
            "  c[0] = t.texel.lane[0]\n"
            "  c[1] = t.texel.lane[1]\n"
            "}\n");
}

TEST_F(ShareTexels, BindsInsideTheLetThatDefinesACoordinate) {
  const Expr i = ir::make_var("i");
  EXPECT_EQ(
      shared(make_let(i, y + 1, make_seq({set(0, lane(load(i), 0)), set(1, lane(load(i), 1))}))),
      "let i: int32 = y + 1\n"
      "let t.texel: float32x4 = texture2d.load(t, x=i, y=y: float32x4)\n"
      "c[0] = t.texel.lane[0]\n"
      "c[1] = t.texel.lane[1]\n");
}

// A texel that two inner blocks read is bound to a variable before the first of them. A read under
// an If may move out of it.
TEST_F(ShareTexels, BindsAroundTheBlocksThatReadIt) {
  const Expr i = ir::make_var("i"), j = ir::make_var("j");
  const Stmt deep =
      make_for(i, make_int(4), ir::LoopKind::Serial,
               make_if(i < y, make_seq({set(0, lane(load(2), 0)), ir::make_barrier()})));
  const Stmt shallow = make_for(j, make_int(4), ir::LoopKind::Serial, set(1, lane(load(2), 1)));
  const std::string expected =
      "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
      "for i < 4 {\n"
      "  if i < y {\n"
      "    c[0] = t.texel.lane[0]\n"
      "    barrier\n"
      "  }\n"
      "}\n"
      "for j < 4 {\n"
      "  c[1] = t.texel.lane[1]\n"
      "}\n";
  EXPECT_EQ(shared(make_seq({ir::make_barrier(), deep, shallow})), "barrier\n" + expected);
  EXPECT_EQ(shared(make_seq({deep, shallow, ir::make_barrier()})),
            "{\n"
            "  let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "  for i < 4 {\n"
            "    if i < y {\n"
            "      c[0] = t.texel.lane[0]\n"
            "      barrier\n"
            "    }\n"
            "  }\n"
            "  for j < 4 {\n"
            "    c[1] = t.texel.lane[1]\n"
            "  }\n"
            "}\n"
            "barrier\n");
}

// An extent and the loop body read the texel, so the read goes before the loop.
TEST_F(ShareTexels, SeesTheOperandsOfStatements) {
  const Expr i = ir::make_var("i"), v = ir::make_var("v", kFloat32);
  const Expr first = lane(load(2), 0);
  EXPECT_EQ(shared(make_for(i, make_cast(kInt32, first), ir::LoopKind::Serial, set(1, first))),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "for i < int32(t.texel.lane[0]) {\n"
            "  c[1] = t.texel.lane[0]\n"
            "}\n");
  EXPECT_EQ(shared(make_let(v, first, set(1, lane(load(2), 1)))),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "let v: float32 = t.texel.lane[0]\n"
            "c[1] = t.texel.lane[1]\n");
}

// The condition of a While is evaluated again in each iteration, when memory may have changed:
// reads with coordinates from memory stay, but other reads move before the loop.
TEST_F(ShareTexels, ConditionsOfLoops) {
  const auto asked = [&](const Expr& texel) {
    const Stmt step = put(indices, make_int(0), make_int(5));
    return make_while(lane(texel, 0) < lane(texel, 1), step);
  };
  const Stmt changing = asked(load(at(indices, 0)));
  EXPECT_EQ(shared(changing), to_string(changing));
  EXPECT_EQ(shared(asked(load(2))),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "while t.texel.lane[0] < t.texel.lane[1] {\n"
            "  indices[0] = 5\n"
            "}\n");
}

// A texel that is already bound is not bound again.
TEST_F(ShareTexels, IsIdempotent) {
  const Stmt once = bind_texels(make_seq({set(1, lane(load(2), 0)), set(2, lane(load(2), 1))}));
  EXPECT_EQ(shared(once), to_string(once));
}

// A texel that gives another texel's coordinates is bound first.
TEST_F(ShareTexels, BindsCoordinatesBeforeWhatTheyLead) {
  const ir::Buffer where = texture("where", kInt32, 8, 8);
  const Expr inner = lane(texel(where, y, y), 0);
  EXPECT_EQ(shared(make_seq({set(0, lane(load(inner), 0)), set(1, lane(load(inner), 1))})),
            "let where.texel: int32x4 = texture2d.load(where, x=y, y=y: int32x4)\n"
            "let t.texel: float32x4 = texture2d.load(t, x=where.texel.lane[0], y=y: float32x4)\n"
            "c[0] = t.texel.lane[0]\n"
            "c[1] = t.texel.lane[1]\n");
}

// Spans that do not overlap, [1, 2] and [3, 4], do not nest; overlapping spans do.
TEST_F(ShareTexels, NestsOnlyWhatOverlaps) {
  const Stmt apart = bind_texels(make_seq({set(1, lane(load(2), 0)), set(2, lane(load(2), 1)),
                                           set(3, lane(load(3), 0)), set(4, lane(load(3), 1))}));
  ASSERT_NE(as<ir::Seq>(apart), nullptr);
  EXPECT_EQ(as<ir::Seq>(apart)->statements.size(), 2U);
  const Stmt chained = bind_texels(make_seq({set(1, lane(load(2), 0)), set(2, lane(load(3), 0)),
                                             set(3, lane(load(2), 1)), set(4, lane(load(3), 1))}));
  EXPECT_NE(as<ir::Let>(chained), nullptr);
  EXPECT_EQ(to_string(chained),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "c[1] = t.texel.lane[0]\n"
            "let t.texel.1: float32x4 = texture2d.load(t, x=3, y=y: float32x4)\n"
            "c[2] = t.texel.1.lane[0]\n"
            "c[3] = t.texel.lane[1]\n"
            "c[4] = t.texel.1.lane[1]\n");
}

// Sibling loops may give one variable two meanings.
TEST_F(ShareTexels, KeepsSiblingLoopsApart) {
  const Expr i = ir::make_var("i");
  const Stmt twice = make_for(i, make_int(4), ir::LoopKind::Serial,
                              make_seq({set(0, lane(load(i), 0)), set(1, lane(load(i), 1))}));
  const Stmt once = make_for(i, make_int(4), ir::LoopKind::Serial, set(2, lane(load(i), 0)));
  EXPECT_EQ(shared(make_seq({twice, once})),
            "for i < 4 {\n"
            "  let t.texel: float32x4 = texture2d.load(t, x=i, y=y: float32x4)\n"
            "  c[0] = t.texel.lane[0]\n"
            "  c[1] = t.texel.lane[1]\n"
            "}\n"
            "for i.1 < 4 {\n"
            "  c[2] = texture2d.load(t, x=i.1, y=y: float32x4).lane[0]\n"
            "}\n");
}

// The buffer with the coordinates may be written between two statements.
TEST_F(ShareTexels, SharesCoordinatesFromMemoryWithinOneStatement) {
  const Expr gathered = load(at(indices, 0));
  const std::string bound =
      "let t.texel: float32x4 = texture2d.load(t, x=indices[0], y=y: float32x4)\n"
      "c[0] = t.texel.lane[0] + t.texel.lane[1]\n";
  const Stmt both = set(0, lane(gathered, 0) + lane(gathered, 1));
  EXPECT_EQ(shared(both), bound);
  const std::string block =
      "{\n"
      "  let t.texel: float32x4 = texture2d.load(t, x=indices[0], y=y: float32x4)\n"
      "  c[0] = t.texel.lane[0] + t.texel.lane[1]\n"
      "}\n";
  EXPECT_EQ(shared(make_seq({both, put(indices, make_int(0), make_int(5)), both})),
            block + "indices[0] = 5\n" +
                "let t.texel.1: float32x4 = texture2d.load(t, x=indices[0], y=y: float32x4)\n"
                "c[0] = t.texel.1.lane[0] + t.texel.1.lane[1]\n");
  EXPECT_EQ(
      shared(make_seq({both, put(indices, make_int(0), make_int(5)), set(1, lane(gathered, 2))})),
      block +
          "indices[0] = 5\n"
          "c[1] = texture2d.load(t, x=indices[0], y=y: float32x4).lane[2]\n");
  const Stmt apart = make_seq({set(0, lane(gathered, 0)), put(indices, make_int(0), make_int(5)),
                               set(1, lane(gathered, 1))});
  EXPECT_EQ(shared(apart), to_string(apart));
}

// A texel bound for a statement's own expressions is not used in its body.
TEST_F(ShareTexels, CoordinatesFromMemoryDoNotReachIntoNestedStatements) {
  const Expr v = ir::make_var("v", kFloat32);
  const Expr gathered = load(at(indices, 0));
  const Stmt body =
      make_let(v, lane(gathered, 0) + lane(gathered, 1),
               make_seq({put(indices, make_int(0), make_int(5)), set(1, v + lane(gathered, 2))}));
  EXPECT_EQ(shared(body),
            "let t.texel: float32x4 = texture2d.load(t, x=indices[0], y=y: float32x4)\n"
            "let v: float32 = t.texel.lane[0] + t.texel.lane[1]\n"
            "indices[0] = 5\n"
            "c[1] = v + texture2d.load(t, x=indices[0], y=y: float32x4).lane[2]\n");
}

// A load that a condition guards must not move before it; a load that is always evaluated may.
TEST_F(ShareTexels, DoesNotMoveGuardedLoads) {
  const Expr gathered = load(at(indices, y));
  const Expr both = lane(gathered, 0) + lane(gathered, 1);
  const Expr zero = ir::make_float(0);
  const Expr inside = y < make_int(8);
  const Stmt guarded = set(0, make_select(inside, both, zero));
  EXPECT_EQ(shared(guarded), to_string(guarded));
  const Stmt other_branch = set(0, make_select(inside, zero, both));
  EXPECT_EQ(shared(other_branch), to_string(other_branch));
  const Stmt right_side = set(0, make_select(inside && (zero < both), zero, zero));
  EXPECT_EQ(shared(right_side), to_string(right_side));
  const std::string let =
      "let t.texel: float32x4 = texture2d.load(t, x=indices[y], y=y: float32x4)\n";
  EXPECT_EQ(
      shared(set(0, make_select(inside, both, zero) + lane(gathered, 2))),
      let + "c[0] = select(y < 8, t.texel.lane[0] + t.texel.lane[1], 0.0) + t.texel.lane[2]\n");
  EXPECT_EQ(shared(set(0, make_select((zero < both) && inside, zero, zero))),
            let + "c[0] = select(0.0 < t.texel.lane[0] + t.texel.lane[1] && y < 8, 0.0, 0.0)\n");
  EXPECT_EQ(shared(set(0, make_select(zero < both, zero, zero))),
            let + "c[0] = select(0.0 < t.texel.lane[0] + t.texel.lane[1], 0.0, 0.0)\n");
}

// A guarded texel may be read early if its coordinates contain no loads: texels outside an image
// are zero.
TEST_F(ShareTexels, MovesGuardedTexels) {
  const Expr both = lane(load(2), 0) + lane(load(2), 1);
  EXPECT_EQ(shared(set(0, make_select(y < make_int(8), both, ir::make_float(0)))),
            "let t.texel: float32x4 = texture2d.load(t, x=2, y=y: float32x4)\n"
            "c[0] = select(y < 8, t.texel.lane[0] + t.texel.lane[1], 0.0)\n");
}

// A guarded division by a variable might be a division by zero elsewhere.
TEST_F(ShareTexels, DoesNotMoveDivisionsByVariables) {
  for (const BinaryOp op : {BinaryOp::Div, BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod}) {
    const auto twice = [&](const Expr& divisor) {
      const Expr read = load(make_binary(op, make_int(7), divisor));
      return set(0, make_select(y < make_int(8), lane(read, 0) + lane(read, 1), ir::make_float(0)));
    };
    const Stmt by_variable = twice(y);
    EXPECT_EQ(shared(by_variable), to_string(by_variable));
  }
  const Expr read = load(floordiv(y, make_int(3)));
  const Stmt by_constant =
      set(0, make_select(y < make_int(8), lane(read, 0) + lane(read, 1), ir::make_float(0)));
  EXPECT_NE(shared(by_constant), to_string(by_constant));
  const Expr minimum = load(min(make_int(3), y));
  const Stmt no_division =
      set(0, make_select(y < make_int(8), lane(minimum, 0) + lane(minimum, 1), ir::make_float(0)));
  EXPECT_NE(shared(no_division), to_string(no_division));
  const Expr product = load(y * y);
  const Stmt no_division_either =
      set(0, make_select(y < make_int(8), lane(product, 0) + lane(product, 1), ir::make_float(0)));
  EXPECT_NE(shared(no_division_either), to_string(no_division_either));
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++found;
  return found;
}

// In a sliding window, each texel is read by two neighboring statements, so all spans form one
// chain. The chain is cut at intervals to bound the nesting depth.
TEST_F(ShareTexels, CutsLongChains) {
  constexpr int kStatements = 2000;
  ir::Stmts window;
  for (int i = 0; i < kStatements; ++i) {
    window.push_back(set(0, lane(load(i), 0) + lane(load(i + 1), 0)));
  }
  const Stmt result = bind_texels(make_seq(window));
  EXPECT_LT(result->depth, 500);
  EXPECT_GT(result->depth, 300);
  const std::string text = to_string(result);
  // All texels but the first and the last are bound; each of ten cuts repeats one read.
  EXPECT_EQ(count(text, "let "), kStatements - 1 + 10);
  EXPECT_EQ(count(text, "texture2d.load"), kStatements + 1 + 10);
}

// A texel whose span is cut is read again into a new variable.
TEST_F(ShareTexels, CutSpansGoOnWithANewVariable) {
  ir::Stmts statements;
  statements.push_back(set(0, lane(load(1000), 0)));
  for (int i = 0; i < 205; ++i) statements.push_back(set(1, lane(load(i), 0) * lane(load(i), 1)));
  statements.push_back(set(2, lane(load(1000), 1)));
  const std::string text = shared(make_seq(statements));
  EXPECT_EQ(count(text, "x=1000"), 2U);
  EXPECT_NE(text.find("c[0] = t.texel.lane[0]\n"), std::string::npos);
  EXPECT_EQ(text.find("c[2] = t.texel.lane[1]\n"), std::string::npos);
}

// The texels of a single statement cannot be cut, and need not be.
TEST_F(ShareTexels, NestsTheTexelsOfOneStatement) {
  Expr sum = ir::make_float(0);
  for (int i = 0; i < 250; ++i) sum = sum + lane(load(i), 0) * lane(load(i), 1);
  const std::string text = shared(make_seq({set(0, sum), set(1, lane(load(0), 2))}));
  EXPECT_EQ(count(text, "texture2d.load"), 250U);
}

// A kernel may have 16 x 32 x 32 statements with two texels each, like an unrolled outer product.
TEST_F(ShareTexels, TexelsOfManyStatements) {
  ir::Stmts statements;
  for (int step = 0; step < 16; ++step) {
    for (int i = 0; i < 32; ++i) {
      for (int j = 0; j < 32; ++j) {
        statements.push_back(
            set(i, lane(load(step * 64 + i), 0) * lane(load(step * 64 + 32 + j), 1)));
      }
    }
  }
  const Stmt result = bind_texels(make_seq(statements));
  EXPECT_EQ(count(to_string(result), "texture2d.load"), 16U * 64U);
}

// The nodes of a deep graph with 2^40 paths are visited at most twice each.
TEST_F(ShareTexels, LooksAtSharedNodesTwiceAtMost) {
  Expr value = lane(load(2), 0);
  for (int i = 0; i < 40; ++i) value = value * value;
  const Stmt result = bind_texels(set(0, value));
  EXPECT_NE(as<ir::Let>(result), nullptr);
}

// The pass runs on all kernels of a program.
TEST_F(ShareTexels, RunsOnEachKernel) {
  const Stmt body = make_seq({set(0, lane(load(2), 0)), set(1, lane(load(2), 1))});
  Lowering lowering;
  lowering.program.kernels.emplace_back().body = body;
  lowering.program.kernels.emplace_back().body = body;
  bind_texels(lowering);
  EXPECT_NE(as<ir::Let>(lowering.program.kernels.front().body), nullptr);
  EXPECT_NE(as<ir::Let>(lowering.program.kernels.back().body), nullptr);
}

}  // namespace
}  // namespace texloom::lower
