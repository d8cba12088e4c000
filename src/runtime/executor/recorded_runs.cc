#include "runtime/executor/recorded_runs.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <variant>

namespace texloom::runtime {
namespace {

constexpr std::size_t kKnownRuns = 8;

bool is_same(const hal::Constant& a, const hal::Constant& b) {
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), hal::byte_size(a.type())) == 0;
}

std::vector<hal::Offset2D> origins_of(std::span<const hal::Binding> bindings) {
  std::vector<hal::Offset2D> origins;
  for (const hal::Binding& binding : bindings) {
    const auto* texture = std::get_if<hal::TextureBinding>(&binding);
    if (texture != nullptr) origins.push_back(texture->origin);
  }
  return origins;
}

}  // namespace

RecordedRun* RecordedRuns::find(std::span<const hal::Constant> scalars,
                                std::span<const hal::Binding> arguments,
                                const std::shared_ptr<hal::Queue>& queue) {
  std::vector<hal::Offset2D> origins = origins_of(arguments);
  const auto known = std::find_if(runs_.begin(), runs_.end(), [&](const RecordedRun& run) {
    const bool same_queue = !run.queue.owner_before(queue) && !queue.owner_before(run.queue);
    return same_queue && run.origins == origins &&
           std::equal(run.scalars.begin(), run.scalars.end(), scalars.begin(), scalars.end(),
                      is_same);
  });
  if (known != runs_.end()) {
    runs_.splice(runs_.begin(), runs_, known);
    return &runs_.front();
  }
  runs_.push_front(
      {.scalars = {scalars.begin(), scalars.end()}, .origins = std::move(origins), .queue = queue});
  if (runs_.size() > kKnownRuns) runs_.pop_back();
  return nullptr;
}

}  // namespace texloom::runtime
