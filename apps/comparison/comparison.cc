#include "apps/comparison/comparison.h"

#include <algorithm>

namespace texloom::comparison {
namespace {

struct Samples {
  std::vector<double> ours, peer, ratios;
};

Status sample(const Comparison& comparison, bool ours_first, Samples& samples) {
  double ours = 0;
  double peer = 0;
  for (const bool is_ours : {ours_first, !ours_first}) {
    if (!is_ours && !comparison.peer) continue;
    const Result<double> value = is_ours ? comparison.ours() : comparison.peer();
    if (!value.ok()) return value.status().with_context(comparison.name);
    (is_ours ? ours : peer) = *value;
  }
  samples.ours.push_back(ours);
  if (comparison.peer) {
    samples.peer.push_back(peer);
    samples.ratios.push_back(ours / peer);
  }
  return {};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool passes(const Bar& bar, const Row& row) {
  switch (bar.kind) {
    case Bar::Kind::RatioAtMost:
      return row.ratio.value_or(0) <= bar.value;
    case Bar::Kind::RatioAtLeast:
      return row.ratio.value_or(0) >= bar.value;
    case Bar::Kind::OursAtMost:
      return row.ours <= bar.value;
  }
  return false;
}

Row row_of(const Comparison& comparison, const Samples& samples) {
  Row row{.ours = median(samples.ours), .peer = {}, .ratio = {}, .passes = {}};
  if (comparison.peer) {
    row.peer = median(samples.peer);
    row.ratio = median(samples.ratios);
  }
  if (comparison.bar) row.passes = passes(*comparison.bar, row);
  return row;
}

}  // namespace

Result<std::vector<Row>> measure(const std::vector<Comparison>& comparisons, int rounds,
                                 const std::function<void(int)>& told) {
  std::vector<Samples> samples(comparisons.size());
  for (int round = 0; round <= rounds; ++round) {
    told(round);
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
      TL_RETURN_IF_ERROR(sample(comparisons[i], round % 2 == 0, samples[i]));
      if (round == 0) samples[i] = {};
    }
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < comparisons.size(); ++i)
    rows.push_back(row_of(comparisons[i], samples[i]));
  return rows;
}

}  // namespace texloom::comparison
