#include "plan/textures/views.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "plan/textures/fold.h"
#include "support/int128.h"

namespace texloom::plan {
namespace {

constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 16;  // texels

struct View {
  FoldedExtent extent;
  std::int64_t row_pitch = 0;  // texels
  std::int64_t units = 0;      // the range, in units of the alignment of views
};

Status check_rules(const ViewRules& rules) {
  for (const std::int64_t alignment : {rules.row_pitch_alignment, rules.base_alignment}) {
    if (alignment >= 1 && alignment <= kMaxAlignment) continue;
    return invalid_argument("the alignment is {} texels; help: give 1 to {}", alignment,
                            kMaxAlignment);
  }
  return {};
}

View view_of(const FoldedExtent& extent, const ViewRules& rules, std::int64_t texel,
             std::int64_t unit) {
  View view{extent, ceil_div(extent.width, rules.row_pitch_alignment) * rules.row_pitch_alignment,
            0};
  // The product is cut to a value just above the limit of an arena, so that the item is refused as
  // too large.
  const int128 bytes = static_cast<int128>(view.row_pitch) * extent.height * texel;
  view.units =
      static_cast<std::int64_t>(std::min<int128>((bytes + unit - 1) / unit, kMaxExtent + 1));
  return view;
}

// The view with the fewest bytes. An exact item stays unfolded, unless the cost of losing its exact
// image is less than the texels that folding saves.
View choose_view(const TextureProblem& problem, const TextureItem& item, const ViewRules& rules,
                 std::int64_t texel, std::int64_t unit) {
  const auto all = folds(item, problem.max_width, problem.max_height);
  View best = view_of(all.front(), rules, texel, unit);
  const View whole = best;
  for (const FoldedExtent& extent : all) {
    const View other = view_of(extent, rules, texel, unit);
    if (other.units < best.units) best = other;
  }
  if (!item.exact || whole.extent.fold != 1) return best;
  const int128 more = static_cast<int128>(whole.units - best.units) * unit / texel;
  return !item.exact_cost || more <= *item.exact_cost ? whole : best;
}

// The unit in bytes. The offset of every view is a multiple of the unit.
Result<std::int64_t> unit_of(const TextureProblem& problem, const ViewRules& rules) {
  std::int64_t unit = 1;
  for (const TextureItem& item : problem.items) {
    TL_ASSIGN_OR_RETURN(const std::int64_t texel, texel_bytes(item.format));
    unit = std::lcm(unit, texel * rules.base_alignment);
  }
  return unit;
}

TextureItem column_of(const TextureItem& item, const View& view) {
  TextureItem column;
  column.id = item.id;
  column.lifetime = item.lifetime;
  column.height = view.units;
  return column;
}

// Joins all arenas to one: puts the columns on top of each other.
void join(TexturePlan& plan) {
  std::vector<std::int64_t> begins;
  std::int64_t end = 0;
  for (const TextureImage& image : plan.images) {
    begins.push_back(end);
    end += image.height;
  }
  for (TexturePlacement& place : plan.placements) {
    place.y += begins[static_cast<std::size_t>(place.image)];
    place.image = 0;
  }
  if (!plan.images.empty()) plan.images = {{1, end, plan.images[0].format}};
}

}  // namespace

std::int64_t ViewResult::bytes() const {
  return std::accumulate(arenas.begin(), arenas.end(), std::int64_t{0});
}

Result<std::int64_t> texel_bytes(const std::string& format) {
  int bits = 0;
  if (format.starts_with("rgba")) {
    std::from_chars(format.data() + 4, format.data() + format.size(), bits);
  }
  if (bits == 8 || bits == 16 || bits == 32) return std::int64_t{bits / 2};
  return invalid_argument(
      "the size of a texel of format {} is unknown; help: name a format such as rgba16float, whose "
      "channels have 8, 16 or 32 bits",
      format);
}

// A view is a column of units, and an arena is an image one unit wide, so the planner of images can
// also plan arenas.
Result<ViewResult> plan_views(const TextureProblem& problem, const ViewRules& rules,
                              const TextureOptions& options) {
  TL_RETURN_IF_ERROR(validate(problem));
  TL_RETURN_IF_ERROR(check_rules(rules));
  TL_ASSIGN_OR_RETURN(const std::int64_t unit, unit_of(problem, rules));
  TextureProblem columns = problem;
  TextureProblem least = problem;  // for the bound: all exact items that may be folded are folded
  for (TextureProblem* changed : {&columns, &least}) {
    changed->max_width = 1;
    changed->max_height = kMaxExtent;
    changed->read_write_may_share = rules.one_arena;
  }
  ViewResult result;
  std::vector<View> views;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    TextureItem item = problem.items[i];
    TL_ASSIGN_OR_RETURN(const std::int64_t texel, texel_bytes(item.format));
    views.push_back(choose_view(problem, item, rules, texel, unit));
    if (item.exact && views[i].extent.fold != 1) result.lost_exact.push_back(item.id);
    columns.items[i] = column_of(item, views[i]);
    item.exact = item.exact && !item.exact_cost;
    least.items[i] = column_of(item, choose_view(problem, item, rules, texel, unit));
  }
  TextureOptions column_options = options;
  column_options.mode = TextureMode::Images;
  TL_ASSIGN_OR_RETURN(TextureResult planned, plan_textures(columns, column_options));
  if (rules.one_arena) join(planned.plan);
  for (const TextureImage& image : planned.plan.images) {
    result.arenas.push_back(image.texels() * unit);
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    const TexturePlacement& place = planned.plan.placements[i];
    const FoldedExtent& extent = views[i].extent;
    result.placements.push_back({place.id, place.image, place.y * unit, views[i].row_pitch,
                                 extent.fold, extent.width, extent.height});
  }
  if (!problem.items.empty()) {
    TL_ASSIGN_OR_RETURN(auto bounds, bound_textures(least, planned.plan, column_options));
    result.proof = std::move(bounds[0].ids);
    result.proof_kind = bounds[0].kind;
    result.lower_bound = bounds[0].texels * unit;
  }
  result.order = std::move(planned.order);
  result.deterministic = planned.deterministic;
  return result;
}

}  // namespace texloom::plan
