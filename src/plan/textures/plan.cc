#include "plan/textures/plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "plan/textures/fold.h"

namespace texloom::plan {
namespace {

Status check_place(const TextureProblem& problem, const TexturePlan& plan, const TextureItem& item,
                   const TexturePlacement& place) {
  if (place.id != item.id) {
    return invalid_argument("the placement of item {} names item {}", item.id, place.id);
  }
  if (place.image < 0 || place.image >= static_cast<std::int64_t>(plan.images.size())) {
    return invalid_argument("item {} lies in image {}, which does not exist: there are {} images",
                            item.id, place.image, plan.images.size());
  }
  if (place.fold < 1 || place.fold > item.slices ||
      folded(item, place.fold) != FoldedExtent{place.fold, place.width, place.height}) {
    return invalid_argument(
        "item {} folded by {} is placed with width {} and height {}, which do not follow from its "
        "height of {}, width of {} and {} slices",
        item.id, place.fold, place.width, place.height, item.height, item.width, item.slices);
  }
  const TextureImage& image = plan.images[static_cast<std::size_t>(place.image)];
  if (place.x < 0 || place.y < 0 || place.x > image.width - place.width ||
      place.y > image.height - place.height) {
    return invalid_argument(
        "item {} with width {} and height {} lies at x={}, y={}, not inside image {} with width {} "
        "and height {}",
        item.id, place.width, place.height, place.x, place.y, place.image, image.width,
        image.height);
  }
  if (image.format != item.format) {
    return invalid_argument("item {} of format {} lies in image {} of format {}", item.id,
                            item.format, place.image, image.format);
  }
  if (item.exact && !item.exact_cost && !is_exact(plan, place)) {
    return invalid_argument(
        "item {} requires an image of exactly its extent, but lies in image {} with width {} and "
        "height {}",
        item.id, place.image, image.width, image.height);
  }
  if (image.width > problem.max_width || image.height > problem.max_height) {
    return invalid_argument(
        "image {} has width {} and height {}, which exceeds the limits: width {} and height {}",
        place.image, image.width, image.height, problem.max_width, problem.max_height);
  }
  return {};
}

bool overlap(const TexturePlacement& a, const TexturePlacement& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

// Compares the items of each image, in the order of their births, with the items that are still
// live.
Status check_overlaps(const TextureProblem& problem, const TexturePlan& plan) {
  std::vector<std::size_t> order(plan.placements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.items[a].lifetime.first < problem.items[b].lifetime.first;
  });
  std::vector<std::vector<std::size_t>> live(plan.images.size());
  for (const std::size_t i : order) {
    const TexturePlacement& place = plan.placements[i];
    std::vector<std::size_t>& here = live[static_cast<std::size_t>(place.image)];
    std::erase_if(here, [&](std::size_t j) {
      return problem.items[j].lifetime.last < problem.items[i].lifetime.first;
    });
    for (const std::size_t j : here) {
      if (!overlap(place, plan.placements[j])) continue;
      return invalid_argument("items {} and {} overlap in image {}", problem.items[j].id,
                              problem.items[i].id, place.image);
    }
    here.push_back(i);
  }
  return {};
}

}  // namespace

std::int64_t TexturePlan::texels() const {
  return std::transform_reduce(images.begin(), images.end(), std::int64_t{0}, std::plus<>(),
                               [](const TextureImage& image) { return image.texels(); });
}

bool is_exact(const TexturePlan& plan, const TexturePlacement& placement) {
  const TextureImage& image = plan.images[static_cast<std::size_t>(placement.image)];
  return placement.fold == 1 && placement.width == image.width && placement.height == image.height;
}

Status verify(const TextureProblem& problem, const TexturePlan& plan) {
  if (plan.placements.size() != problem.items.size()) {
    return invalid_argument("the plan has {} placements for {} items", plan.placements.size(),
                            problem.items.size());
  }
  std::unordered_map<std::int64_t, std::int64_t> image_of;
  for (std::size_t i = 0; i < plan.placements.size(); ++i) {
    TL_RETURN_IF_ERROR(check_place(problem, plan, problem.items[i], plan.placements[i]));
    image_of[problem.items[i].id] = plan.placements[i].image;
  }
  for (const auto& [a, b] : all_read_write(problem)) {
    if (image_of[a] != image_of[b]) continue;
    return invalid_argument("items {} and {}, which one operator reads and writes, share image {}",
                            a, b, image_of[a]);
  }
  return check_overlaps(problem, plan);
}

}  // namespace texloom::plan
