// Compares plans and bounds of tiny problems with the best plan that there is.
#include <gtest/gtest.h>

#include <map>

#include "plan/textures/fold.h"
#include "plan/textures/planner.h"
#include "plan/textures/random.h"
#include "tests/plan/textures/problems.h"

namespace texloom::plan {
namespace {

struct Box {
  TextureItem item;
  std::int64_t x, y, width, height;
};

bool meet(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
         b.y < a.y + a.height && a.item.lifetime.meets(b.item.lifetime);
}

// Whether one image has places for all of the items.
bool fit(const std::vector<TextureItem>& items, std::int64_t width, std::int64_t height,
         std::vector<Box>& placed) {
  if (placed.size() == items.size()) return true;
  const TextureItem& next = items[placed.size()];
  for (const FoldedExtent& extent : folds(next, width, height)) {
    for (std::int64_t x = 0; x + extent.width <= width; ++x) {
      for (std::int64_t y = 0; y + extent.height <= height; ++y) {
        const Box box{next, x, y, extent.width, extent.height};
        const bool is_free = std::none_of(placed.begin(), placed.end(),
                                          [&](const Box& other) { return meet(box, other); });
        if (!is_free) continue;
        placed.push_back(box);
        const bool done = fit(items, width, height, placed);
        placed.pop_back();
        if (done) return true;
      }
    }
  }
  return false;
}

// The texels of the smallest image of these items, which must not include a separated pair.
std::int64_t smallest_image(const std::vector<TextureItem>& items) {
  for (std::int64_t texels = 1;; ++texels) {
    for (std::int64_t width = 1; width <= texels; ++width) {
      std::vector<Box> placed;
      if (texels % width == 0 && fit(items, width, texels / width, placed)) return texels;
    }
  }
}

// The texels of the best plan: each partition of the items into images is tried.
class BestPlan {
 public:
  explicit BestPlan(const TextureProblem& problem) : problem_(problem) {}
  std::int64_t texels() {
    partition(0);
    return best_;
  }

 private:
  bool are_apart(std::size_t a, std::size_t b) const {
    for (const auto& [i, j] : problem_.read_write) {
      if (std::pair(i, j) == std::pair<std::int64_t, std::int64_t>(a, b)) return true;
      if (std::pair(j, i) == std::pair<std::int64_t, std::int64_t>(a, b)) return true;
    }
    return problem_.items[a].format != problem_.items[b].format;
  }

  std::int64_t size_of(const std::vector<std::size_t>& image) {
    const auto [found, is_new] = sizes_.emplace(image, 0);
    if (!is_new) return found->second;
    std::vector<TextureItem> items;
    for (const std::size_t i : image) items.push_back(problem_.items[i]);
    return found->second = smallest_image(items);
  }

  void partition(std::size_t next) {
    if (next == problem_.items.size()) {
      std::int64_t sum = 0;
      for (const auto& image : images_) sum += size_of(image);
      best_ = std::min(best_, sum);
      return;
    }
    for (std::size_t k = 0; k <= images_.size(); ++k) {
      if (k == images_.size()) images_.emplace_back();
      const bool may_join = std::none_of(images_[k].begin(), images_[k].end(),
                                         [&](std::size_t other) { return are_apart(next, other); });
      if (may_join) {
        images_[k].push_back(next);
        partition(next + 1);
        images_[k].pop_back();
      }
      if (images_[k].empty()) {
        images_.pop_back();
        break;
      }
    }
  }

  const TextureProblem& problem_;
  std::vector<std::vector<std::size_t>> images_;
  std::map<std::vector<std::size_t>, std::int64_t> sizes_;
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
};

TextureProblem random_problem(Random& random) {
  TextureProblem problem;
  const auto upto = [&](std::size_t most) {
    return static_cast<std::int64_t>(1 + random.below(most));
  };
  const std::int64_t count = upto(5);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t first = upto(4);
    problem.items.push_back(item(k, first, first + upto(3) - 1, upto(2), upto(2), upto(3)));
    if (random.below(8) == 0) problem.items.back().format = "rgba16float";
  }
  for (std::int64_t a = 0; a < count; ++a) {
    for (std::int64_t b = a + 1; b < count; ++b) {
      const bool meets = problem.items[a].lifetime.meets(problem.items[b].lifetime);
      if (meets && random.below(2) == 0) problem.read_write.emplace_back(a, b);
    }
  }
  return problem;
}

// The bound never exceeds the best plan, and the planner finds the best plan of nearly all of
// these problems, for which one million steps are ample.
TEST(Exhaustive, BoundsAndPlansAgreeWithTheBestPlan) {
  Random random(7);
  int best = 0;
  int proved = 0;
  constexpr int kProblems = 150;
  for (int n = 0; n < kProblems; ++n) {
    const TextureProblem problem = random_problem(random);
    const std::int64_t optimum = BestPlan(problem).texels();
    TextureOptions options;
    options.effort = 1;
    const TextureResult result = plan_textures(problem, options).value();
    EXPECT_LE(result.lower_bound, optimum) << "problem " << n;
    EXPECT_GE(result.plan.texels(), optimum) << "problem " << n;
    best += result.plan.texels() == optimum;
    proved += result.lower_bound == optimum;
  }
  EXPECT_GE(best, kProblems * 95 / 100);
  EXPECT_GE(proved, kProblems * 75 / 100);
}

}  // namespace
}  // namespace texloom::plan
