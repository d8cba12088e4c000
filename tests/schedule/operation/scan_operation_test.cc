// Scans: requirements on their parts, and what a step may read.
#include "schedule/operation/scan_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Expr;
using ir::Exprs;
using ir::Tensor;
using ::testing::HasSubstr;

Tensor zeros(const std::vector<int64_t>& shape, std::string name = "I") {
  return compute(std::move(name), shape, [](const Exprs&) { return ir::make_float(0); });
}

Op scan_of(std::vector<ScanState> states) {
  return make_scan("S", "S.idx", "", std::move(states), line(6));
}

// Returns the error of a scan of six rows whose update is `element` of the state and the indices.
template <class F>
std::string problem(F element, int64_t first = 1) {
  const Tensor state = placeholder("R", {6, 4});
  const Tensor update =
      compute("U", {6, 4}, [&](const Exprs& i) { return element(state, i[0], i[1]); });
  return faults([&] { scan_of({{zeros({first, 4}), update, state}}); });
}

TEST(Scan, HasAnAxisForItsSteps) {
  const Tensor state = placeholder("R", {6, 4});
  const Tensor update =
      compute("U", {6, 4}, [&](const Exprs& i) { return at(state, {i[0] - 2, i[1]}); });
  const Op scan = scan_of({{zeros({2, 4}), update, state}});
  EXPECT_EQ(scan->scan_axis->name(), "S.idx");
  EXPECT_TRUE(is_int(scan->scan_axis->min, 2));
  EXPECT_TRUE(is_int(scan->scan_axis->extent, 4));
}

TEST(Scan, ReadsRowsBeforeItsOwn) {
  const auto row = [](const Tensor& r, const Expr& t, const Expr& i) { return at(r, {t, i}); };
  EXPECT_EQ(problem([&](auto& r, auto& t, auto& i) { return row(r, t - 1, i); }), "");
  EXPECT_EQ(problem([&](auto& r, auto& t, auto& i) { return row(r, t - 2, i); }, 2), "");
  EXPECT_EQ(problem([&](auto& r, auto&, auto& i) { return row(r, ir::make_int(0), i); }), "");
  for (const int64_t ahead : {0, 1, -2}) {
    EXPECT_THAT(problem([&](auto& r, auto& t, auto& i) { return row(r, t + ahead, i); }),
                HasSubstr("TL1024 te.py:6: scan 'S': 'U' reads the row"));
  }
}

// The ranges of axes, minima, divisions and conditions may prove that a row is earlier.
TEST(Scan, ReadsRowsThatAreKnownToBeEarlier) {
  const auto row = [](auto earlier) {
    return problem([&](auto& r, auto& t, auto& i) { return at(r, {earlier(t, i), i}); });
  };
  const auto below = [](auto bound) {
    return problem([&](auto& r, auto& t, auto& i) {
      return ir::make_select(i < bound(t), at(r, {i, i}), ir::make_float(0));
    });
  };
  EXPECT_EQ(row([](auto& t, auto& i) { return min(i, t - 1); }), "");
  EXPECT_EQ(row([](auto& t, auto&) { return floordiv(t, 2); }), "");
  EXPECT_EQ(row([](auto& t, auto&) { return max(t - 3, ir::make_int(0)); }), "");
  EXPECT_EQ(below([](auto& t) { return t; }), "");
  EXPECT_THAT(row([](auto& t, auto& i) { return min(i, t); }), HasSubstr("TL1024"));
  EXPECT_THAT(row([](auto& t, auto& i) { return min(i, t - 1) - 1; }), HasSubstr("TL1024"));
  EXPECT_THAT(below([](auto& t) { return t + 1; }), HasSubstr("TL1024"));
}

// Finds, for each operation that a step reads, the axis that the step's row always indexes.
TEST(Scan, RowsOfAStep) {
  const Tensor state = placeholder("R", {6, 4}), a = placeholder("A", {6, 4});
  const Tensor doubled = plus_one(a, "A2");
  const Tensor turned =
      compute("T", {4, 6}, [&](const Exprs& i) { return at(state, {i[1] - 1, i[0]}); });
  const Tensor update = compute(
      "U", {6, 4}, [&](const Exprs& i) { return at(turned, {i[1], i[0]}) + at(doubled, i); });
  const ScanStep step = step_of(*scan_of({{zeros({1, 4}), update, state}}));
  ASSERT_EQ(step.operations.size(), 2U);  // A2 depends on no state
  EXPECT_EQ(step.operations[0]->name, "T");
  EXPECT_EQ(step.operations[1]->name, "U");
  EXPECT_EQ(step.rows.size(), 2U);
  EXPECT_TRUE(step.rows.contains(operation_of(turned)->axes[1]->var.get()));
  EXPECT_TRUE(step.rows.contains(operation_of(update)->axes[0]->var.get()));
}

TEST(Scan, UpdatesAreReadInTheirOwnRow) {
  const Tensor r = placeholder("R", {6, 4}), q = placeholder("Q", {6, 4});
  const Tensor u = compute("U", {6, 4}, [&](const Exprs& i) { return at(r, {i[0] - 1, i[1]}); });
  const auto reading = [&](int64_t rows) {
    const Tensor v =
        compute("V", {6, 4}, [&](const Exprs& i) { return at(u, {i[0] - rows, i[1]}); });
    return faults([&] { scan_of({{zeros({1, 4}, "I"), u, r}, {zeros({1, 4}, "J"), v, q}}); });
  };
  EXPECT_EQ(reading(0), "");
  EXPECT_THAT(reading(1), HasSubstr("'V' reads the row i - 1 of the update 'U'"));
}

TEST(Scan, PartsFit) {
  const auto with = [](const Tensor& init, const Tensor& state) {
    const Tensor update =
        compute("U", {6, 4}, [&](const Exprs& i) { return at(state, {i[0] - 1, i[1]}); });
    return faults([&] { scan_of({{init, update, state}}); });
  };
  const Tensor state = placeholder("R", {6, 4});
  EXPECT_EQ(with(zeros({1, 4}), state), "");
  EXPECT_THAT(with(zeros({1, 3}), state), HasSubstr("do not fit"));
  EXPECT_THAT(with(zeros({6, 4}), state), HasSubstr("there is no step"));
  EXPECT_THAT(with(zeros({1, 4}), placeholder("R", {7, 4})), HasSubstr("do not fit"));
  EXPECT_THAT(with(placeholder("I", {1, 4}), state), HasSubstr("not made by a te.compute"));
  EXPECT_THAT(with(zeros({1, 4}), plus_one(state, "R1")), HasSubstr("not a placeholder"));
  EXPECT_THAT(faults([] { scan_of({}); }), HasSubstr("no state"));
}

TEST(Scan, PartsAreOfOneStateEach) {
  const Tensor r = placeholder("R", {6, 4}), q = placeholder("Q", {6, 4});
  const Tensor u = compute("U", {6, 4}, [&](const Exprs& i) { return at(r, {i[0] - 1, i[1]}); });
  const Tensor init = zeros({1, 4});
  EXPECT_THAT(faults([&] { scan_of({{init, u, r}, {init, u, q}}); }),
              HasSubstr("'I' is named for two states"));
  const Op one = scan_of({{init, u, r}});
  const Tensor v = compute("V", {6, 4}, [&](const Exprs& i) { return at(q, {i[0] - 1, i[1]}); });
  const Op other = scan_of({{init, v, q}});
  EXPECT_THAT(faults([&] { Schedule::create({one, other}); }), HasSubstr("part of another scan"));
}

// A step may have a thousand stages.
TEST(Scan, LongChains) {
  const Tensor state = placeholder("R", {6, 4});
  Tensor last = compute("U", {6, 4}, [&](const Exprs& i) { return at(state, {i[0] - 1, i[1]}); });
  for (int n = 0; n < 1000; ++n) last = plus_one(last, "U");
  EXPECT_EQ(step_of(*scan_of({{zeros({1, 4}), last, state}})).operations.size(), 1001U);
}

}  // namespace
}  // namespace texloom::schedule
