// Helpers for tests of bound inference: the bounds of a stage as text.
#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/bounds/bounds.h"
#include "tests/schedule/te.h"

namespace texloom::schedule::testing {

inline std::vector<std::string> texts(const ir::Exprs& expressions) {
  std::vector<std::string> list;
  for (const ir::Expr& e : expressions) list.push_back(to_string(e));
  return list;
}

// Returns "min + extent" for each data axis.
inline std::string region(const Te& te, const ir::Tensor& t) {
  const Bounds bounds = infer_bounds(te.s);
  const StageBounds& b = bounds.of(te.id(t));
  std::vector<std::string> axes;
  for (size_t i = 0; i < b.extent.size(); ++i) {
    axes.push_back(fmt::format("{} + {}", to_string(b.min[i]), to_string(b.extent[i])));
  }
  return fmt::format("{}", fmt::join(axes, ", "));
}

// Returns "name extent" for each loop. Checks that the ranges of all loop variables agree.
inline std::string loops(const Te& te, const ir::Tensor& t) {
  const Bounds bounds = infer_bounds(te.s);
  std::vector<std::string> list;
  for (const LeafLoop& loop : bounds.of(te.id(t)).loops) {
    if (const int64_t* extent = ir::int_value(loop.extent)) {
      EXPECT_EQ(bounds.ranges.of(loop.var.get()), (ir::arith::Interval{0, *extent - 1}));
    }
    EXPECT_EQ(to_string(loop.var), loop.axis->name());
    list.push_back(fmt::format("{} {}", loop.axis->name(), to_string(loop.extent)));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

// Returns the index expression of each axis variable, reduction axes last.
inline std::string indices(const Te& te, const ir::Tensor& t) {
  const Bounds bounds = infer_bounds(te.s);
  const StageBounds& b = bounds.of(te.id(t));
  std::vector<std::string> list;
  for (const auto* axes : {&te.stage(t).op->axes, &te.stage(t).op->reduce_axes}) {
    for (const ir::IterVar& axis : *axes) list.push_back(to_string(b.index.at(axis->var)));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

inline std::string positions(const Te& te, const ir::Tensor& t) {
  const Bounds bounds = infer_bounds(te.s);
  return fmt::format("{}", fmt::join(texts(bounds.of(te.id(t)).position), ", "));
}

// Returns "data guards | reduction guards".
inline std::string guards(const Te& te, const ir::Tensor& t, Points points = Points::InShape) {
  const Bounds bounds = infer_bounds(te.s, points);
  const StageBounds& b = bounds.of(te.id(t));
  return fmt::format("{} | {}", fmt::join(texts(b.guards), ", "),
                     fmt::join(texts(b.reduction_guards), ", "));
}

// Returns "first to end" for each data axis: the indices that are computed at all.
inline std::string computed(const Te& te, const ir::Tensor& t, Points points) {
  const Bounds bounds = infer_bounds(te.s, points);
  const StageBounds& b = bounds.of(te.id(t));
  std::vector<std::string> axes;
  for (size_t i = 0; i < b.first.size(); ++i) {
    axes.push_back(fmt::format("{} to {}", to_string(b.first[i]), to_string(b.end[i])));
  }
  return fmt::format("{}", fmt::join(axes, ", "));
}

}  // namespace texloom::schedule::testing
