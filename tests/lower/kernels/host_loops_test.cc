// Loops of the launch plan: random schedules give the values of their computes at every stage, with
// the number of launches that their loops imply.
#include <gtest/gtest.h>

#include <random>

#include "tests/lower/interpreted.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Expr;
using ir::Exprs;
using ir::IterVar;
using ir::make_int;
using ir::Stmt;
using ir::Tensor;

int64_t launches_of(const Stmt& plan) {
  if (const auto* loop = as<ir::For>(plan)) {
    return *int_value(loop->extent) * launches_of(loop->body);
  }
  int64_t count = plan->kind == ir::StmtKind::Launch ? 1 : 0;
  for_each_child(plan, [](const Expr&) {}, [&](const Stmt& child) { count += launches_of(child); });
  return count;
}

int64_t launches_of(Lowering lowering) {
  return launches_of(lower(std::move(lowering)).program.body);
}

class RandomLoops : public ::testing::TestWithParam<unsigned> {
 protected:
  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  std::mt19937 random_{GetParam()};
};

// Y reads U and T, and U reads T. U and T are each at the root or at a loop of Y outside its
// threads, in a buffer or a texture.
TEST_P(RandomLoops, OfThreeStages) {
  const std::vector<int64_t> shape{number(1, 5), number(1, 5), number(1, 5)};
  const int64_t last = shape[2] - 1;
  const Tensor x = placeholder("X", shape);
  const Tensor t = compute("T", shape, [&](const Exprs& i) { return at(x, i) + at(x, i); });
  const Tensor u = compute("U", shape, [&](const Exprs& i) {
    return at(t, {i[0], i[1], make_int(last) - i[2]}) + at(x, i);
  });
  const Tensor y = compute("Y", shape, [&](const Exprs& i) { return at(u, i) - at(t, i); });
  Te te({y});
  const int64_t factor = number(1, 4);
  const auto [outer, inner] = te.split(y, te.axis(y, 1), factor);
  const std::vector<IterVar> loops{te.axis(y, 0), outer, inner};
  const int64_t used = std::min(factor, shape[1]);
  const std::vector<int64_t> extents{shape[0], (shape[1] + used - 1) / used, used};
  const auto outside = static_cast<size_t>(number(0, 3));
  std::vector<IterVar> order = loops;
  order.insert(order.begin() + static_cast<ptrdiff_t>(outside), te.axis(y, 2));
  te.reorder(y, order);
  te.bind(y, te.axis(y, 2), number(0, 1) == 0 ? "blockIdx.x" : "threadIdx.x");

  const auto iterations = [&](size_t level) {
    int64_t count = 1;
    for (size_t i = 0; i < level; ++i) count *= extents[i];
    return count;
  };
  const auto level_of_u = static_cast<size_t>(number(0, static_cast<int64_t>(outside)));
  const auto level_of_t = static_cast<size_t>(number(0, static_cast<int64_t>(level_of_u)));
  for (const auto& [tensor, level] : {std::pair(u, level_of_u), std::pair(t, level_of_t)}) {
    if (level > 0) te.compute_at(tensor, y, loops[level - 1]);
    te.bind(tensor, te.axis(tensor, 0), "blockIdx.y");
    te.set_scope(tensor, number(0, 1) == 0 ? "global" : "texture");
  }
  const Values in = numbers(static_cast<size_t>(shape[0] * shape[1] * shape[2]));
  Values expected;
  for (size_t n = 0; n < in.size(); ++n) {
    const size_t k = n % static_cast<size_t>(shape[2]);
    expected.push_back(2 * in[n - k + static_cast<size_t>(last) - k] + in[n] - 2 * in[n]);
  }
  const Lowering lowering = lowering_of(te, {x, y});
  EXPECT_EQ(problems(lowering, {in}, expected), "");
  EXPECT_EQ(launches_of(lowering),
            iterations(outside) + iterations(level_of_u) + iterations(level_of_t));
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLoops, ::testing::Range(0U, 40U));

// Each launch is one step of a reduction: of all rows, or of one row. The rows form a triangle.
TEST(HostLoops, OfATriangle) {
  const Tensor a = placeholder("A", {6, 6});
  const Tensor c = compute("C", {6, 6}, [&](const Exprs& i) {
    const IterVar k =
        make_iter_var(ir::make_var("k"), make_int(0), i[0] + 1, ir::IterKind::Reduction, line(3));
    return sum(at(a, {i[0], k->var}) * at(a, {k->var, i[1]}), {k});
  });
  Values expected;
  const Values in = numbers(36);
  for (size_t n = 0; n < 36; ++n) {
    double value = 0;
    for (size_t k = 0; k <= n / 6; ++k) value += in[n / 6 * 6 + k] * in[k * 6 + n % 6];
    expected.push_back(value);
  }
  for (const bool rows_outside : {false, true}) {
    Te te({c});
    const IterVar i = te.axis(c, 0), j = te.axis(c, 1), k = te.reduction(c);
    te.reorder(c, rows_outside ? std::vector{i, k, j} : std::vector{k, i, j});
    if (!rows_outside) te.bind(c, i, "blockIdx.x");
    te.bind(c, j, "threadIdx.x");
    const Lowering lowering = lowering_of(te, {a, c});
    EXPECT_EQ(problems(lowering, {in}, expected), "");
    const std::string plan = to_string(lower(lowering).program);
    EXPECT_EQ(plan.find("for k < i + 1") != std::string::npos, rows_outside) << plan;
    EXPECT_EQ(plan.find("for k < 6") != std::string::npos, !rows_outside) << plan;
  }
}

}  // namespace
}  // namespace texloom::lower
