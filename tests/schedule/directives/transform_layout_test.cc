// Tests the layouts and loops that transform_layout makes.
#include <gtest/gtest.h>

#include "schedule/operation/axis_transform.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::floordiv;
using ir::floormod;
using ir::IterVar;
using ir::make_int;
using ir::make_var;
using ir::Tensor;

class TransformLayout : public ::testing::Test {
 protected:
  template <class F>
  std::vector<IterVar> transform(const Tensor& t, const F& function,
                                 std::vector<size_t> separators = {}) {
    const Stage& stage = te.stage(t);
    const size_t rank = stage.transform ? stage.transform->map.axes.size() : stage.op->shape.size();
    Exprs axes;
    for (size_t i = 0; i < rank; ++i) axes.push_back(make_var("a" + std::to_string(i)));
    return te.s.transform_layout(te.id(t), axes, function(axes), std::move(separators), line(30));
  }
  std::string map_of(const Tensor& t) const { return to_string(te.stage(t).transform->map); }
  std::string loops(const Tensor& t) const { return names(te.stage(t).leaves); }

  Tensor a = placeholder("A", {2, 6, 5}), b = plus_one(a, "B");
  Te te{{b}};
};

const auto packed = [](const Exprs& a) {
  return Exprs{a[0], floordiv(a[1], 4), a[2], floormod(a[1], 4)};
};

TEST_F(TransformLayout, OfAComputeGivesLoopsOverTheNewAxes) {
  EXPECT_EQ(names(transform(b, packed)), "i, j.outer, k, j.inner");
  EXPECT_EQ(loops(b), "i, j.outer, k, j.inner");
  EXPECT_EQ(map_of(b), "(d0, d1, d2) -> (d0, d1/4, d2, d1%4)");
}

TEST_F(TransformLayout, OfAnInputGivesNone) {
  EXPECT_EQ(transform(a, packed).size(), 0U);
  EXPECT_EQ(map_of(a), "(d0, d1, d2) -> (d0, d1/4, d2, d1%4)");
}

TEST_F(TransformLayout, Fusions) {
  const auto loops =
      transform(b, [](const Exprs& a) { return Exprs{a[2] * 2 + a[0], make_int(0), a[1]}; });
  EXPECT_EQ(names(loops), "k.i.fused, singleton, j");
  EXPECT_EQ(map_of(b), "(d0, d1, d2) -> ((d2, d0), (), d1)");
}

// The second map applies to the axes that the first one made.
TEST_F(TransformLayout, MayRepeat) {
  transform(b, packed);
  const auto loops = transform(b, [](const Exprs& a) { return Exprs{a[3], a[1], a[0], a[2]}; });
  EXPECT_EQ(names(loops), "j.inner, j.outer, i, k");
  EXPECT_EQ(map_of(b), "(d0, d1, d2) -> (d1%4, d1/4, d0, d2)");
  EXPECT_EQ(names(te.stage(b).leaves), "j.inner, j.outer, i, k");
}

TEST_F(TransformLayout, Refusals) {
  const auto refused = [&](const auto& function) {
    return faults([&] { transform(b, function); });
  };
  EXPECT_EQ(refused([](const Exprs& a) { return Exprs{a[0] + a[1], a[2]}; }),
            "TL2017 te.py:30: transform_layout cannot lay out an axis by the index a0 + a1");
  EXPECT_EQ(refused([](const Exprs& a) { return Exprs{a[0] * 5 + a[1], a[2]}; }),
            "TL2017 te.py:30: transform_layout cannot lay out an axis by the index a0 * 5 + a1");
  EXPECT_EQ(refused([](const Exprs& a) { return Exprs{floordiv(a[0] * 6 + a[1], 4), a[2]}; }),
            "TL2017 te.py:30: transform_layout cannot lay out an axis by the index floordiv(a0 * 6 "
            "+ a1, 4)");
  EXPECT_EQ(refused([](const Exprs& a) { return Exprs{a[0], a[1]}; }),
            "TL2017 te.py:30: transform_layout: the parts of axis a2 leave out a2");
  EXPECT_EQ(refused([](const Exprs& a) { return Exprs{a[0], a[1], a[2], a[2]}; }),
            "TL2017 te.py:30: transform_layout: the parts of axis a2 overlap: a2 "
            "and a2");
  te.split(b, te.axis(b, 0), 2);
  EXPECT_EQ(
      refused(packed),
      "TL2017 te.py:30: cannot apply transform_layout to 'B': its loops are already scheduled");
}

// -- Layouts.

AxisTransform to_nchw4c(std::vector<size_t> separators) {
  const Exprs axes = {make_var("n"), make_var("c"), make_var("w")};
  return {index_map_of({2, 6, 5}, axes, packed(axes), line(30)), std::move(separators), 0,
          line(30)};
}
std::string layouts(std::vector<size_t> separators, std::string_view scope) {
  const TransformedLayout found =
      transformed_layout(to_nchw4c(std::move(separators)), *ir::parse_scope(scope), "B");
  return to_string(found.tensor) + "\n" + to_string(found.array);
}

TEST(TransformedLayout, RowsColumnsAndLanes) {
  EXPECT_EQ(layouts({2}, "texture"),
            "texture[(d0, d1, d2) -> rows=(d0, d1/4), cols=(d2), lanes=(d1%4)]\n"
            "texture[(d0, d1, d2, d3) -> rows=(d0, d1), cols=(d2), lanes=(d3)]");
  EXPECT_EQ(layouts({}, "texture:weight"),
            "texture[(d0, d1, d2) -> rows=(d0), cols=(d1/4, d2), lanes=(d1%4)]\n"
            "texture[(d0, d1, d2, d3) -> rows=(d0), cols=(d1, d2), lanes=(d3)]");
  EXPECT_EQ(layouts({}, "global"), "buffer[(d0, d1, d2) -> cols=(d0, d1/4, d2, d1%4)]\nlinear");
  EXPECT_EQ(
      faults([] { layouts({2}, "global"); }),
      "TL2017 te.py:30: 'B' is stored in a buffer, which has no rows and columns to separate");
  EXPECT_EQ(faults([] { layouts({1, 2}, "texture"); }),
            "TL2017 te.py:30: the texture 'B' has 4 new axes and 2 separators");
}

}  // namespace
}  // namespace texloom::schedule
