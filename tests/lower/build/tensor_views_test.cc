// Tests the check of views of tensor intrinsics against the buffer parts that they are bound to.
#include "lower/build/tensor_views.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ir/arith/simplify.h"
#include "ir/program.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace ir;  // the whole file uses IR nodes
using schedule::TensorIntrinsicFields;
using schedule::TensorIntrinsicNode;
using schedule::TensorView;

Buffer array(std::vector<int64_t> shape, MemoryScope memory = MemoryScope::Global) {
  return make_buffer("A", kFloat32, std::move(shape), memory);
}

class TensorViews : public ::testing::Test {
 protected:
  // Returns the problem of binding a view, by default of 4 elements, to the buffer at `first`, or
  // "".
  std::string problem(TensorView view, const Buffer& buffer, Exprs first) {
    if (!view.buffer) view.buffer = array({4});
    const TensorIntrinsicNode intrinsic({"f", {}, {view}, {}, {}, {}, {}});
    const ViewParts parts{{view.buffer.get(), {buffer, std::move(first)}}};
    try {
      values_ = values_of_views(intrinsic, parts, ranges_,
                                [](const std::string&, const std::string& problem) {
                                  throw std::runtime_error(problem);
                                });
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return {};
  }
  std::string with_factor(int64_t factor, const Buffer& buffer, Exprs first) {
    return problem({.offset_factor = factor}, buffer, std::move(first));
  }

  const Expr i_ = make_var("i"), j_ = make_var("j");
  arith::Ranges ranges_;
  Substitution values_;
};

TEST_F(TensorViews, BeginAtMultiplesOfTheirFactor) {
  const Buffer rows = array({8, 16});
  EXPECT_EQ(with_factor(4, rows, {i_, j_ * make_int(4)}), "");
  EXPECT_EQ(with_factor(16, rows, {i_, make_int(0)}), "");
  EXPECT_EQ(with_factor(8, rows, {i_, j_ * make_int(4)}),
            "the view 'A' must begin at a multiple of 8 elements, but its part of 'A' may begin "
            "elsewhere: along axis 1, it begins at index j * 4");
  EXPECT_EQ(with_factor(32, rows, {i_, make_int(0)}),
            "the view 'A' must begin at a multiple of 32 elements, but its part of 'A' may begin "
            "elsewhere: along axis 0, it begins at index i");
  EXPECT_EQ(with_factor(1, rows, {i_, j_}), "");
}

// The start, 12 + 4 elements, is a multiple of 16, although neither term is.
TEST_F(TensorViews, AxesMayMakeAMultipleTogether) {
  EXPECT_EQ(with_factor(16, array({8, 12}), {make_int(1), make_int(4)}), "");
  EXPECT_NE(with_factor(16, array({8, 12}), {make_int(1), make_int(8)}), "");
}

TEST_F(TensorViews, OfArraysThatTheCallKnows) {
  const Expr n = make_var("n"), m = make_var("m");
  const Buffer rows = make_array("A", kFloat32, {n, make_int(8)});
  EXPECT_EQ(with_factor(8, rows, {i_, make_int(0)}), "");
  EXPECT_NE(with_factor(16, rows, {i_, make_int(0)}), "");
  const Buffer padded = make_array("A", kFloat32, {n, m * make_int(4)});
  EXPECT_EQ(with_factor(4, padded, {i_, j_ * make_int(8)}), "");
  EXPECT_NE(with_factor(8, padded, {i_, j_ * make_int(8)}), "");
  EXPECT_NE(with_factor(2, make_array("A", kFloat32, {n, m}), {i_, make_int(0)}), "");
}

TEST_F(TensorViews, LieInTheScopeTheyName) {
  const StorageScope local{MemoryScope::Local, {}}, texture{MemoryScope::Global, TextureRule::Nhwc};
  const Buffer image = make_texture("T", kFloat32, texture_layout({8, 4}, TextureRule::Activation));
  EXPECT_EQ(problem({.scope = local}, array({4}, MemoryScope::Local), {make_int(0)}), "");
  EXPECT_EQ(problem({.scope = texture}, image, {i_, make_int(0)}), "");
  EXPECT_EQ(problem({.scope = local}, array({4}), {make_int(0)}),
            "the view 'A' is in 'local', but 'A' is in 'global'");
  EXPECT_EQ(problem({.scope = StorageScope{}}, image, {i_, make_int(0)}),
            "the view 'A' is in 'global', but 'T' is in a texture");
  EXPECT_EQ(problem({.scope = texture}, array({4}), {make_int(0)}),
            "the view 'A' is in 'texture:nhwc', but 'A' is in 'global'");
}

TEST_F(TensorViews, StridesAndOffsetsHaveValues) {
  const Expr stride = make_var("stride"), offset = make_var("offset");
  EXPECT_EQ(problem({.strides = {stride}, .offset = offset}, array({8, 16}), {i_, make_int(4)}),
            "");
  EXPECT_EQ(to_string(values_.at(stride)), "1");
  EXPECT_EQ(to_string(values_.at(offset)), "i * 16 + 4");
  EXPECT_EQ(problem({.strides = {make_int(2)}}, array({8, 16}), {i_, make_int(4)}),
            "axis 1 of 'A' has the stride 1, but the view's stride is 2");
  EXPECT_EQ(problem({.buffer = array({2, 4}), .strides = {make_int(16), make_int(2)}},
                    array({3, 8, 16}), {i_, j_, make_int(4)}),
            "axis 2 of 'A' has the stride 1, but the view's stride is 2");
  EXPECT_EQ(problem({.offset = offset}, array({1 << 16, 1 << 16}), {i_, j_}),
            "the view 'A' may begin anywhere in 'A', which has more elements than int32 can count");
}

}  // namespace
}  // namespace texloom::lower
