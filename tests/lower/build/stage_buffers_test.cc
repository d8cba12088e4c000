// Tests the buffers and textures of stages.
#include "lower/build/stage_buffers.h"

#include <gtest/gtest.h>

#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Buffer;
using ir::Exprs;
using ir::make_int;
using ir::MemoryScope;
using ir::Tensor;
using schedule::output_of;

using Shape = std::vector<int64_t>;

StageBuffers buffers_of(const Lowering& lowering) {
  return make_stage_buffers(lowering, infer_bounds(lowering.schedule));
}

// A -> B -> C; B is attached to C, so its buffer is smaller than its tensor.
class StageBuffersTest : public ::testing::Test {
 protected:
  StageBuffersTest() {
    te.bind(c, te.axis(c, 0), "blockIdx.x");
    te.compute_at(b, c, te.axis(c, 0));
  }
  const Buffer& of(const StageBuffers& buffers, const Tensor& t) const {
    return buffers.of_stage[static_cast<size_t>(te.id(t))].front();
  }

  Tensor a = placeholder("A", {8, 16}, ir::Type::i(8)), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te{{c}};
};

TEST_F(StageBuffersTest, Parameters) {
  const Tensor unread = placeholder("X", {3, 5}, ir::Type::f(16));
  const StageBuffers buffers = buffers_of(lowering_of(te, {c, unread, a}));
  ASSERT_EQ(buffers.params.size(), 3U);
  EXPECT_TRUE(buffers.params[0].same_as(of(buffers, c)));
  EXPECT_TRUE(buffers.params[2].same_as(of(buffers, a)));
  EXPECT_TRUE(buffers.is_param(of(buffers, a)));
  EXPECT_TRUE(buffers.is_param(of(buffers, c)));
  EXPECT_FALSE(buffers.is_param(of(buffers, b)));
  EXPECT_EQ(buffers.params[1]->name, "X");
  EXPECT_EQ(buffers.params[1]->type, ir::Type::f(16));
  EXPECT_EQ(buffers.params[1]->shape, (Shape{3, 5}));
  EXPECT_EQ(buffers.params[1]->location.line, 1);
}

TEST_F(StageBuffersTest, Buffers) {
  const StageBuffers buffers = buffers_of(lowering_of(te, {a, c}));
  EXPECT_EQ(of(buffers, a)->name, "A");
  EXPECT_EQ(of(buffers, a)->type, ir::Type::i(8));
  EXPECT_EQ(of(buffers, a)->shape, (Shape{8, 16}));
  EXPECT_EQ(of(buffers, a)->memory, MemoryScope::Global);
  EXPECT_EQ(of(buffers, a)->location.line, 1);
  EXPECT_EQ(of(buffers, b)->name, "B");
  EXPECT_EQ(of(buffers, b)->shape, (Shape{1, 16}));
  EXPECT_EQ(of(buffers, b)->memory, MemoryScope::Shared);
  EXPECT_EQ(of(buffers, b)->location.line, 4);
}

// Inlined stages, and inputs that are not arguments, have no buffers.
TEST_F(StageBuffersTest, StagesWithoutBuffers) {
  Te inlined = te;
  inlined.compute_inline(b);
  inlined.s.set_body(te.id(c), make_int(0, ir::Type::i(8)));
  const StageBuffers buffers = buffers_of(lowering_of(inlined, {c}));
  EXPECT_FALSE(of(buffers, b));
  EXPECT_FALSE(of(buffers, a));
  EXPECT_EQ(buffers.of_stage.size(), 3U);
}

TEST_F(StageBuffersTest, UnreadArgumentsOfSymbolicExtents) {
  const Tensor unread =
      output_of(schedule::make_placeholder("X", ir::kInt32, {ir::make_var("n")}, line(7)));
  const StageBuffers buffers = buffers_of(lowering_of(te, {unread}));
  EXPECT_TRUE(buffers.params.front()->is_symbolic());
  EXPECT_EQ(buffers.params.front()->rank(), 1U);
}

TEST_F(StageBuffersTest, Declarations) {
  Lowering lowering = lowering_of(te, {a, c});
  lowering.arguments[0].declaration = declaration("global", {8, 16});
  EXPECT_EQ(of(buffers_of(lowering), a)->name, "A");
  lowering.arguments[0].declaration->name = "buffer";
  EXPECT_EQ(of(buffers_of(lowering), a)->name, "buffer");
}

// -- Textures.

class StageTextures : public ::testing::Test {
 protected:
  StageTextures() { te.set_scope(a, "texture"); }

  Buffer texture(const Lowering& lowering) const {
    return buffers_of(lowering).of_stage[static_cast<size_t>(te.id(a))].front();
  }

  Tensor a = placeholder("A", {12, 5, 4}), b = plus_one(a, "B");
  Te te{{b}};
};

TEST_F(StageTextures, Layout) {
  const Buffer buffer = texture(lowering_of(te, {a, b}));
  EXPECT_EQ(to_string(buffer->layout), "texture[(d0, d1, d2) -> rows=(d0), cols=(d1), lanes=(d2)]");
  EXPECT_EQ(buffer->name, "A");
  EXPECT_EQ(buffer->type, ir::kFloat32);
  EXPECT_EQ(buffer->location.line, 21);
  EXPECT_TRUE(buffer->origin.is_zero());
}

TEST_F(StageTextures, Rules) {
  te.set_scope(a, "texture:nhwc");
  EXPECT_EQ(texture(lowering_of(te, {a, b}))->layout,
            texture_layout({12, 5, 4}, ir::TextureRule::Nhwc));
}

TEST_F(StageTextures, TemporariesAndOrigins) {
  Lowering lowering = lowering_of(te, {a, b});
  lowering.schedule.set_scope(te.id(b), "texture", line(33));
  lowering.arguments[0].declaration = declaration("texture", {12, 5, 4});
  lowering.arguments[0].declaration->has_origin = true;
  const Buffer buffer = texture(lowering);
  ASSERT_FALSE(buffer->origin.is_zero());
  EXPECT_EQ(to_string(buffer->origin.x), "A.x");
  EXPECT_EQ(to_string(buffer->origin.y), "A.y");
  lowering.arguments.pop_back();
  const Buffer temporary = buffers_of(lowering).of_stage[static_cast<size_t>(te.id(b))].front();
  EXPECT_TRUE(temporary->is_texture());
  EXPECT_TRUE(temporary->origin.is_zero());
}

// A texture is folded to fit the limits of the target.
TEST_F(StageTextures, Folds) {
  Lowering lowering = lowering_of(te, {a, b});
  lowering.target.limits.max_image_size = 10;
  const Buffer buffer = texture(lowering);
  EXPECT_EQ(buffer->layout,
            *best_fold(texture_layout({12, 5, 4}, ir::TextureRule::Activation), {10, 10}));
  EXPECT_LE(buffer->layout.row_count(), 10);
}

TEST_F(StageTextures, TooLarge) {
  Lowering lowering = lowering_of(te, {a, b});
  lowering.target.limits.max_image_size = 7;
  EXPECT_EQ(faults([&] { texture(lowering); }),
            "TL4002 te.py:21: 'A' needs 5 x 12 texels, and no fold fits the target's limit of "
            "7 x 7");
}

// -- Layouts that the user wrote.

TEST_F(StageTextures, StatedLayouts) {
  te.s.set_scope(te.id(a), "texture", line(40), "texture[(h, w, c) -> rows=w, cols=(h), lanes=c]");
  Lowering lowering = lowering_of(te, {a, b});
  EXPECT_EQ(to_string(texture(lowering)->layout),
            "texture[(d0, d1, d2) -> rows=(d1), cols=(d0), lanes=(d2)]");
  // A layout that the user wrote is not folded silently.
  lowering.target.limits.max_image_size = 10;
  EXPECT_EQ(faults([&] { texture(lowering); }),
            "TL4002 te.py:40: the layout of 'A' has 12 x 5 texels, but the target allows 10 x 10");
}

// Only part of the tensor is computed at a time: the layout applies to that part.
TEST_F(StageBuffersTest, StatedLayoutOfAPart) {
  te.s.set_scope(te.id(b), "shared", line(40), "buffer[(i, j) -> cols=(j%4, i, j/4)]");
  EXPECT_EQ(to_string(of(buffers_of(lowering_of(te, {a, c})), b)->layout),
            "buffer[(d0, d1) -> cols=(d1%4, d0, d1/4)]");
  te.s.set_scope(te.id(b), "shared", line(41), "buffer[(i, j) -> cols=(j, i/2%4, i%2)]");
  EXPECT_EQ(of(buffers_of(lowering_of(te, {a, c})), b)->layout.col_count(), 128);
}

TEST_F(StageTextures, WrittenLayouts) {
  const auto written = [&](const Shape& shape, std::string_view layout) {
    const Tensor x = compute("X", shape, [](const Exprs&) { return make_int(0); });
    Te own({x});
    own.s.set_scope(own.id(x), "texture", line(40), layout);
    return faults([&] { buffers_of(lowering_of(own, {x})); });
  };
  EXPECT_EQ(written({4, 6}, "texture[(i, j) -> rows=i/2, cols=j/2, lanes=(i%2, j%2)]"),
            "TL2017 te.py:40: 'X' is written a texel at a time, but the lanes of its layout are "
            "not four consecutive indices of one axis");
  EXPECT_EQ(written({4, 8}, "texture[(i, j) -> rows=i, cols=j%2, lanes=j/2]"),
            "TL2017 te.py:40: 'X' is written a texel at a time, but the lanes of its layout are "
            "not four consecutive indices of one axis");
  EXPECT_EQ(written({4, 7}, "texture[(i, j) -> rows=i, cols=j/4, lanes=j%4, padding=zero]"), "");
  EXPECT_EQ(written({5, 7}, "texture[(i, j) -> rows=i%2, cols=(i/2, j/4), lanes=j%4]"), "");
  EXPECT_EQ(
      written({5, 7}, "texture[(i, j) -> rows=i%2, cols=(i/2, j/4), lanes=j%4, padding=zero]"),
      "TL2017 te.py:40: the layout of 'X' has padding that nothing writes, so it would not be "
      "zero");
}

// -- Sizes.

std::string of_shape(const Shape& shape) {
  const Tensor x = compute("X", shape, [](const Exprs&) { return make_int(0); });
  return faults([&] { buffers_of(lowering_of(Te({x}), {x})); });
}

TEST(StageBufferSizes, AreLimited) {
  EXPECT_EQ(of_shape({2147483647}), "");
  EXPECT_EQ(of_shape({2147483647, 1}), "");
  EXPECT_EQ(of_shape({65536, 32768}), "");
  EXPECT_EQ(of_shape({1 << 30, 1 << 18}), "");
  const std::string refused = "TL4007 te.py:4: 'X' has too many elements";
  EXPECT_EQ(of_shape({1 << 30, (1 << 18) + 1}), refused);
  EXPECT_EQ(of_shape({2147483647, 2147483647, 2147483647}), refused);
}

}  // namespace
}  // namespace texloom::lower
