#include "plan/textures/planner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

#include "plan/textures/order.h"
#include "plan/textures/search.h"
#include "plan/textures/simple_rules.h"
#include "support/check.h"

namespace texloom::plan {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kStepsOfBound = 20;  // a bound gets 1/20 of the steps: its steps are slower
constexpr std::size_t kExactTries = 16;     // the number of changes of single items

struct Allowance {
  std::int64_t steps = 0;
  std::function<bool()> is_over;  // empty: never

  Allowance part(double share) const {
    return {static_cast<std::int64_t>(static_cast<double>(steps) * share), is_over};
  }
};

// A plan, and its cost besides texels.
struct Solution {
  TexturePlan plan;
  std::vector<TextureBound> bounds;  // for this choice of exact images and this order
  std::vector<std::int64_t> lost_exact;
  std::int64_t cost = 0;  // texels and the costs of lost exact images
};

TextureBound bound_of(const TextureInstance& instance, const TextureProof& proof) {
  TextureBound bound{proof.kind, instance.format, proof.texels, {}};
  for (const int item : proof.items) bound.ids.push_back(instance.items[item].id);
  return bound;
}

std::int64_t sum_of(const std::vector<TextureBound>& bounds) {
  std::int64_t sum = 0;
  for (const TextureBound& bound : bounds) sum += bound.texels;
  return sum;
}

// Appends the images and places of one format; images that hold nothing are left out.
void append(const TextureInstance& instance, const Packing& packing, TexturePlan& plan) {
  std::vector<std::int64_t> number(packing.images.size(), -1);
  for (const PackedItem& item : packing.items) number[item.image] = 0;
  for (std::size_t i = 0; i < packing.images.size(); ++i) {
    if (number[i] < 0) continue;
    number[i] = static_cast<std::int64_t>(plan.images.size());
    const PackedImage& image = packing.images[i];
    plan.images.push_back({image.width, image.texels() / image.width, instance.format});
  }
  for (std::size_t k = 0; k < packing.items.size(); ++k) {
    const PackedItem& item = packing.items[k];
    plan.placements[instance.positions[k]] = {
        instance.items[k].id, number[item.image], item.x, item.y, item.extent.fold,
        item.extent.width,    item.extent.height};
  }
}

// Runs a short search for an upper bound, computes the lower bound, and then searches longer for a
// plan between the two.
Packing pack(const TextureInstance& instance, TextureMode mode, const Allowance& allowance,
             TextureProof& proof) {
  const PartitionProblem relaxed = partition_problem(instance, live_sets(instance));
  const std::int64_t live = largest_live_set(relaxed).texels;
  Packing best = search(instance, {live, allowance.steps / 10, allowance.is_over});
  proof = lower_bound(relaxed, {best.texels, allowance.steps / kStepsOfBound, allowance.is_over});
  if (mode == TextureMode::Grow) return grow_and_reuse(instance);
  if (mode == TextureMode::OnePerTensor) return one_image_per_tensor(instance);
  if (best.texels <= proof.texels) return best;
  Packing other = search(instance, {proof.texels, allowance.steps * 9 / 10, allowance.is_over});
  return other.texels < best.texels ? other : best;
}

// The share of the steps that a format gets.
double share_of(const TextureInstance& instance, const TextureProblem& problem) {
  return static_cast<double>(instance.size()) / static_cast<double>(problem.items.size());
}

void find_lost_exact(const TextureProblem& problem, Solution& solution) {
  solution.cost = solution.plan.texels();
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const TextureItem& item = problem.items[i];
    if (!item.exact || is_exact(solution.plan, solution.plan.placements[i])) continue;
    solution.lost_exact.push_back(item.id);
    solution.cost += *item.exact_cost;
  }
}

// `exact[i]`: item i must have an exact image.
Result<Solution> solve(const TextureProblem& problem, const std::vector<bool>& exact,
                       TextureMode mode, const Allowance& allowance) {
  TL_ASSIGN_OR_RETURN(const auto instances, make_instances(problem, exact));
  Solution solution;
  solution.plan.placements.resize(problem.items.size());
  for (const TextureInstance& instance : instances) {
    TextureProof proof;
    append(instance, pack(instance, mode, allowance.part(share_of(instance, problem)), proof),
           solution.plan);
    solution.bounds.push_back(bound_of(instance, proof));
  }
  find_lost_exact(problem, solution);
  return solution;
}

std::vector<bool> must_be_exact(const TextureProblem& problem) {
  std::vector<bool> exact;
  for (const TextureItem& item : problem.items) exact.push_back(item.exact && !item.exact_cost);
  return exact;
}

// The items that may lose their exact image but need not, by decreasing cost.
std::vector<std::size_t> optionally_exact(const TextureProblem& problem) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const FoldedExtent whole = folded(problem.items[i], 1);
    if (problem.items[i].exact_cost && whole.width <= problem.max_width &&
        whole.height <= problem.max_height) {
      positions.push_back(i);
    }
  }
  std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    return *problem.items[a].exact_cost > *problem.items[b].exact_cost;
  });
  return positions;
}

// Decides which items keep their exact images: all or none, whichever costs less, then one by one.
Result<Solution> solve_exact(const TextureProblem& problem, TextureMode mode,
                             const Allowance& allowance) {
  const std::vector<bool> least = must_be_exact(problem);
  const std::vector<std::size_t> optional = optionally_exact(problem);
  if (optional.empty()) return solve(problem, least, mode, allowance);
  const std::size_t tries = std::min<std::size_t>(optional.size(), kExactTries);
  const Allowance each = allowance.part(0.5 / static_cast<double>(tries + 2));
  std::vector<bool> exact = least;
  TL_ASSIGN_OR_RETURN(Solution best, solve(problem, exact, mode, each));
  const auto attempt = [&](const std::vector<bool>& changed, const Allowance& steps) -> Status {
    TL_ASSIGN_OR_RETURN(Solution other, solve(problem, changed, mode, steps));
    if (other.cost >= best.cost) return {};
    best = std::move(other);
    exact = changed;
    return {};
  };
  std::vector<bool> changed = least;
  for (const std::size_t i : optional) changed[i] = true;
  TL_RETURN_IF_ERROR(attempt(changed, each));
  for (std::size_t k = 0; k < tries; ++k) {
    changed = exact;
    changed[optional[k]] = !changed[optional[k]];
    TL_RETURN_IF_ERROR(attempt(changed, each));
  }
  TL_RETURN_IF_ERROR(attempt(exact, allowance.part(0.5)));
  return best;
}

struct OrderedSolution {
  OperatorOrder order;
  Solution solution;
};

// Plans the likely orders with little effort, then the best order with more effort.
Result<OrderedSolution> solve_reordered(const TextureProblem& problem, TextureMode mode,
                                        const Allowance& allowance) {
  std::vector<OperatorOrder> orders =
      likely_orders(problem, allowance.part(0.1).steps, allowance.is_over);
  const Allowance each = allowance.part(0.4 / static_cast<double>(orders.size()));
  OrderedSolution best;
  for (const OperatorOrder& order : orders) {
    TL_ASSIGN_OR_RETURN(Solution other, solve_exact(reordered(problem, order), mode, each));
    if (!best.order.empty() && other.cost >= best.solution.cost) continue;
    best = {order, std::move(other)};
  }
  const TextureProblem chosen = reordered(problem, best.order);
  TL_ASSIGN_OR_RETURN(Solution other, solve_exact(chosen, mode, allowance.part(0.5)));
  if (other.cost < best.solution.cost) best.solution = std::move(other);
  return best;
}

// Bounds that hold for all plans of the problem: for any choice of exact images and, with
// reordering, for every order.
Result<std::vector<TextureBound>> prove(const TextureProblem& problem, const TexturePlan& plan,
                                        bool reorder, const Allowance& allowance) {
  TL_ASSIGN_OR_RETURN(const auto instances,
                      make_instances(problem, must_be_exact(problem), reorder));
  std::vector<TextureBound> bounds;
  for (const TextureInstance& instance : instances) {
    std::int64_t upper = 0;
    for (const TextureImage& image : plan.images) {
      if (image.format == instance.format) upper += image.texels();
    }
    auto sets = reorder ? always_live_sets(problem, instance) : live_sets(instance);
    const Allowance part = allowance.part(share_of(instance, problem) / kStepsOfBound);
    bounds.push_back(bound_of(instance, lower_bound(partition_problem(instance, std::move(sets)),
                                                    {upper, part.steps, part.is_over})));
  }
  return bounds;
}

Status check_options(const TextureProblem& problem, const TextureOptions& options) {
  if (options.effort < 1 || options.effort > kMaxEffort) {
    return invalid_argument("the effort is {}; help: give 1 to {} million steps", options.effort,
                            kMaxEffort);
  }
  if (options.time_limit_s &&
      !(*options.time_limit_s > 0 && std::isfinite(*options.time_limit_s))) {
    return invalid_argument("the time limit is {} s; help: give a positive number of seconds",
                            *options.time_limit_s);
  }
  if (options.reorder && problem.operators.empty() && !problem.items.empty()) {
    return invalid_argument(
        "operators cannot be reordered, because the problem does not list them; help: list the "
        "operators with their inputs and outputs");
  }
  return {};
}

Allowance allowance_of(const TextureOptions& options) {
  Allowance allowance{options.effort * kMillion, {}};
  allowance.is_over = options.canceled;
  if (options.time_limit_s) {
    using Clock = std::chrono::steady_clock;
    // Longer limits are cut to about a year, which the clock can represent.
    const std::chrono::duration<double> limit(std::min(*options.time_limit_s, 4e7));
    allowance.is_over = [canceled = options.canceled,
                         end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit)] {
      return Clock::now() >= end || (canceled && canceled());
    };
  }
  return allowance;
}

}  // namespace

Result<TextureResult> plan_textures(const TextureProblem& problem, const TextureOptions& options) {
  TL_RETURN_IF_ERROR(validate(problem));
  TL_RETURN_IF_ERROR(check_options(problem, options));
  const Allowance allowance = allowance_of(options);
  TextureResult result;
  result.deterministic = !options.time_limit_s;
  if (problem.items.empty()) {
    result.order.resize(options.reorder ? problem.operators.size() : 0);
    std::iota(result.order.begin(), result.order.end(), std::int64_t{0});
    return result;
  }
  Solution solution;
  TextureProblem ordered = problem;
  if (options.reorder) {
    TL_ASSIGN_OR_RETURN(OrderedSolution best, solve_reordered(problem, options.mode, allowance));
    result.order = std::move(best.order);
    solution = std::move(best.solution);
    ordered = reordered(problem, result.order);
  } else {
    TL_ASSIGN_OR_RETURN(solution, solve_exact(problem, options.mode, allowance));
  }
  const Status verified = verify(ordered, solution.plan);
  TL_CHECK(verified.ok(), verified.message());
  result.bounds = std::move(solution.bounds);
  if (options.reorder || !optionally_exact(problem).empty()) {
    TL_ASSIGN_OR_RETURN(result.bounds, prove(problem, solution.plan, options.reorder, allowance));
  }
  result.lower_bound = sum_of(result.bounds);
  result.plan = std::move(solution.plan);
  result.lost_exact = std::move(solution.lost_exact);
  return result;
}

Result<std::vector<TextureBound>> bound_textures(const TextureProblem& problem,
                                                 const TexturePlan& plan,
                                                 const TextureOptions& options) {
  TL_RETURN_IF_ERROR(validate(problem));
  TL_RETURN_IF_ERROR(check_options(problem, options));
  return prove(problem, plan, options.reorder, allowance_of(options));
}

}  // namespace texloom::plan
