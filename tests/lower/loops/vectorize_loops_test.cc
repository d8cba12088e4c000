// Tests turning vectorized loops into vector operations.
#include "lower/loops/vectorize_loops.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using ir::Buffer;
using ir::Expr;
using ir::kFloat32;
using ir::kInt32;
using ir::LoopKind;
using ir::make_int;
using ir::make_select;
using ir::make_seq;
using ir::make_var;
using ir::put;
using ir::Stmt;

class VectorizeLoops : public ::testing::Test {
 protected:
  Stmt loop(int64_t extent, const Stmt& body) const {
    return make_for(i, make_int(extent), LoopKind::Vectorized, body);
  }
  std::string four(const Stmt& body) const { return after(vectorize_loops, loop(4, body)); }
  // The vector value of a store of this expression to y[i].
  std::string value(const Expr& e) const {
    const Buffer target = ir::global("y", e->type, 64);
    const std::string text = four(put(target, i, e));
    const std::string start = "y[ramp(0, 1, 4)] = ";
    EXPECT_EQ(text.substr(0, start.size()), start);
    return text.substr(start.size(), text.size() - start.size() - 1);
  }
  // The vector index of a load at this index.
  std::string index(const Expr& e) const {
    const std::string text = value(at(a, e));
    return text.substr(2, text.size() - 3);
  }
  std::string serial(const Stmt& body) const {
    return to_string(make_for(i, make_int(4), LoopKind::Serial, body));
  }

  Expr i = make_var("i"), n = make_var("n"), x = make_var("x", kFloat32);
  Buffer a = ir::global("a", kFloat32, 64), y = ir::global("y", kFloat32, 64);
  Buffer t =
      ir::make_texture("t", kFloat32, texture_layout({8, 8, 4}, ir::TextureRule::Activation));
};

TEST_F(VectorizeLoops, Copy) { EXPECT_EQ(value(at(a, i) + x), "a[ramp(0, 1, 4)] + x4(x)"); }

TEST_F(VectorizeLoops, OtherLoopsStay) {
  const Stmt body = make_for(i, make_int(4), LoopKind::Unrolled, put(y, i, x));
  EXPECT_EQ(after(vectorize_loops, body), to_string(body));
}

// Vectors have 2, 4, 8 or 16 lanes; longer loops are split by the widest that divides the extent.
TEST_F(VectorizeLoops, Widths) {
  const auto of = [&](int64_t extent) {
    return after(vectorize_loops, loop(extent, put(y, i, x)));
  };
  EXPECT_EQ(of(2), "y[ramp(0, 1, 2)] = x2(x)\n");
  EXPECT_EQ(of(8), "y[ramp(0, 1, 8)] = x8(x)\n");
  EXPECT_EQ(of(16), "y[ramp(0, 1, 16)] = x16(x)\n");
  EXPECT_EQ(of(48), "for i.vector < 3 {\n  y[ramp(i.vector * 16, 1, 16)] = x16(x)\n}\n");
  EXPECT_EQ(of(12), "for i.vector < 3 {\n  y[ramp(i.vector * 4, 1, 4)] = x4(x)\n}\n");
  EXPECT_EQ(of(6), "for i.vector < 3 {\n  y[ramp(i.vector * 2, 1, 2)] = x2(x)\n}\n");
  EXPECT_EQ(of(7), "for i < 7 {\n  y[i] = x\n}\n");
  EXPECT_EQ(of(1), "for i < 1 {\n  y[i] = x\n}\n");
}

TEST_F(VectorizeLoops, TexturesAreWrittenByFour) {
  const auto of = [&](int64_t extent) {
    return after(vectorize_loops, loop(extent, make_store(t, {n, n, i}, x)));
  };
  EXPECT_EQ(of(4), "t[n, n, ramp(0, 1, 4)] = x4(x)\n");
  EXPECT_EQ(of(8), "for i.vector < 2 {\n  t[n, n, ramp(i.vector * 4, 1, 4)] = x4(x)\n}\n");
  EXPECT_EQ(of(2), "for i < 2 {\n  t[n, n, i] = x\n}\n");
}

TEST_F(VectorizeLoops, SymbolicExtentsStaySerial) {
  EXPECT_EQ(after(vectorize_loops, make_for(i, n, LoopKind::Vectorized, put(y, i, x))),
            "for i < n {\n  y[i] = x\n}\n");
}

// A warning says why a loop is not vectorized.
TEST_F(VectorizeLoops, Warnings) {
  const auto warnings = [&](const Stmt& body, int64_t extent = 4) {
    Lowering lowering;
    lowering.program.body =
        make_for(i, make_int(extent), LoopKind::Vectorized, body, schedule::testing::line(7));
    vectorize_loops(lowering);
    std::string text;
    for (const Diagnostic& d : lowering.warnings) {
      EXPECT_EQ(d.severity, Severity::Warning);
      EXPECT_EQ(d.code, Code::AnnotationIgnored);
      EXPECT_EQ(d.location.line, 7);
      text += d.message;
    }
    return text;
  };
  const std::string stays = "the loop 'i' stays serial: ";
  const Expr j = make_var("j");
  EXPECT_EQ(warnings(put(y, i, x)), "");
  EXPECT_EQ(warnings(put(y, i, x), 1), "");
  EXPECT_EQ(warnings(put(y, i, x), 7),
            stays + "no vector width (2, 4, 8 or 16) divides its extent 7");
  EXPECT_EQ(warnings(put(y, n, at(a, i))), stays + "all its lanes would be stored to one element");
  EXPECT_EQ(warnings(make_for(j, i, LoopKind::Serial, put(y, j, at(a, i)))),
            stays + "the extent of a loop in it depends on the lane");
  EXPECT_EQ(warnings(make_thread_for(j, make_int(4), {}, put(y, i + j, x))),
            stays + "it contains a loop over threads");
  EXPECT_EQ(warnings(make_allocate(a, put(y, i, x))), stays + "another stage is computed in it");
  EXPECT_EQ(warnings(make_allocate(a, make_seq({put(y, i, x), ir::make_barrier()}))),
            stays + "threads exchange values in it");
  EXPECT_EQ(warnings(put(y, make_ramp(n, make_int(1), 4), make_broadcast(x, 4))),
            stays + "a loop in it is already vectorized");
  EXPECT_EQ(warnings(make_if(i < n, put(y, i, x))),
            stays + "a guard in it differs by lane: its split does not divide the axis");
}

// The remaining loop keeps its source line.
TEST_F(VectorizeLoops, Lines) {
  const auto line_of = [&](int64_t extent) {
    Lowering lowering;
    lowering.program.body = make_for(i, make_int(extent), LoopKind::Vectorized, put(y, i, x),
                                     schedule::testing::line(16));
    vectorize_loops(lowering);
    return lowering.program.body->location.line;
  };
  EXPECT_EQ(line_of(12), 16);
  EXPECT_EQ(line_of(7), 16);
}

// -- Indices: ramps stay ramps.

TEST_F(VectorizeLoops, Ramps) {
  EXPECT_EQ(index(i), "ramp(0, 1, 4)");
  EXPECT_EQ(index(i + n), "ramp(n, 1, 4)");
  EXPECT_EQ(index(n + i), "ramp(n, 1, 4)");
  EXPECT_EQ(index(i - n), "ramp(0 - n, 1, 4)");
  EXPECT_EQ(index(i * n), "ramp(0, n, 4)");
  EXPECT_EQ(index(n * i), "ramp(0, n, 4)");
  EXPECT_EQ(index((i + 3) * 5), "ramp(15, 5, 4)");
  EXPECT_EQ(index(make_int(5) * (i + 3)), "ramp(15, 5, 4)");
  EXPECT_EQ(index(make_int(2) + i * 3), "ramp(2, 3, 4)");
  EXPECT_EQ(index(i * 3 - 2), "ramp(-2, 3, 4)");
  EXPECT_EQ(value(at(a, n)), "x4(a[n])");
}

TEST_F(VectorizeLoops, NoRamps) {
  EXPECT_EQ(index(n - i), "x4(n) - ramp(0, 1, 4)");
  EXPECT_EQ(index(i + i), "ramp(0, 1, 4) + ramp(0, 1, 4)");
  EXPECT_EQ(index(floordiv(i, 2)), "floordiv(ramp(0, 1, 4), x4(2))");
  EXPECT_EQ(index(floormod(n, i + 1)), "floormod(x4(n), ramp(1, 1, 4))");
}

// -- Values.

TEST_F(VectorizeLoops, Values) {
  const Expr v = at(a, i), p = make_var("p", ir::kBool);
  EXPECT_EQ(value(make_cast(kInt32, v)), "int32x4(a[ramp(0, 1, 4)])");
  EXPECT_EQ(value(make_cast(kInt32, x)), "x4(int32(x))");
  EXPECT_EQ(value(make_call(ir::Intrinsic::Exp, {v})), "exp(a[ramp(0, 1, 4)])");
  EXPECT_EQ(value(make_call(ir::Intrinsic::Exp, {x})), "x4(exp(x))");
  EXPECT_EQ(value(make_call(ir::Intrinsic::Power, {v, x})), "power(a[ramp(0, 1, 4)], x4(x))");
  EXPECT_EQ(value(make_call(ir::Intrinsic::Power, {x, v})), "power(x4(x), a[ramp(0, 1, 4)])");
  EXPECT_EQ(value(make_select(p, v, x)), "select(p, a[ramp(0, 1, 4)], x4(x))");
  EXPECT_EQ(value(make_select(p, x, x + x)), "x4(select(p, x, x + x))");
  EXPECT_EQ(value(make_select(i < make_int(2), x, x + x)),
            "select(ramp(0, 1, 4) < x4(2), x4(x), x4(x + x))");
  EXPECT_EQ(value(make_select(make_not(i < make_int(2)), v, v)),
            "select(!(ramp(0, 1, 4) < x4(2)), a[ramp(0, 1, 4)], a[ramp(0, 1, 4)])");
  EXPECT_EQ(value(x * x), "x4(x * x)");
}

// -- Stores.

TEST_F(VectorizeLoops, StoresOfOnePlace) {
  EXPECT_EQ(four(put(y, n, x)), "y[n] = x\n");
  const Stmt last_wins = put(y, n, at(a, i));
  EXPECT_EQ(four(last_wins), serial(last_wins));
}

// Only one of several indices is a vector.
TEST_F(VectorizeLoops, StoresOfRows) {
  const Buffer m = ir::make_buffer("m", kFloat32, {4, 4}, ir::MemoryScope::Global);
  EXPECT_EQ(four(make_store(m, {i, n}, x)), "m[ramp(0, 1, 4), n] = x4(x)\n");
  EXPECT_EQ(four(make_store(m, {n, i}, make_load(m, {n, n}))),
            "m[n, ramp(0, 1, 4)] = x4(m[n, n])\n");
}

TEST_F(VectorizeLoops, Sequences) {
  EXPECT_EQ(four(make_seq({put(y, i, x), put(a, i, at(y, i))})),
            "y[ramp(0, 1, 4)] = x4(x)\na[ramp(0, 1, 4)] = y[ramp(0, 1, 4)]\n");
}

TEST_F(VectorizeLoops, LoopsInside) {
  const Expr j = make_var("j");
  EXPECT_EQ(four(make_for(j, n, LoopKind::Unrolled, put(y, i, at(a, j)))),
            "unrolled j < n {\n  y[ramp(0, 1, 4)] = x4(a[j])\n}\n");
  const Stmt by_lane = make_for(j, i, LoopKind::Serial, put(y, i, at(a, j)));
  EXPECT_EQ(four(by_lane), serial(by_lane));
  const Stmt threads = make_thread_for(j, n, {false, 0}, put(y, i, at(a, j)));
  EXPECT_EQ(four(threads), serial(threads));
}

TEST_F(VectorizeLoops, AllocationsStaySerial) {
  const Buffer l = ir::local("l", kFloat32, 1);
  const Stmt body = make_allocate(l, put(l, make_int(0), x));
  EXPECT_EQ(four(body), serial(body));
  EXPECT_EQ(after(vectorize_loops, loop(8, body)),
            to_string(make_for(i, make_int(8), LoopKind::Serial, body)));
}

// The inner loop becomes a vector; the outer one stays a loop.
TEST_F(VectorizeLoops, NestedVectors) {
  const Expr j = make_var("j");
  const Stmt inner = make_for(j, make_int(2), LoopKind::Vectorized, put(y, i * 2 + j, at(a, j)));
  EXPECT_EQ(four(inner), "for i < 4 {\n  y[ramp(i * 2, 1, 2)] = a[ramp(0, 1, 2)]\n}\n");
}

// -- Guards.

TEST_F(VectorizeLoops, GuardsOfAllLanes) {
  EXPECT_EQ(four(make_if(n < make_int(3), put(y, i, x))),
            "if n < 3 {\n  y[ramp(0, 1, 4)] = x4(x)\n}\n");
  const Stmt one_place = make_if(n < make_int(3), put(y, n, at(a, i)));
  EXPECT_EQ(four(one_place), serial(one_place));
}

TEST_F(VectorizeLoops, GuardsByLaneStaySerial) {
  const Stmt body = make_if(i < n, put(y, i, x));
  EXPECT_EQ(four(body), serial(body));
  const Stmt two = make_if(i < n, make_seq({make_store(t, {n, n, i}, x), put(y, i, x)}));
  EXPECT_EQ(four(two), serial(two));
}

// Lanes that fail the guard are written as zero; if the first lane fails, nothing is written.
TEST_F(VectorizeLoops, GuardsByLaneOfATexture) {
  EXPECT_EQ(four(make_if(i < n, make_store(t, {n, n, i}, at(a, i)))),
            "if 0 < n {\n"
            "  t[n, n, ramp(0, 1, 4)] = "
            "select(ramp(0, 1, 4) < x4(n), a[ramp(0, 1, 4)], x4(0.0))\n"
            "}\n");
  EXPECT_EQ(four(make_if(i < n, make_store(t, {n, n, i}, x))),
            "if 0 < n {\n"
            "  t[n, n, ramp(0, 1, 4)] = select(ramp(0, 1, 4) < x4(n), x4(x), x4(0.0))\n"
            "}\n");
}

// A part of the condition that is the same for all lanes stays scalar.
TEST_F(VectorizeLoops, MixedGuards) {
  const Expr m = make_var("m");
  const Stmt store = make_store(t, {n, n, i}, x);
  const std::string masked =
      "  t[n, n, ramp(0, 1, 4)] = select(x4(true) && ramp(0, 1, 4) < x4(n), x4(x), x4(0.0))\n";
  const std::string scalar_first = four(make_if((m < n) && (i < n), store));
  EXPECT_EQ(scalar_first, "if m < n && 0 < n {\n" + masked + "}\n");
  EXPECT_EQ(four(make_if((i < n) && (i < m), store)),
            "if 0 < n && 0 < m {\n"
            "  t[n, n, ramp(0, 1, 4)] = "
            "select(ramp(0, 1, 4) < x4(n) && ramp(0, 1, 4) < x4(m), x4(x), x4(0.0))\n}\n");
}

TEST_F(VectorizeLoops, Locations) {
  Lowering lowering;
  lowering.program.body =
      loop(4, make_seq({make_store(y, {i}, at(a, i), schedule::testing::line(7)),
                        make_if(i < n, make_store(t, {n, n, i}, x, schedule::testing::line(8)),
                                schedule::testing::line(9))}));
  vectorize_loops(lowering);
  std::vector<int> lines;
  walk(
      lowering.program.body, [&](const ir::Store& s) { lines.push_back(s.location.line); },
      [&](const ir::If& s) { lines.push_back(s.location.line); });
  EXPECT_EQ(lines, (std::vector<int>{7, 9, 8}));
}

}  // namespace
}  // namespace texloom::lower
