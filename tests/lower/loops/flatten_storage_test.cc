// Tests turning accesses with several indices into offsets and texels.
#include "lower/loops/flatten_storage.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using ir::Buffer;
using ir::Expr;
using ir::Exprs;
using ir::kFloat32;
using ir::LoopKind;
using ir::make_for;
using ir::make_int;
using ir::make_load;
using ir::make_seq;
using ir::make_store;
using ir::make_texture;
using ir::make_var;
using ir::ramp;
using ir::Stmt;
using ir::texture_layout;
using ir::TextureRule;

// `i` < 8 and `j` < 4 are loop variables; `n` is unknown.
class FlattenStorage : public ::testing::Test {
 protected:
  // The statement without the enclosing loops.
  std::string flat(const Stmt& body) const {
    const std::string text =
        after(flatten_storage, make_for(i, make_int(8), LoopKind::Serial,
                                        make_for(j, make_int(4), LoopKind::Serial, body)));
    const std::string start = "for i < 8 {\n  for j < 4 {\n    ";
    EXPECT_EQ(text.substr(0, start.size()), start);
    return text.substr(start.size(), text.size() - start.size() - std::string("\n  }\n}\n").size());
  }
  // The value of a store of this expression.
  std::string value(const Expr& e) const {
    const Buffer target = ir::global("y", e->type.element(), 64);
    const Expr index = e->type.is_scalar() ? make_int(0) : ramp(make_int(0), e->type.lanes);
    const std::string text = flat(put(target, index, e));
    return text.substr(text.find(" = ") + 3);
  }
  std::string load(const Buffer& buffer, const Exprs& indices) const {
    return value(make_load(buffer, indices));
  }

  Expr i = make_var("i"), j = make_var("j"), n = make_var("n"), x = make_var("x", kFloat32);
  Expr v = make_var("v", kFloat32.with_lanes(4));
  Buffer a = ir::make_buffer("a", kFloat32, {8, 3, 16}, ir::MemoryScope::Global);
  Buffer t = make_texture("t", kFloat32, texture_layout({8, 6, 4}, TextureRule::Activation));
};

// Offsets beyond 2^31 - 1 need 64 bits. 32 bits suffice for a buffer of 2^31 elements, and for an
// access to a larger buffer if its offset is known to stay below 2^31.
TEST_F(FlattenStorage, WideOffsets) {
  const auto buffer = [](int64_t rows, int64_t columns) {
    return ir::make_buffer("b", kFloat32, {rows, columns}, ir::MemoryScope::Global);
  };
  EXPECT_EQ(load(buffer(1, 2147483647), {make_int(0), n}), "b[n]");
  EXPECT_EQ(load(buffer(65536, 32768), {n, j}), "b[n * 32768 + j]");
  EXPECT_EQ(load(buffer(65536, 32769), {n, j}), "b[int64(n) * int64(32769) + int64(j)]");
  EXPECT_EQ(load(buffer(65536, 32769), {i, j}), "b[i * 32769 + j]");
  EXPECT_EQ(load(buffer(65536, 65536), {n * 2 + 1, n - 1}),
            "b[int64(n) * int64(131073) + int64(65535)]");
  EXPECT_EQ(load(buffer(65536, 65536), {n, ramp(j * 4, 4)}),
            "b[ramp(int64(n) * int64(65536) + int64(j) * int64(4), int64(1), 4)]");
  EXPECT_EQ(load(buffer(65536, 65536), {n, ramp(floordiv(n, 3), 4)}),
            "b[ramp(int64(n) * int64(65536) + int64(floordiv(n, 3)), int64(1), 4)]");
}

TEST_F(FlattenStorage, Offsets) {
  EXPECT_EQ(load(a, {i, j, n}), "a[i * 48 + j * 16 + n]");
  EXPECT_EQ(flat(make_store(a, {i, make_int(2), j}, x)), "a[i * 48 + j + 32] = x");
  EXPECT_EQ(load(ir::make_buffer("s", kFloat32, {}, ir::MemoryScope::Local), {}), "s[0]");
}

TEST_F(FlattenStorage, Vectors) {
  EXPECT_EQ(load(a, {i, j, ramp(n, 4)}), "a[ramp(i * 48 + j * 16 + n, 1, 4)]");
  EXPECT_EQ(load(a, {i, ramp(make_int(0), 3), n}), "a[ramp(i * 48 + n, 16, 3)]");
  EXPECT_EQ(load(a, {i, ramp(j, 2), ramp(n, 2, 5)}), "a[ramp(i * 48 + j * 16 + n, 21, 2)]");
  EXPECT_EQ(flat(make_store(a, {i, j, ramp(make_int(0), 4)}, v)),
            "a[ramp(i * 48 + j * 16, 1, 4)] = v");
}

// Offsets without a common stride are packed.
TEST_F(FlattenStorage, IrregularVectors) {
  const Expr some = ir::make_pack({make_int(0), make_int(1), make_int(3)});
  EXPECT_EQ(load(a, {i, j, some}),
            "a[pack(i * 48 + j * 16, i * 48 + j * 16 + 1, i * 48 + j * 16 + 3)]");
  EXPECT_EQ(load(a, {i, j, ir::make_pack({i, n})}),
            "a[pack(i * 49 + j * 16, i * 48 + j * 16 + n)]");
}

TEST_F(FlattenStorage, Texels) {
  EXPECT_EQ(load(t, {i, j, ramp(make_int(0), 4)}), "texture2d.load(t, x=j, y=i: float32x4)");
  EXPECT_EQ(load(t, {i, n, make_int(2)}), "texture2d.load(t, x=n, y=i: float32x4).lane[2]");
  EXPECT_EQ(load(t, {i, n, j}), "texture2d.load(t, x=n, y=i: float32x4).lane[j]");
  EXPECT_EQ(flat(make_store(t, {i, j, ramp(make_int(0), 4)}, v)),
            "texture2d.store(t, x=j, y=i, v: float32x4)");
}

// A lane index stays in range even if nothing is known about the index.
TEST_F(FlattenStorage, LanesAreFourAtMost) {
  EXPECT_EQ(load(t, {i, j, n}), "texture2d.load(t, x=j, y=i: float32x4).lane[floormod(n, 4)]");
  EXPECT_EQ(load(t, {i, j, n * 4 + 1}), "texture2d.load(t, x=j, y=i: float32x4).lane[1]");
}

// A vector that is not a whole texel in order is read lane by lane.
TEST_F(FlattenStorage, ChoicesOfLanes) {
  EXPECT_EQ(load(t, {i, j, ramp(make_int(0), 2)}),
            "pack(texture2d.load(t, x=j, y=i: float32x4).lane[0], "
            "texture2d.load(t, x=j, y=i: float32x4).lane[1])");
  EXPECT_EQ(load(t, {i, make_int(1), ramp(make_int(3), 4, -1)}).substr(0, 51),
            "pack(texture2d.load(t, x=1, y=i: float32x4).lane[3]");
  const auto lanes_of = [&](const Expr& row, const Expr& column) {
    return load(t, {row, column, ramp(make_int(0), 4)}).substr(0, 5);
  };
  EXPECT_EQ(lanes_of(ramp(make_int(0), 4), j), "pack(");
  EXPECT_EQ(lanes_of(i, ramp(make_int(0), 4)), "pack(");
}

// A last axis with an extent other than 4 becomes texels and lanes; the outermost digit needs no
// remainder.
TEST_F(FlattenStorage, SplitLanes) {
  const Buffer u = make_texture("u", kFloat32, texture_layout({8, 4, 32}, TextureRule::Activation));
  EXPECT_EQ(to_string(u->layout),
            "texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]");
  EXPECT_EQ(load(u, {i, j, ramp(n * 4, 4)}), "texture2d.load(u, x=n, y=i * 4 + j: float32x4)");
  EXPECT_EQ(load(u, {i, j, n}),
            "texture2d.load(u, x=floordiv(n, 4), y=i * 4 + j: float32x4).lane[floormod(n, 4)]");
  EXPECT_EQ(load(u, {i, j, i * 4 + j}), "texture2d.load(u, x=i, y=i * 4 + j: float32x4).lane[j]");
}

TEST_F(FlattenStorage, FoldedTextures) {
  const ir::Layout folded = *best_fold(texture_layout({8, 4, 4}, TextureRule::Activation), {8, 4});
  const Buffer f = make_texture("f", kFloat32, folded);
  EXPECT_EQ(to_string(folded), "texture[(d0, d1, d2) -> rows=(d0%4), cols=(d0/4, d1), lanes=(d2)]");
  EXPECT_EQ(load(f, {i, j, make_int(1)}),
            "texture2d.load(f, x=floordiv(i, 4) * 4 + j, y=floormod(i, 4): float32x4).lane[1]");
}

TEST_F(FlattenStorage, Origins) {
  const Buffer o = make_texture("o", kFloat32, t->layout, {make_var("ox"), make_var("oy")});
  EXPECT_EQ(load(o, {i, j, ramp(make_int(0), 4)}),
            "texture2d.load(o, x=j + ox, y=i + oy: float32x4)");
  EXPECT_EQ(flat(make_store(o, {i, j, ramp(make_int(0), 4)}, v)),
            "texture2d.store(o, x=j + ox, y=i + oy, v: float32x4)");
}

// A store must write a whole texel with its lanes in order.
TEST_F(FlattenStorage, PartsOfTexels) {
  const auto stored = [&](const Expr& column, const Expr& lane, const Expr& e) {
    return schedule::testing::faults(
        [&] { flat(make_store(t, {i, column, lane}, e, schedule::testing::line(7))); });
  };
  const std::string refused =
      "TL3007 te.py:7: 't' is written in parts of texels, but a texture store writes all "
      "four lanes";
  const Expr pair = make_var("p", kFloat32.with_lanes(2));
  EXPECT_EQ(stored(j, ramp(make_int(0), 4), v), "");
  EXPECT_EQ(stored(j, make_int(0), x), refused);
  EXPECT_EQ(stored(j, ramp(make_int(0), 2), pair), refused);
  EXPECT_EQ(stored(j, ramp(make_int(3), 4, -1), v), refused);
  EXPECT_EQ(stored(ramp(make_int(0), 4), ramp(make_int(0), 4), v), refused);
}

TEST_F(FlattenStorage, Lines) {
  Lowering lowering;
  const SourceLocation here = schedule::testing::line(7);
  lowering.program.body =
      make_seq({make_store(a, {n, n, n}, make_load(a, {n, n, i}, here), here),
                make_store(t, {n, n, ramp(make_int(0), 4)},
                           make_load(t, {n, i, ramp(make_int(0), 4)}, here), here)});
  flatten_storage(lowering);
  int found = 0;
  const auto see = [&](const auto& node) { found += node.location.line == 7 ? 1 : 0; };
  walk(
      lowering.program.body, [&](const ir::Store& s) { see(s); },
      [&](const ir::TextureStore& s) { see(s); }, [&](const ir::Load& e) { see(e); },
      [&](const ir::TextureLoad& e) { see(e); });
  EXPECT_EQ(found, 4);
}

}  // namespace
}  // namespace texloom::lower
