#include "runtime/drivers/metal/commands/indirect_runs.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/drivers/metal/kernels/program.h"

namespace texloom::hal::metal {
namespace {

// Fewer dispatches take little time to encode.
constexpr std::uint32_t kFewestDispatches = 4;
// Metal's limit for the commands of one execution on GPUs that are not Apple's.
constexpr std::uint32_t kMostDispatches = 0x4000;
// The number of batches with different tables that may use a run at a time. Further batches are
// encoded command by command.
constexpr std::size_t kMostInFlight = 4;

// Builds the kernels of the runs. If that fails, encoding reports the error.
Result<std::vector<DispatchRun>> find_runs(const SegmentList& segments) {
  std::vector<DispatchRun> runs;
  DispatchRun run;
  const auto close = [&] {
    if (run.dispatches >= kFewestDispatches) runs.push_back(run);
    run = {};
  };
  for (auto each = segments.begin(); each != segments.end(); ++each) {
    if (std::holds_alternative<BarrierSegment>(*each)) continue;
    const auto* dispatch = std::get_if<DispatchSegment>(&*each);
    if (dispatch != nullptr) TL_RETURN_IF_ERROR(dispatch->call.executable->prepare());
    if (dispatch == nullptr || !kernel_of(dispatch->call).is_recordable) {
      close();
      continue;
    }
    if (run.dispatches == kMostDispatches) close();
    if (run.dispatches++ == 0) run.begin = each;
    run.end = std::next(each);
  }
  close();
  return runs;
}

}  // namespace

struct IndirectRuns::Encoded final : EncodedCommands {
  struct Entry {
    DispatchRun run;
    std::vector<std::shared_ptr<IndirectRun>> recorded;
  };

  explicit Encoded(const std::vector<DispatchRun>& runs) {
    for (const DispatchRun& run : runs) entries[&*run.begin] = {run, {}};
  }

  std::unordered_map<const Segment*, Entry> entries;  // key: the first segment of the run
};

IndirectRuns::IndirectRuns(const Context& context, const CommandRange& range)
    : context_(context), range_(range) {
  const CommandBuffer& commands = range.commands();
  if (!commands.desc().reusable || commands.call_count() < kFewestDispatches ||
      context.profile() != nullptr)
    return;
  // The cast is valid: only this driver encodes command buffers of its devices.
  encoded_.reset(static_cast<Encoded*>(commands.take_encoded().release()));
  if (encoded_ != nullptr) return;
  if (const auto runs = find_runs(commands.segments()); runs.ok())
    encoded_ = std::make_unique<Encoded>(*runs);
}

IndirectRuns::~IndirectRuns() {
  if (encoded_ != nullptr) range_.commands().keep_encoded(std::move(encoded_));
}

IndirectRuns::Found IndirectRuns::find(SegmentList::Iterator begin) {
  if (encoded_ == nullptr) return {};
  const auto found = encoded_->entries.find(&*begin);
  if (found == encoded_->entries.end()) return {};
  auto& [run, recorded] = found->second;
  // Batches with the same arguments share their argument buffers.
  for (const std::shared_ptr<IndirectRun>& each : recorded) {
    if (each->is_bound(range_)) return {each, run.end};
  }
  auto free = std::find_if(recorded.begin(), recorded.end(),
                           [](const auto& each) { return each.use_count() == 1; });
  if (free == recorded.end()) {
    if (recorded.size() == kMostInFlight) return {};
    std::shared_ptr<IndirectRun> made = IndirectRun::record(context_, run);
    if (made == nullptr) return {};
    free = recorded.insert(recorded.end(), std::move(made));
  }
  // use_count() is a relaxed read. Making and destroying a copy synchronizes with the batch that
  // used the run last.
  std::shared_ptr<IndirectRun>(*free).reset();
  (*free)->bind(run, range_);
  return {*free, run.end};
}

}  // namespace texloom::hal::metal
