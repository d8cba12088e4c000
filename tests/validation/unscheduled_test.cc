// Tests the oracle: the values of the computes, independent of the schedule.
#include "validation/unscheduled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "ir/interpret/interpret.h"
#include "ir/verify/verify.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::IterVar;
using ir::Memory;
using ir::Tensor;

std::string text_of(const Lowering& lowering) {
  const ir::Program program = validation::unscheduled_program(lowering);
  ir::verify(program);
  return to_string(program);
}

struct Outcome {
  std::vector<std::byte> output;  // the elements of the last parameter
  std::vector<ir::Report> reports;
};

// Runs the program on inputs whose sums round.
Outcome run(const ir::Program& program) {
  std::deque<Memory> memories;
  std::vector<ir::Placement> arguments;
  for (const ir::Buffer& param : program.params) {
    memories.push_back(memory_for(*param));
    arguments.push_back({&memories.back()});
    if (arguments.size() == program.params.size()) break;
    std::vector<double> values;
    for (int64_t n = 0; n < memories.back().size(); ++n) {
      values.push_back(1.0 / static_cast<double>(3 * n % 31 + 2));
    }
    fill(*param, arguments.back(), values);
  }
  std::vector<ir::Report> reports = interpret(program, arguments);
  return {memories.back().bytes(), std::move(reports)};
}

// The sum of A over its second axis, for each of 4 rows.
struct RowSums {
  Tensor a = placeholder("A", {4, 12});
  IterVar k = reduce_axis("k", 12);
  Tensor b = compute("B", {4}, [this](const Exprs& i) {
    return sum(at(a, {i[0], k->var}), {k}, k->var < ir::make_int(11));
  });
};

// The oracle's loops have neither caches nor splits.
TEST(Unscheduled, Loops) {
  const RowSums rows;
  Te te({rows.b});
  const Tensor local = te.cache_write(rows.b, "local");
  te.cache_read(rows.a, "texture", {local});
  te.split(local, te.reduction(local), 4);
  EXPECT_EQ(text_of(lowering_of(te, {rows.a, rows.b})), R"(program main stage=loops
  param A: global float32[4, 12]
  param B: global float32[4]
  nest B {
    for i < 4 {
      B[i] = 0.0
      for k < 12 {
        if k < 11 {
          B[i] = B[i] + A[i, k]
        }
      }
    }
  }
)");
}

// Intermediate stages are temporaries, inlined or not; a stage without readers is omitted.
TEST(Unscheduled, Temporaries) {
  const Tensor a = placeholder("A", {8}, ir::Type::i(8)), b = plus_one(a, "B");
  const Tensor c = plus_one(b, "C"), unread = placeholder("U", {2});
  Te te({c});
  te.compute_inline(b);
  EXPECT_EQ(text_of(lowering_of(te, {unread, a, c})), R"(program main stage=loops
  param U: global float32[2]
  param A: global int8[8]
  param C: global int8[8]
  buffer.alloca B: global int8[8]
  nest B {
    for i < 8 {
      B[i] = A[i] + int8(1)
    }
  }
  nest C {
    for i.1 < 8 {
      C[i.1] = B[i.1] + int8(1)
    }
  }
)");
}

// Axes may begin at other values than 0; axes and indices may have other types than int32.
TEST(Unscheduled, Axes) {
  const Tensor a = placeholder("A", {8}, ir::Type::i(8));
  const IterVar k = make_iter_var(ir::make_var("k", ir::kInt64), ir::make_int(2), ir::make_int(3),
                                  ir::IterKind::Reduction);
  const Tensor b = compute("B", {1}, [&](const Exprs&) {
    return sum(at(a, {ir::make_cast(ir::Type::u(8), k->var)}), {k});
  });
  EXPECT_THAT(text_of(lowering_of(Te({b}), {a, b})),
              ::testing::HasSubstr("A[int32(uint8(int64(k) + int64(2)))]"));
}

// Splits, caches and threads keep every bit, unless they reorder a reduction.
TEST(Unscheduled, IsWhatSchedulesCompute) {
  for (const bool reorders : {false, true}) {
    const RowSums rows;
    Te te({rows.b});
    const Tensor local = te.cache_write(rows.b, "local");
    te.bind(rows.b, te.axis(rows.b, 0), "threadIdx.x");
    te.compute_at(local, rows.b, te.axis(rows.b, 0));
    const auto [outer, inner] = te.split(local, te.reduction(local), 5);
    if (reorders) te.reorder(local, {inner, outer});
    const Lowering lowering = lowering_of(te, {rows.a, rows.b});
    const Outcome plain = run(validation::unscheduled_program(lowering)),
                  scheduled = run(lower(lowering).program);
    EXPECT_TRUE(plain.reports.empty() && scheduled.reports.empty());
    EXPECT_EQ(plain.output == scheduled.output, !reorders);
  }
}

// A read outside of a tensor is reported at the user's line.
TEST(Unscheduled, ReadsOutOfRange) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = compute("B", {4}, [&](const Exprs& i) { return at(a, {i[0] * 2}); });
  const std::vector<ir::Report> reports =
      run(validation::unscheduled_program(lowering_of(Te({b}), {a, b}))).reports;
  ASSERT_EQ(reports.size(), 1);
  EXPECT_EQ(to_string(reports[0]),
            "te.py:4: undefined: B[2] is given an undefined value: A.outside[0] was never written "
            "(te.py:4)");
}

// B[0] reads outside, so B[0] and sums with B[0] are undefined; C needs only other elements.
TEST(Unscheduled, ElementsThatNobodyNeeds) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = compute("B", {5}, [&](const Exprs& i) { return at(a, {i[0] - 1}); });
  for (const int first : {1, 0}) {
    const IterVar k = reduce_axis("k", 2);
    const Tensor sums =
        compute("S", {4}, [&](const Exprs& i) { return sum(at(b, {i[0] + k->var}), {k}); });
    const Tensor c = compute("C", {3}, [&](const Exprs& i) { return at(sums, {i[0] + first}); });
    const Outcome outcome = run(validation::unscheduled_program(lowering_of(Te({c}), {a, c})));
    EXPECT_EQ(outcome.reports.empty(), first == 1);
  }
}

TEST(Unscheduled, SymbolicExtents) {
  const ir::Expr n = ir::make_var("n");
  const Tensor a = output_of(schedule::make_placeholder("A", ir::kFloat32, {n}, line(1)));
  const ir::Program program = validation::unscheduled_program(lowering_of(Te({a}), {a}));
  ASSERT_EQ(program.symbols.size(), 1U);
  EXPECT_TRUE(program.symbols.front().same_as(n));
}

}  // namespace
}  // namespace texloom::lower
