#include "ir/layout/strides.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace texloom::ir {
namespace {

TEST(RowMajorStride, IsTheProductOfLaterExtents) {
  const std::vector<int64_t> shape = {2, 3, 5};
  const auto stride = [&](size_t axis) {
    return row_major_stride(shape, axis, int64_t{1}, std::multiplies<>());
  };
  EXPECT_EQ(stride(0), 15);
  EXPECT_EQ(stride(1), 5);
  EXPECT_EQ(stride(2), 1);
}

}  // namespace
}  // namespace texloom::ir
