// Tests which problems are refused.
#include "plan/textures/problem.h"

#include "tests/plan/textures/problems.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::plan {
namespace {

using hal::fails_with;

MATCHER_P(is_refused, part, "is refused with a message that says \"" + std::string(part) + "\"") {
  const Status status = validate(arg);
  return status.code() == StatusCode::InvalidArgument &&
         status.message().find(part) != std::string::npos &&
         status.message().find("; help: ") != std::string::npos;
}

TextureProblem problem_of(const TextureItem& item) {
  TextureProblem problem;
  problem.items = {item};
  return problem;
}

TEST(TextureProblem, AcceptsWhatHasAPlan) {
  TL_EXPECT_OK(validate({}));
  TL_EXPECT_OK(validate(bottleneck()));
}

TEST(TextureProblem, RefusesLimits) {
  TextureProblem problem = chain(1, 1, 1, 1);
  problem.max_width = 0;
  EXPECT_THAT(problem,
              is_refused("the image limits are a width of 0 and a height of 16384 texels"));
  problem.max_width = kMaxExtent + 1;
  EXPECT_THAT(problem, is_refused("the image limits are a width of 1099511627777"));
  problem.max_width = kMaxExtent;
  EXPECT_THAT(problem, is_refused("281474976710656 texels together"));
  problem.max_height = kMaxTexels / kMaxExtent;
  TL_EXPECT_OK(validate(problem));
}

TEST(TextureProblem, RefusesExtents) {
  EXPECT_THAT(problem_of(item(5, 0, 0, 0, 1, 1)), is_refused("item 5 has 0 by 1 texels"));
  EXPECT_THAT(problem_of(item(5, 0, 0, 1, -1, 1)), is_refused("item 5 has 1 by -1 texels"));
  EXPECT_THAT(problem_of(item(5, 0, 0, 1, 1, kMaxExtent + 1)), is_refused("slices from 1 to"));
}

TEST(TextureProblem, RefusesLifetimes) {
  EXPECT_THAT(problem_of(item(5, 3, 2, 1, 1, 1)), is_refused("item 5 lives from 3 to 2"));
  EXPECT_THAT(problem_of(item(5, -1, 2, 1, 1, 1)), is_refused("item 5 lives from -1 to 2"));
  TL_EXPECT_OK(validate(problem_of(item(5, 2, 2, 1, 1, 1))));
}

// 3 planes of 16384 rows fit beside each other, and 3 planes of 16384 columns fit below each other.
// But 16385 rows exceed the limit, and no two planes of 9000 by 9000 fit beside each other.
TEST(TextureProblem, RefusesItemsBeyondLimitsInEveryFold) {
  TL_EXPECT_OK(validate(problem_of(item(5, 0, 0, 16384, 1, 3))));
  TL_EXPECT_OK(validate(problem_of(item(5, 0, 0, 1, 16384, 3))));
  EXPECT_THAT(problem_of(item(5, 0, 0, 16385, 1, 1)), is_refused("fits in no image"));
  EXPECT_THAT(problem_of(item(5, 0, 0, 9000, 9000, 3)), is_refused("fits in no image"));
}

// 16384 rows in two slices exceed the limit if the item must be exact: exact items are not folded.
TEST(TextureProblem, RefusesExactItemsBeyondLimits) {
  TextureItem tall = item(5, 0, 0, 16384, 1, 2);
  tall.exact = true;
  EXPECT_THAT(problem_of(tall), is_refused("must have an image of exactly its extent"));
  tall.exact_cost = 7;
  TL_EXPECT_OK(validate(problem_of(tall)));
}

TEST(TextureProblem, RefusesCosts) {
  TextureItem given = item(5, 0, 0, 1, 1, 1);
  given.exact_cost = 7;
  EXPECT_THAT(problem_of(given), is_refused("item 5 has a cost of 7"));
  given.exact = true;
  TL_EXPECT_OK(validate(problem_of(given)));
  given.exact_cost = -1;
  EXPECT_THAT(problem_of(given), is_refused("item 5 has a cost of -1"));
}

TEST(TextureProblem, RefusesPairs) {
  TextureProblem problem = chain(3, 1, 1, 1);
  problem.read_write = {{1, 1}};
  EXPECT_THAT(problem, is_refused("item 1 conflicts with itself"));
  problem.read_write = {{1, 7}};
  EXPECT_THAT(problem, is_refused("the pair (1, 7)"));
  problem.read_write = {{0, 2}};
  EXPECT_THAT(problem, is_refused("items 0 and 2 are never live together"));
}

TEST(TextureProblem, RefusesIdsGivenTwice) {
  TextureProblem problem = chain(2, 1, 1, 1);
  problem.items[1].id = 0;
  problem.read_write.clear();
  EXPECT_THAT(problem, is_refused("two items have the id 0"));
}

// Operator 0 writes item 0; operator 1 reads item 0 and writes item 1; operator 2 reads item 1.
TextureProblem with_operators() {
  TextureProblem problem = chain(2, 1, 1, 1);
  problem.operators = {{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {}, {}}};
  return problem;
}

TEST(TextureProblem, RefusesOperators) {
  TL_EXPECT_OK(validate(with_operators()));
  TextureProblem problem = with_operators();
  problem.operators[1].inputs = {7};
  EXPECT_THAT(problem, is_refused("operator 1 uses item 7, which does not exist"));
  problem = with_operators();
  problem.operators[0].outputs = {0, 1};
  EXPECT_THAT(problem, is_refused("operator 0 uses item 1, which lives from 1 to 2"));
  problem = with_operators();
  problem.operators[1].outputs = {1, 0};
  EXPECT_THAT(problem, is_refused("operator 1 reads and writes item 0"));
  problem = with_operators();
  problem.operators[2] = {{}, {1}, {}};
  EXPECT_THAT(problem, is_refused("item 1 is written by the operators 1 and 2"));
  problem = with_operators();
  problem.operators[1].outputs = {};
  EXPECT_THAT(problem, is_refused("operators use item 1 from 2 to 2"));
  problem = with_operators();
  problem.operators[0] = {{0}, {}, {}};
  problem.operators[1] = {{}, {0, 1}, {}};
  EXPECT_THAT(problem, is_refused("operator 0 reads item 0 before operator 1 writes it"));
  problem = with_operators();
  problem.operators[1].after = {1};
  EXPECT_THAT(problem, is_refused("operator 1 comes after operator 1"));
}

// The items that an operator reads stay apart from those that it writes, without explicit pairs.
TEST(TextureProblem, TakesPairsFromOperators) {
  TextureProblem problem = with_operators();
  problem.read_write.clear();
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(all_read_write(problem), (Pairs{{0, 1}}));
  problem.read_write_may_share = true;
  EXPECT_EQ(all_read_write(problem), Pairs());
}

}  // namespace
}  // namespace texloom::plan
