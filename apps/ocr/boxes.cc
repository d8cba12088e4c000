#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "page.h"

namespace {

constexpr float kThreshold = 0.3F;   // the least probability of a pixel of text
constexpr double kLeastScore = 0.5;  // the least mean probability of a region
constexpr double kLeastSide = 3;     // pixels
constexpr double kGrowth = 1.6;      // regions are trained to be smaller than the text

// The corners of the convex hull, in order (Andrew, 1979). For points on a line, their two ends.
std::vector<Point> convex_hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](Point a, Point b) {
    return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
  });
  std::vector<Point> hull;
  for (std::size_t first : {0, 1}) {  // one side, then the other one, from the last point back
    first *= hull.size();
    for (const Point p : points) {
      while (hull.size() >= first + 2 &&
             std::imag(std::conj(hull.back() - hull.end()[-2]) * (p - hull.back())) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

// The smallest rectangle around a convex polygon: one of its sides lies along a side of the polygon
// (Freeman and Shapira, 1975). Text runs along its longer side.
Box around(const std::vector<Point>& hull) {
  Box best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Point axis = std::polar(1.0, std::arg(hull[(i + 1) % hull.size()] - hull[i]));
    Point low = hull[i] / axis, high = low;
    for (const Point each : hull) {
      const Point p = each / axis;
      low = {std::min(low.real(), p.real()), std::min(low.imag(), p.imag())};
      high = {std::max(high.real(), p.real()), std::max(high.imag(), p.imag())};
    }
    const double width = high.real() - low.real(), height = high.imag() - low.imag();
    if (width * height >= least) continue;
    least = width * height;
    best = {low * axis, width * axis, Point(0, height) * axis};
  }
  const auto is_upright = [](const Box& box) {
    const double angle = std::arg(box.along) / std::numbers::pi;
    return std::abs(box.along) >= std::abs(box.down) && angle > -0.25 && angle <= 0.75;
  };
  for (int turn = 0; turn < 4 && !is_upright(best); ++turn)
    best = {best.corner + best.along, best.down, -best.along};
  return best;
}

// Removes the pixels that are connected with pixel `first` from `is_text`, and returns them.
std::vector<int> take_region(std::vector<bool>& is_text, int columns, int first) {
  std::vector<int> region = {first};
  is_text[first] = false;
  for (std::size_t next = 0; next < region.size(); ++next) {
    const int left = region[next] % columns > 0 ? 1 : 0;
    const int right = (region[next] + 1) % columns > 0 ? 1 : 0;
    for (const int row : {region[next] - columns, region[next], region[next] + columns}) {
      for (int i = std::max(row - left, 0); i <= row + right; ++i) {
        if (i >= static_cast<int>(is_text.size()) || !is_text[i]) continue;
        is_text[i] = false;
        region.push_back(i);
      }
    }
  }
  return region;
}

}  // namespace

std::vector<Box> find_boxes(std::span<const float> probability, int columns, Point scale) {
  const int count = static_cast<int>(probability.size());
  // Also marks the neighbors to the left of and above a pixel of text, so that more pixels are
  // connected.
  std::vector<bool> is_text(probability.size());
  for (int i = 0; i < count; ++i) {
    if (probability[i] <= kThreshold) continue;
    for (const int left : {0, i % columns > 0 ? 1 : 0})
      for (const int above : {0, i >= columns ? columns : 0}) is_text[i - left - above] = true;
  }
  std::vector<Box> found;
  for (int first = 0; first < count; ++first) {
    if (!is_text[first]) continue;
    double sum = 0;
    std::vector<Point> points;
    for (const int i : take_region(is_text, columns, first)) {
      sum += probability[i];
      points.emplace_back(i % columns * scale.real(), i / columns * scale.imag());
    }
    const Box box = around(convex_hull(points));
    const double width = std::abs(box.along), height = std::abs(box.down);
    if (sum < kLeastScore * static_cast<double>(points.size()) || height < kLeastSide) continue;
    const double more = width * height * kGrowth / (width + height);
    const Point along = box.along * (more / width), down = box.down * (more / height);
    found.push_back({box.corner - (along + down) / 2.0, box.along + along, box.down + down});
  }
  const auto place = [](const Box& box) {
    const Point center = box.corner + (box.along + box.down) / 2.0;
    return std::pair(std::nearbyint(center.imag() / 10), center.real());
  };
  std::sort(found.begin(), found.end(),
            [&](const Box& a, const Box& b) { return place(a) < place(b); });
  return found;
}
