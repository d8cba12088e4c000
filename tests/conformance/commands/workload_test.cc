// Tests dispatches over workloads: the entry point's grid computes the group counts from the sizes
// of the data.
#include <limits>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

using Workload = std::vector<std::int64_t>;
using Groups = std::array<std::uint32_t, 3>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostGroups = std::numeric_limits<std::uint32_t>::max();

Size ceil_div(const Size& a, std::int64_t b) {
  return Size::of(Size::Op::FloorDiv, Size::of(Size::Op::Add, a, b - 1), b);
}
Size product(const Size& a, const Size& b) { return Size::of(Size::Op::Mul, a, b); }

// The grid of kernels::index() over (width, height, depth), in groups of 2 x 3 x 1.
Grid over_three_axes() {
  return {ceil_div(Size::symbol(0), 2), ceil_div(Size::symbol(1), 3), Size::symbol(2)};
}

class Workloads : public DispatchFixture {
 protected:
  std::shared_ptr<Executable> index_over(std::optional<Grid> grid) {
    EntryPoint entry = kernels::index();
    entry.grid = std::move(grid);
    const auto made = device().create_executable(tested().kernels({entry}));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : nullptr;
  }
  // Table slots need a dispatch with explicit group counts, which groups_of() computes.
  Status dispatch_index(CommandBuffer& commands, const std::shared_ptr<Executable>& executable,
                        const Workload& workload, const std::shared_ptr<Buffer>& out, int width,
                        int height) {
    const std::vector<Binding> bindings = {BufferBinding{out}};
    const std::vector constants = {Constant(width), Constant(height)};
    if (parameter<0>() == BindingStyle::Direct)
      return commands.dispatch_workload(executable, 0, workload, bindings, constants);
    TL_ASSIGN_OR_RETURN(const Groups groups, groups_of(executable->entry_points()[0], workload));
    return dispatch(commands, executable, groups, bindings, constants);
  }
  // Expects that a workload runs these groups: `index` writes their numbers.
  void expect_groups(const std::shared_ptr<Executable>& executable, const Workload& workload,
                     const Groups& groups) {
    const auto [x, y, z] = groups;
    const int width = static_cast<int>(2 * x), height = static_cast<int>(3 * y);
    std::vector<std::int32_t> expected =
        kernels::written_by_index(width, height, static_cast<int>(z));
    expected.resize(expected.size() + 64, -7);  // extra groups would overwrite these values
    const auto out = make_buffer(bytes_of(std::vector<std::int32_t>(expected.size(), -7)));
    const auto commands = begin();
    TL_ASSERT_OK(dispatch_index(*commands, executable, workload, out, width, height));
    TL_ASSERT_OK(run(commands));
    expect_values(out, expected, fmt::format("workload {}", fmt::join(workload, " x ")));
  }
  // Returns the error for an invalid workload.
  Status refusal(std::optional<Grid> grid, const Workload& workload) {
    const auto out = make_buffer(64);
    const auto commands = begin();
    const Status status =
        dispatch_index(*commands, index_over(std::move(grid)), workload, out, 1, 1);
    EXPECT_TRUE(commands->segments().empty());
    return status;
  }
  static auto refused(const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  }
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(Workloads);

TEST_P(Workloads, OverOneAxis) {
  const auto index = index_over(Grid{Size::symbol(0), 1, 1});
  for (const std::uint32_t n : {1U, 2U, 7U}) expect_groups(index, {n}, {n, 1, 1});
}

TEST_P(Workloads, OverThreeAxes) {
  const auto index = index_over(over_three_axes());
  expect_groups(index, {8, 6, 3}, {4, 2, 3});
  expect_groups(index, {2, 3, 1}, {1, 1, 1});
}

TEST_P(Workloads, RoundUpToWholeGroups) {
  const auto index = index_over(over_three_axes());
  expect_groups(index, {1, 1, 1}, {1, 1, 1});
  expect_groups(index, {3, 4, 1}, {2, 2, 1});
  expect_groups(index, {7, 7, 2}, {4, 3, 2});
}

TEST_P(Workloads, MayBeThatOfAnotherAxis) {
  expect_groups(index_over(Grid{Size::symbol(2), Size::symbol(0), Size::symbol(1)}), {2, 3, 4},
                {4, 2, 3});
}

TEST_P(Workloads, MayStandInSeveralAxes) {
  expect_groups(index_over(Grid{Size::symbol(0), Size::symbol(0), 1}), {3}, {3, 3, 1});
}

// All data axes are mapped to one grid axis.
TEST_P(Workloads, MayBeMultiplied) {
  const Size all = product(product(Size::symbol(0), Size::symbol(1)), Size::symbol(2));
  expect_groups(index_over(Grid{ceil_div(all, 4), 1, 1}), {3, 5, 7}, {27, 1, 1});
}

TEST_P(Workloads, OfEveryOperation) {
  const Size n = Size::symbol(0), m = Size::symbol(1);
  const Grid grid = {
      Size::of(Size::Op::Min, n, m), Size::of(Size::Op::Max, n, m),
      Size::of(Size::Op::Add, Size::of(Size::Op::FloorMod, n, m), Size::of(Size::Op::Sub, n, m))};
  expect_groups(index_over(grid), {5, 3}, {3, 5, 4});
}

TEST_P(Workloads, OfNoNumbersRunConstantGroups) {
  expect_groups(index_over(Grid{3, 2, 1}), {}, {3, 2, 1});
}

// A workload has a number for each symbol up to the last one in the grid, also for unused symbols.
TEST_P(Workloads, MayHaveNumbersThatTheGridSkips) {
  expect_groups(index_over(Grid{Size::symbol(2), 1, 1}), {100, 200, 3}, {3, 1, 1});
}

TEST_P(Workloads, OfOneExecutableAreOfAnySize) {
  const auto index = index_over(Grid{Size::symbol(0), Size::symbol(1), 1});
  const auto out = make_buffer(4 * 6 * 4);
  const auto commands = begin();
  TL_ASSERT_OK(dispatch_index(*commands, index, {2, 2}, out, 4, 6));
  TL_ASSERT_OK(dispatch_index(*commands, index, {1, 1}, out, 4, 6));
  TL_ASSERT_OK(run(commands));
  expect_values(out, kernels::written_by_index(4, 6, 1));
}

TEST_P(Workloads, WithAnAxisOfZeroOrLessRunNothing) {
  const auto index = index_over(over_three_axes());
  const Bytes old(64, std::byte{7});
  const auto out = make_buffer(old);
  const auto commands = begin();
  for (const Workload& none :
       {Workload{0, 1, 1}, Workload{1, 0, 1}, Workload{1, 1, 0}, Workload{0, 0, 0},
        Workload{-5, 1, 1}, Workload{1, 1, std::numeric_limits<std::int64_t>::min()}})
    TL_ASSERT_OK(dispatch_index(*commands, index, none, out, 2, 3));
  EXPECT_TRUE(commands->segments().empty());
  TL_ASSERT_OK(run(commands));
  expect_content(out, old);
}

TEST_P(Workloads, OfNothingAreCheckedAllTheSame) {
  const auto index = index_over(over_three_axes());
  EXPECT_THAT(dispatch_index(*begin(), index, {0, 1}, make_buffer(64), 1, 1),
              refused("the grid depends on 3 numbers, got 2"));
  if (parameter<0>() == BindingStyle::Table) return;  // table bindings are checked later
  EXPECT_THAT(begin()->dispatch_workload(index, 0, Workload{0, 1, 1}, {}, {}),
              refused("takes 1 buffers and textures, got 0"));
}

TEST_P(Workloads, OfTooFewOrTooManyNumbersAreRefused) {
  EXPECT_THAT(refusal(over_three_axes(), {}),
              refused("kernel \"index\": the grid depends on 3 numbers, got 0"));
  EXPECT_THAT(refusal(over_three_axes(), {1, 1}), refused("depends on 3 numbers, got 2"));
  EXPECT_THAT(refusal(over_three_axes(), {1, 1, 1, 1}), refused("depends on 3 numbers, got 4"));
  EXPECT_THAT(refusal(Grid{1, 1, 1}, {1}), refused("depends on 0 numbers, got 1"));
}

TEST_P(Workloads, OfEntryPointsWithoutAGridAreRefused) {
  EXPECT_THAT(refusal(std::nullopt, {1, 1, 1}), refused("kernel \"index\" has no grid"));
}

TEST_P(Workloads, OfMoreGroupsThanAreCountedAreRefused) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Grid grid = {1, 1, 1};
    grid[axis] = Size::symbol(0);
    EXPECT_THAT(
        refusal(grid, {kMostGroups + 1}),
        refused(fmt::format("kernel \"index\": 4294967296 work groups along axis {}", axis)));
  }
}

TEST_P(Workloads, OfUncountableNumbersAreRefused) {
  EXPECT_THAT(refusal(over_three_axes(), {kMost, 1, 1}),
              refused("kernel \"index\": (9223372036854775807 + 1) has no value"));
  EXPECT_THAT(refusal(Grid{product(Size::symbol(0), Size::symbol(1)), 1, 1},
                      {std::int64_t{1} << 32, std::int64_t{1} << 31}),
              refused("no value that fits in 64 bits"));
}

TEST_P(Workloads, DividedByZeroAreRefused) {
  for (const Size::Op op : {Size::Op::FloorDiv, Size::Op::FloorMod})
    EXPECT_THAT(refusal(Grid{Size::of(op, Size::symbol(0), Size::symbol(1)), 1, 1}, {4, 0}),
                refused("no value that fits in 64 bits"));
}

TEST_P(Workloads, ThatWereRefusedLeaveTheCommandBufferUsable) {
  const auto index = index_over(over_three_axes());
  const auto out = make_buffer(4 * 6);
  const auto commands = begin();
  EXPECT_FALSE(dispatch_index(*commands, index, {1}, out, 2, 3).ok());
  TL_ASSERT_OK(dispatch_index(*commands, index, {2, 3, 1}, out, 2, 3));
  EXPECT_FALSE(dispatch_index(*commands, index, {kMost, 1, 1}, out, 2, 3).ok());
  TL_ASSERT_OK(run(commands));
  expect_values(out, kernels::written_by_index(2, 3, 1));
}

// The grid is not compiled into the kernel: a dispatch may give any group counts.
TEST_P(Workloads, AreAWayToSayGroups) {
  const auto index = index_over(over_three_axes());
  const auto out = make_buffer(4 * 4 * 6);
  const auto commands = begin();
  TL_ASSERT_OK(
      dispatch(*commands, index, {2, 2, 1}, {BufferBinding{out}}, {Constant(4), Constant(6)}));
  TL_ASSERT_OK(run(commands));
  expect_values(out, kernels::written_by_index(4, 6, 1));
}

class Grids : public On<> {};
TL_ON_EVERY_DEVICE(Grids);

TEST_P(Grids, StayWithTheirEntryPoint) {
  EntryPoint with = kernels::index(), without = kernels::nothing();
  with.grid = over_three_axes();
  const auto made = device().create_executable(tested().kernels({with, without}));
  TL_ASSERT_OK(made.status());
  EXPECT_EQ((*made)->entry_points()[0].grid, with.grid);
  EXPECT_EQ((*made)->entry_points()[1].grid, std::nullopt);
}

// A grid must not depend on loop variables, since a dispatch has no enclosing loops.
TEST_P(Grids, OverLoopVariablesAreRefused) {
  EntryPoint entry = kernels::nothing();
  entry.grid = Grid{Size::loop_variable(0), 1, 1};
  EXPECT_THAT(
      device().create_executable(tested().kernels({entry})).status(),
      fails_with(StatusCode::InvalidArgument, "\"nothing\": its grid depends on a loop variable"));
}

TEST_P(Grids, OfNoEntryPointAreRefused) {
  const Workload workload = {1, 1, 1};
  EXPECT_THAT(begin()->dispatch_workload(nullptr, 0, workload, {}, {}),
              fails_with(StatusCode::InvalidArgument, "executable is null"));
  EXPECT_THAT(begin()->dispatch_workload(executable(kernels::nothing()), 1, workload, {}, {}),
              fails_with(StatusCode::InvalidArgument, "entry point 1 is out of range"));
}

TEST_P(Grids, AfterTheEndOfRecordingAreRefused) {
  EntryPoint entry = kernels::nothing();
  entry.grid = Grid{Size::symbol(0), 1, 1};
  const auto made = device().create_executable(tested().kernels({entry}));
  TL_ASSERT_OK(made.status());
  const auto commands = begin();
  TL_ASSERT_OK(commands->finish());
  for (const std::int64_t n : {0, 1})
    EXPECT_THAT(commands->dispatch_workload(*made, 0, Workload{n}, {}, {}),
                fails_with(StatusCode::InvalidArgument, "finished"));
}

}  // namespace
}  // namespace texloom::hal::conformance
