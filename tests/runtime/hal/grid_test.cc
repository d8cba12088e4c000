// Grids: expressions over a workload, evaluated when a dispatch is recorded.
#include "runtime/hal/grid.h"

#include <limits>

#include "runtime/drivers/null/driver.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

// ceil(n / 8) x m x 1 for the workload (n, m).
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
              fails_with(StatusCode::InvalidArgument, "symbol 1 of 1"));
  EXPECT_THAT(
      groups_of(tiles(), std::array<std::int64_t, 2>{std::numeric_limits<std::int64_t>::max(), 1})
          .status(),
      fails_with(StatusCode::InvalidArgument, "no value that fits in 64 bits"));
}

class DispatchWorkloadTest : public ::testing::Test {
 protected:
  std::shared_ptr<Executable> make(std::optional<Grid> grid) const {
    return *device_->create_executable(
        {.codes = opencl_c("anything"),
         .entry_points = {{.name = "f", .params = {}, .grid = std::move(grid)}}});
  }
  std::shared_ptr<Device> device_ = *null::create_driver()->open(0);
};

TEST_F(DispatchWorkloadTest, RecordsTheGroupsOfItsGrid) {
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(
      commands->dispatch_workload(make(tiles()), 0, std::array<std::int64_t, 2>{9, 4}, {}, {}));
  TL_ASSERT_OK(
      commands->dispatch_workload(make(tiles()), 0, std::array<std::int64_t, 2>{0, 4}, {}, {}));
  ASSERT_EQ(commands->segments().size(), 1u);  // no groups along an axis: nothing to do
  EXPECT_EQ(std::get<DispatchSegment>(commands->segments().front()).groups,
            (std::array<std::uint32_t, 3>{2, 4, 1}));
}

TEST_F(DispatchWorkloadTest, RefusesWhatTheGridDoesNotTake) {
  const auto commands = device_->create_command_buffer();
  const std::array<std::int64_t, 3> workload = {1, 1, 1};
  EXPECT_THAT(commands->dispatch_workload(make(std::nullopt), 0, workload, {}, {}),
              fails_with(StatusCode::InvalidArgument, "kernel \"f\" has no grid"));
  EXPECT_THAT(commands->dispatch_workload(make(tiles()), 0, workload, {}, {}),
              fails_with(StatusCode::InvalidArgument, "the grid is over 2 numbers, got 3"));
  EXPECT_THAT(commands->dispatch_workload(make(tiles()), 1, workload, {}, {}),
              fails_with(StatusCode::InvalidArgument, "entry point 1 of 1"));
  EXPECT_THAT(commands->dispatch_workload(nullptr, 0, workload, {}, {}),
              fails_with(StatusCode::InvalidArgument, "null"));
  EXPECT_TRUE(commands->segments().empty());
  EXPECT_THAT(
      device_
          ->create_executable({.codes = opencl_c("anything"),
                               .entry_points = {{.name = "f",
                                                 .params = {},
                                                 .grid = Grid{Size::loop_variable(0), 1, 1}}}})
          .status(),
      fails_with(StatusCode::InvalidArgument, "its grid depends on a loop variable"));
}

}  // namespace
}  // namespace texloom::hal
