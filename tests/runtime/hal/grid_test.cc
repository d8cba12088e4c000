// Tests grids: expressions over a workload.
#include "runtime/hal/grid.h"

#include <array>
#include <cstdint>
#include <limits>

#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

// Returns ceil(n / 8) x m x 1 for the workload (n, m).
Grid tiles() {
  const Size rounded_up = Size::of(Size::Op::Add, Size::symbol(0), 7);
  return {Size::of(Size::Op::FloorDiv, rounded_up, 8), Size::symbol(1), 1};
}

TEST(Grid, IsComputedFromTheWorkload) {
  using Groups = std::array<std::uint32_t, 3>;
  EXPECT_EQ(workload_count(tiles()), 2u);
  EXPECT_EQ(workload_count({1, 2, 3}), 0u);
  EXPECT_EQ(*groups_of(tiles(), std::array<std::int64_t, 2>{17, 5}), (Groups{3, 5, 1}));
  EXPECT_EQ(*groups_of(tiles(), std::array<std::int64_t, 2>{0, -3}), (Groups{0, 0, 1}));
  EXPECT_EQ(*groups_of({Size::loop_variable(4), 1, 1}, {}, {{4, 6}}), (Groups{6, 1, 1}));
}

TEST(Grid, GroupsThatNoDispatchHasAreRefused) {
  const std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto with = [](std::int64_t m) {
    return groups_of(tiles(), std::array<std::int64_t, 2>{8, m});
  };
  EXPECT_EQ((*with(most))[1], most);
  EXPECT_THAT(with(most + 1).status(),
              fails_with(StatusCode::InvalidArgument, "4294967296 work groups along axis 1"));
  EXPECT_THAT(groups_of(tiles(), std::array<std::int64_t, 1>{8}).status(),
              fails_with(StatusCode::InvalidArgument, "symbol 1 is out of range: there are 1"));
  EXPECT_THAT(
      groups_of(tiles(), std::array<std::int64_t, 2>{std::numeric_limits<std::int64_t>::max(), 1})
          .status(),
      fails_with(StatusCode::InvalidArgument, "no value that fits in 64 bits"));
}

}  // namespace
}  // namespace texloom::hal
