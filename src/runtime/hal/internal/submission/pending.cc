#include "runtime/hal/internal/submission/pending.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace texloom::hal::internal {

Gate::Gate(const std::vector<TimelinePoint>& points) : closed(points.size()) {
  for (const TimelinePoint& point : points) waits.push_back({point});
}

void Gate::end_wait(std::size_t i, const Status& status) {
  Wait& wait = waits[i];
  --(wait.is_native ? open : closed);
  wait.is_over = true;
  if (error.ok()) error = status;
}

void Gate::leave_to_device(std::size_t i) {
  Wait& wait = waits[i];
  if (wait.is_over || wait.is_native) return;
  wait.is_native = true;
  --closed;
  ++open;
}

std::vector<TimelinePoint> Gate::native_waits() const {
  std::vector<TimelinePoint> points;
  for (const Wait& wait : waits) {
    if (wait.is_native && !wait.is_over) points.push_back(wait.point);
  }
  return points;
}

void Gate::release(std::unique_lock<std::mutex>& lock) {
  const auto canceled = std::exchange(callbacks, {});
  std::vector<std::shared_ptr<Semaphore>> semaphores;
  for (Wait& wait : waits) semaphores.push_back(std::move(wait.point.semaphore));
  lock.unlock();
  for (const auto& [semaphore, number] : canceled) semaphore->cancel(number);
  semaphores.clear();
  lock.lock();
}

bool is_reached(const TimelinePoint& point) {
  const Result<std::uint64_t> value = point.semaphore->value();
  return value.ok() && *value >= point.value;
}

Status Predecessor::error() const {
  const bool has_come = point.semaphore != nullptr && is_reached(point);
  return outcome->error.ok() || has_come ? Status() : outcome->error;
}

bool Pending::is_open() const {
  return gate == nullptr || gate->is_open() || (gate->registered && !earlier_error().ok());
}

bool Pending::will_signal(const TimelinePoint& point) const {
  return std::any_of(signals.begin(), signals.end(), [&](const TimelinePoint& each) {
    return each.semaphore == point.semaphore && each.value >= point.value;
  });
}

Status Pending::earlier_error() const {
  for (const Predecessor& each : after) TL_RETURN_IF_ERROR(each.error());
  return {};
}

namespace {

// Adds the parts of one command buffer: none if it has no segments.
void split(const SubmittedCommands& submitted, std::vector<Pending>& parts) {
  const SegmentList& segments = submitted.commands->segments();
  const auto add = [&](SegmentList::Iterator begin, SegmentList::Iterator end) {
    if (begin == end) return;
    if (parts.empty() || parts.back().host_call != nullptr) parts.emplace_back();
    parts.back().ranges.emplace_back(*submitted.commands, begin, end, submitted.table,
                                     submitted.table_number);
  };
  auto begin = segments.begin();
  if (submitted.commands->has_host_calls()) {
    for (auto segment = begin; segment != segments.end(); ++segment) {
      const auto* host = std::get_if<HostCallSegment>(&*segment);
      if (host == nullptr) continue;
      add(begin, segment);
      Pending& part = parts.emplace_back();
      part.host_call = host->call;
      part.host_call_table = submitted.table;
      begin = std::next(segment);
    }
  }
  add(begin, segments.end());
}

}  // namespace

std::vector<Pending> split(std::vector<SubmittedCommands> commands,
                           std::vector<TimelinePoint> signals) {
  const auto kept = std::make_shared<const std::vector<SubmittedCommands>>(std::move(commands));
  std::vector<Pending> parts;
  for (const SubmittedCommands& each : *kept) split(each, parts);
  if (parts.empty()) parts.emplace_back();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].kept = kept;
    if (i > 0) parts[i].after.push_back({parts[i - 1].outcome});
  }
  parts.back().signals = std::move(signals);
  return parts;
}

}  // namespace texloom::hal::internal
