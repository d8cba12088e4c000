#include "plan/textures/repair.h"

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace texloom::plan {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::max();
constexpr std::int64_t kStepsPerPlacement = 16;  // the cost of a placement, besides rectangles
constexpr std::size_t kForcedFolds = 4;          // folds that may displace items
constexpr std::size_t kForcedLines = 8;          // columns and rows that may displace items

bool overlap(const PackedItem& a, const PackedItem& b) {
  return a.x < b.x + b.extent.width && b.x < a.x + a.extent.width && a.y < b.y + b.extent.height &&
         b.y < a.y + a.extent.height;
}

void sort_lines(std::vector<std::int64_t>& lines, std::int64_t most) {
  std::erase_if(lines, [&](std::int64_t line) { return line < 0 || line > most; });
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
}

}  // namespace

Repairer::Repairer(const TextureInstance& instance, Packing packing, std::uint64_t seed)
    : instance_(instance), now_(std::move(packing)), random_(seed) {
  best_ = now_;
  contents_.resize(now_.images.size());
  for (int i = 0; i < static_cast<int>(now_.items.size()); ++i) {
    index_.push_back(contents_[now_.items[i].image].size());
    contents_[now_.items[i].image].push_back(i);
    cost_.push_back(static_cast<double>(instance.least_texels[i]));
  }
}

std::int64_t Repairer::texels() const {
  std::int64_t sum = 0;
  for (const PackedImage& image : now_.images) sum += image.texels();
  return sum;
}

void Repairer::run(std::int64_t goal, std::int64_t steps, const std::function<bool()>& is_over) {
  const std::int64_t end = steps_ + steps;
  std::int64_t patience = steps / 64 + 1;
  while (best_.texels > goal && steps_ < end && !(is_over && is_over())) {
    const std::int64_t before = best_.texels;
    if (cut(goal) == 0) {
      ++steps_;
      continue;
    }
    if (repair(std::min(end, steps_ + patience), is_over)) {
      keep();
    } else {
      undo();
      patience = std::min(patience + patience / 16, steps);
    }
    TL_CHECK(waiting_.empty() && best_.texels <= before);
  }
}

void Repairer::keep() {
  for (const int item : changed_) best_.items[item] = now_.items[item];
  changed_.clear();
  best_.images = now_.images;
  best_.texels = texels();
}

void Repairer::undo() {
  waiting_.clear();
  now_.images = best_.images;
  for (const int item : changed_) {
    if (now_.items[item].image >= 0) remove(item);
    now_.items[item].image = -1;
  }
  for (const int item : changed_) {
    if (now_.items[item].image < 0) put(item, best_.items[item]);
  }
  changed_.clear();
}

// Lowers one image, by the whole gap to the goal or by a part of it, and may add some of the rows
// to another image. Returns the texels that were saved; 0 if nothing was changed.
std::int64_t Repairer::cut(std::int64_t goal) {
  const std::size_t k = random_.below(now_.images.size());
  PackedImage& image = now_.images[k];
  if (image.fixed_height > 0 || image.height == 0) return 0;
  const std::int64_t gap = best_.texels - goal;
  const std::int64_t part = std::int64_t{1} << random_.below(5);
  std::int64_t rows = std::max<std::int64_t>(1, ceil_div(gap, image.width * part));
  if (random_.below(3) == 0) {  // down to the next item
    std::int64_t next = 0;
    for (const int i : contents_[k]) {
      const std::int64_t top = now_.items[i].y + now_.items[i].extent.height;
      if (top < image.height) next = std::max(next, top);
    }
    rows = image.height - next;
  }
  rows = std::min(rows, image.height);
  std::int64_t saved = rows * image.width;
  const std::size_t other = random_.below(now_.images.size());
  PackedImage& gift = now_.images[other];
  if (other != k && gift.fixed_height == 0 && random_.below(3) == 0) {
    const std::int64_t most =
        std::min((saved - 1) / gift.width, instance_.max_height - gift.height);
    if (most > 0) {
      const auto given =
          1 + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(most)));
      gift.height += given;
      saved -= given * gift.width;
    }
  }
  image.height -= rows;
  steps_ += static_cast<std::int64_t>(contents_[k].size()) / 4;
  const std::vector<int> items = contents_[k];
  for (const int i : items) {
    if (now_.items[i].y + now_.items[i].extent.height > image.height) take(i);
  }
  return saved;
}

void Repairer::put(int item, const PackedItem& place) {
  now_.items[item] = place;
  std::vector<int>& items = contents_[place.image];
  index_[item] = items.size();
  items.push_back(item);
}

void Repairer::remove(int item) {
  std::vector<int>& items = contents_[now_.items[item].image];
  items[index_[item]] = items.back();
  index_[items.back()] = index_[item];
  items.pop_back();
}

void Repairer::take(int item) {
  remove(item);
  now_.items[item].image = -1;
  waiting_.push_back(item);
  changed_.push_back(item);
}

// Places the waiting items, the largest first. False if the repair gave up.
bool Repairer::repair(std::int64_t stop, const std::function<bool()>& is_over) {
  for (int count = 1; !waiting_.empty(); ++count) {
    if (steps_ >= stop || (count % 64 == 0 && is_over && is_over())) return false;
    const auto largest = std::max_element(waiting_.begin(), waiting_.end(), [&](int a, int b) {
      return std::pair(instance_.least_texels[a], a) < std::pair(instance_.least_texels[b], b);
    });
    const int item = *largest;
    waiting_.erase(largest);
    steps_ += kStepsPerPlacement;
    if (insert_freely(item)) continue;
    cost_[item] += static_cast<double>(instance_.least_texels[item]);
    insert_by_force(item);
    if (now_.items[item].image < 0) return false;
  }
  return true;
}

// Finds the items of the image that are live together with this item and may share the image, by
// rising y; and the cost of removing the items that may not share the image.
void Repairer::find_neighbors(int item, int image) {
  cost_of_apart_ = 0;
  for (const int other : instance_.apart[item]) {
    if (now_.items[other].image != image) continue;
    cost_of_apart_ = instance_.must_be_exact[other] ? kImpossible : cost_of_apart_ + cost_[other];
    if (cost_of_apart_ == kImpossible) return;
  }
  steps_ += static_cast<std::int64_t>(instance_.apart[item].size()) / 4;
  neighbors_.clear();
  const Lifetime& life = instance_.items[item].lifetime;
  const auto& apart = instance_.apart[item];
  const auto add = [&](int other) {
    if (now_.items[other].image == image && other != item &&
        !std::binary_search(apart.begin(), apart.end(), other)) {
      neighbors_.push_back(other);
    }
  };
  const auto& meets = instance_.meets[item];
  if (meets.size() <= contents_[image].size()) {
    for (const int other : meets) add(other);
    steps_ += static_cast<std::int64_t>(meets.size()) / 4;
  } else {
    for (const int other : contents_[image]) {
      if (instance_.items[other].lifetime.meets(life)) add(other);
    }
    steps_ += static_cast<std::int64_t>(contents_[image].size()) / 4;
  }
  std::sort(neighbors_.begin(), neighbors_.end(), [&](int a, int b) {
    return std::pair(now_.items[a].y, a) < std::pair(now_.items[b].y, b);
  });
}

void Repairer::find_columns(const FoldedExtent& extent, const PackedImage& image) {
  columns_ = {0, image.width - extent.width};
  for (const int other : neighbors_) {
    columns_.push_back(now_.items[other].x + now_.items[other].extent.width);
    columns_.push_back(now_.items[other].x - extent.width);
  }
  sort_lines(columns_, image.width - extent.width);
}

void Repairer::find_rows(const FoldedExtent& extent, const PackedImage& image) {
  rows_ = {0, image.height - extent.height};
  for (const int other : neighbors_) {
    rows_.push_back(now_.items[other].y + now_.items[other].extent.height);
    rows_.push_back(now_.items[other].y - extent.height);
  }
  sort_lines(rows_, image.height - extent.height);
}

bool Repairer::insert_freely(int item) {
  Spot best;
  best.cost = kImpossible;
  const std::size_t count = now_.images.size();
  const std::size_t first = random_.below(count);
  for (std::size_t n = 0; n < count; ++n) {
    const int image = static_cast<int>((first + n) % count);
    find_neighbors(item, image);
    if (cost_of_apart_ == 0) try_freely(item, image, best);
  }
  if (best.cost == kImpossible) return false;
  put(item, best.place);
  return true;
}

// Looks for room at the lowest or the highest place of some columns. Prefers folds that waste the
// fewest texels, and chooses at random among equals.
bool Repairer::try_freely(int item, int image, Spot& best) {
  const PackedImage& target = now_.images[image];
  const std::int64_t limit = target.fixed_height > 0 ? target.fixed_height : target.height;
  const bool from_above = random_.below(2) == 0;
  bool found = false;
  for (const FoldedExtent& extent : instance_.folds[item]) {
    if (extent.width > target.width || extent.height > limit) continue;
    const std::int64_t waste = extent.texels() - instance_.least_texels[item];
    const auto cost =
        static_cast<double>(waste) + static_cast<double>(random_.below(1000)) / 1000.0;
    if (cost >= best.cost) continue;
    find_columns(extent, target);
    for (const std::int64_t x : columns_) {
      std::int64_t y = from_above ? limit - extent.height : 0;
      for (std::size_t n = 0; n < neighbors_.size(); ++n) {
        const int other = neighbors_[from_above ? neighbors_.size() - 1 - n : n];
        const PackedItem& place = now_.items[other];
        ++steps_;
        if (!overlap({image, x, y, extent}, place)) continue;
        y = from_above ? place.y - extent.height : place.y + place.extent.height;
      }
      const PackedItem place{image, x, y, extent};
      const bool is_free = y >= 0 && y + extent.height <= limit &&
                           std::none_of(neighbors_.begin(), neighbors_.end(), [&](int other) {
                             return overlap(place, now_.items[other]);
                           });
      steps_ += 1 + static_cast<std::int64_t>(neighbors_.size());
      if (!is_free) continue;
      best = {place, cost};
      found = true;
      break;
    }
  }
  return found;
}

// The cost of removing the items that overlap a place, added to `cost`; the sum stops at `most`.
double Repairer::cost_at(const PackedItem& place, double cost, double most) const {
  for (const int other : neighbors_) {
    if (!overlap(place, now_.items[other])) continue;
    if (instance_.must_be_exact[other]) return kImpossible;
    cost += cost_[other];
    if (cost >= most) return most;
  }
  return cost;
}

void Repairer::try_by_force(int item, int image, Spot& best) {
  const PackedImage& target = now_.images[image];
  const std::int64_t limit = target.fixed_height > 0 ? target.fixed_height : target.height;
  const auto& folds = instance_.folds[item];
  const std::size_t first = random_.below(folds.size());
  std::size_t tried = 0;
  for (std::size_t n = 0; n < folds.size() && tried < kForcedFolds; ++n) {
    const FoldedExtent& extent = folds[(first + n) % folds.size()];
    if (extent.width > target.width || extent.height > limit) continue;
    ++tried;
    find_columns(extent, target);
    PackedImage limited = target;
    limited.height = limit;
    find_rows(extent, limited);
    const std::size_t x0 = random_.below(columns_.size());
    const std::size_t y0 = random_.below(rows_.size());
    for (std::size_t cx = 0; cx < std::min(columns_.size(), kForcedLines); ++cx) {
      for (std::size_t cy = 0; cy < std::min(rows_.size(), kForcedLines); ++cy) {
        const PackedItem place{image, columns_[(x0 + cx) % columns_.size()],
                               rows_[(y0 + cy) % rows_.size()], extent};
        const double cost = cost_at(place, cost_of_apart_, best.cost);
        steps_ += 1 + static_cast<std::int64_t>(neighbors_.size());
        if (cost < best.cost) best = {place, cost};
      }
    }
  }
}

void Repairer::insert_by_force(int item) {
  Spot best;
  best.cost = kImpossible;
  const std::size_t count = now_.images.size();
  const std::size_t first = random_.below(count);
  for (std::size_t n = 0; n < count; ++n) {
    const int image = static_cast<int>((first + n) % count);
    find_neighbors(item, image);
    if (cost_of_apart_ < best.cost) try_by_force(item, image, best);
  }
  if (best.cost == kImpossible) {
    waiting_.push_back(item);
    return;
  }
  steps_ += static_cast<std::int64_t>(contents_[best.place.image].size()) / 4;
  const std::vector<int> here = contents_[best.place.image];
  const Lifetime& life = instance_.items[item].lifetime;
  const auto& apart = instance_.apart[item];
  for (const int other : here) {
    const bool must_go =
        std::binary_search(apart.begin(), apart.end(), other) ||
        (instance_.items[other].lifetime.meets(life) && overlap(best.place, now_.items[other]));
    if (must_go) take(other);
  }
  put(item, best.place);
}

}  // namespace texloom::plan
