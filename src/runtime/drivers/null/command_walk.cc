#include "runtime/drivers/null/command_walk.h"

#include <variant>

#include "runtime/hal/internal/recording/update_run.h"

namespace texloom::hal::null {

Statistics& Statistics::operator+=(const Statistics& other) {
  resident += other.resident;
  native_waits += other.native_waits;
  scopes += other.scopes;
  ranges += other.ranges;
  dispatches += other.dispatches;
  transfers += other.transfers;
  native += other.native;
  recorded_updates += other.recorded_updates;
  writes += other.writes;
  recorded_barriers += other.recorded_barriers;
  barriers += other.barriers;
  barrier_resources += other.barrier_resources;
  return *this;
}

namespace {

// Makes the two decisions that need neighbors: a barrier is encoded only if there is work on both
// sides of it, and an update that continues the previous write is joined to that write.
class Walk {
 public:
  explicit Walk(Statistics& statistics) : statistics_(statistics) {}

  void visit(const CommandRange& commands) {
    ++statistics_.ranges;
    // Ranges run one after another, so no barrier is needed between them.
    has_work_ = false;
    barrier_waits_ = false;
    in_run_ = false;
    for (const Segment& segment : commands) visit(segment);
  }

 private:
  void visit(const Segment& segment) {
    if (std::holds_alternative<BarrierSegment>(segment)) {
      ++statistics_.recorded_barriers;
      if (!has_work_) return;
      if (!barrier_waits_) barrier_resources_ = 0;
      barrier_waits_ = true;
      barrier_resources_ += std::get<BarrierSegment>(segment).resources.size();
      in_run_ = false;
      return;
    }
    if (barrier_waits_) {
      ++statistics_.barriers;
      statistics_.barrier_resources += barrier_resources_;
    }
    barrier_waits_ = false;
    has_work_ = true;
    if (const auto* update = std::get_if<UpdateSegment>(&segment)) {
      visit(*update);
      return;
    }
    in_run_ = false;
    if (std::holds_alternative<NativeSegment>(segment)) {
      ++statistics_.native;
    } else if (call_of(segment) != nullptr) {
      ++statistics_.dispatches;
    } else {
      ++statistics_.transfers;
    }
  }

  void visit(const UpdateSegment& update) {
    ++statistics_.recorded_updates;
    if (in_run_ && continues(run_start_, run_bytes_, update)) {
      run_bytes_ += update.data.size();
      return;
    }
    ++statistics_.writes;
    in_run_ = update.data.size() <= kLargestJoinedUpdate;
    run_start_ = update.target;
    run_bytes_ = update.data.size();
  }

  Statistics& statistics_;
  bool has_work_ = false;       // in this range
  bool barrier_waits_ = false;  // a barrier awaits later work
  std::uint64_t barrier_resources_ = 0;
  bool in_run_ = false;  // the previous segment was an update that can be continued
  BoundBuffer run_start_;
  std::uint64_t run_bytes_ = 0;
};

}  // namespace

Statistics walk(std::span<const CommandRange> commands) {
  Statistics statistics;
  Walk walk(statistics);
  for (const CommandRange& each : commands) walk.visit(each);
  return statistics;
}

}  // namespace texloom::hal::null
