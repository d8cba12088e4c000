#include "runtime/drivers/host/execution.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/host/executable.h"
#include "runtime/drivers/host/memory.h"

namespace texloom::hal::host {

namespace {

// The limit for the groups of dispatches that run together, so that their number does not overflow.
// More groups would run for years.
constexpr std::uint64_t kMaxGroups = std::uint64_t{1} << 48;

// Dispatches that take less are not worth the time in which another thread wakes up.
constexpr double kSharedNanoseconds = 20e3;

// Rows of bytes in memory.
struct Rows {
  std::byte* first;
  std::uint64_t pitch;
};

Rows rows_of(const Texture& texture, Offset2D origin) {
  const Image image = as_host(texture).image();
  return {image.at(origin.x, origin.y), image.row_pitch()};
}
Rows rows_of(const Buffer& buffer, const BufferTextureRegion& region) {
  return {as_host(buffer).data() + region.buffer_offset, region.row_pitch};
}

void copy_rows(Rows source, Rows target, Extent2D extent, TexelFormat format) {
  const std::uint64_t row_bytes = std::uint64_t{extent.width} * bytes_per_texel(format);
  for (std::uint64_t y = 0; y < extent.height; ++y)
    std::memcpy(target.first + y * target.pitch, source.first + y * source.pitch, row_bytes);
}

std::byte* bytes_at(const BoundBuffer& place) {
  return as_host(*place.buffer).data() + place.offset;
}

// Arguments in the order of the entry point's parameters.
std::vector<Argument> arguments_of(const KernelCall& call, std::span<const Binding> table) {
  const EntryPoint& entry = call.entry();
  std::vector<Argument> arguments;
  arguments.reserve(entry.params.size());
  auto binding = call.bindings.begin();
  auto constant = call.constants.begin();
  std::uint64_t local_end = 0;
  for (const KernelParam& param : entry.params) {
    if (std::holds_alternative<ConstantParam>(param)) {
      arguments.emplace_back(*constant++);
      continue;
    }
    if (const auto* local = std::get_if<LocalParam>(&param)) {
      arguments.emplace_back(LocalArgument{local_end, local->bytes});
      local_end += local->bytes;
      continue;
    }
    const BoundMemory memory = resolve(*binding++, table);
    if (const auto* texture = std::get_if<BoundTexture>(&memory)) {
      arguments.emplace_back(TextureArgument{as_host(*texture->texture).image(), texture->origin});
    } else {
      const auto& place = std::get<BoundBuffer>(memory);
      arguments.emplace_back(BufferArgument{bytes_at(place), place.bytes});
    }
  }
  return arguments;
}

// Doubles the part that is already filled, so that long ranges are filled at the speed of copies.
void fill(std::byte* memory, std::uint64_t bytes, const std::array<std::byte, 4>& pattern) {
  std::uint64_t filled = std::min<std::uint64_t>(bytes, pattern.size());
  std::memcpy(memory, pattern.data(), filled);
  while (filled < bytes) {
    const std::uint64_t more = std::min(filled, bytes - filled);
    std::memcpy(memory + filled, memory, more);
    filled += more;
  }
}

// The number of groups; 0 if there are more than kMaxGroups.
std::uint64_t count_groups(const std::array<std::uint32_t, 3>& groups) {
  const std::uint64_t plane = std::uint64_t{groups[0]} * groups[1];
  return plane > kMaxGroups / groups[2] ? 0 : plane * groups[2];
}

}  // namespace

// Runs transfers one at a time, and dispatches without a barrier between them together, so that
// threads share the groups of many small dispatches as if they were one large dispatch.
class Execution::Runner {
 public:
  Runner(Workers& workers, std::span<const Binding> table) : workers_(workers), table_(table) {}

  const std::span<const Binding>& table() const { return table_; }

  Status run(const Segment& segment, std::span<std::byte> scratch) {
    scratch_ = scratch;
    if (call_of(segment) == nullptr) TL_RETURN_IF_ERROR(finish());
    return std::visit(*this, segment);
  }

  // Runs the dispatches that are pending.
  Status finish(std::span<std::byte> scratch) {
    scratch_ = scratch;
    return finish();
  }
  Status finish() {
    const std::vector<Dispatch> dispatches = std::exchange(dispatches_, {});
    const std::uint64_t groups = dispatches.empty() ? 0 : dispatches.back().end;
    const auto part = [&](std::uint64_t begin, std::uint64_t end, std::span<std::byte> scratch) {
      auto each = std::upper_bound(dispatches.begin(), dispatches.end(), begin,
                                   [](std::uint64_t at, const Dispatch& d) { return at < d.end; });
      for (; begin < end; ++each) {
        const GroupRange range{begin - each->begin, std::min(end, each->end) - each->begin};
        TL_RETURN_IF_ERROR(each->run(range, scratch));
        begin = each->end;
      }
      return Status();
    };
    if (is_short(dispatches)) return part(0, groups, scratch_);
    return workers_.run(groups, scratch_, part);
  }

  Status operator()(const DispatchSegment& segment) { return add(segment.call, segment.groups); }

  Status operator()(const IndirectDispatchSegment& segment) {
    std::array<std::uint32_t, 3> groups{};
    std::memcpy(groups.data(), bytes_at(resolve_buffer(segment.groups, table_)), sizeof groups);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return {};
    return add(segment.call, groups);
  }

  Status operator()(const FillSegment& segment) {
    fill(bytes_at(segment.target), segment.bytes, segment.pattern);
    return {};
  }

  Status operator()(const UpdateSegment& segment) {
    std::memcpy(bytes_at(segment.target), segment.data.data(), segment.data.size());
    return {};
  }

  Status operator()(const ReadbackSegment& segment) {
    std::memcpy(segment.data.data(), bytes_at(segment.source), segment.data.size());
    return {};
  }

  Status operator()(const CopyBufferSegment& segment) {
    std::memcpy(bytes_at(segment.target), bytes_at(segment.source), segment.bytes);
    return {};
  }

  Status operator()(const NativeSegment& segment) {
    std::vector<BoundMemory> memory;
    for (const NativeArgument& argument : segment.arguments)
      memory.push_back(resolve(argument.memory, table_));
    return (*segment.encode)({.driver = "host", .handles = nullptr, .memory = memory})
        .with_context("native commands");
  }

  Status operator()(const BarrierSegment&) { return {}; }

  Status operator()(const HostCallSegment&) {
    return make_error(StatusCode::Internal, "a host call reached the driver");
  }

  Status operator()(const CopyBufferToTextureSegment& segment) {
    copy_rows(rows_of(*segment.source, segment.region),
              rows_of(*segment.target, segment.region.origin), segment.region.extent,
              segment.target->format());
    return {};
  }

  Status operator()(const CopyTextureToBufferSegment& segment) {
    copy_rows(rows_of(*segment.source, segment.region.origin),
              rows_of(*segment.target, segment.region), segment.region.extent,
              segment.source->format());
    return {};
  }

  Status operator()(const CopyTextureSegment& segment) {
    copy_rows(rows_of(*segment.source, segment.source_origin),
              rows_of(*segment.target, segment.target_origin), segment.extent,
              segment.source->format());
    return {};
  }

 private:
  struct Dispatch {
    const Kernel* kernel = nullptr;
    const EntryPoint* entry = nullptr;
    std::array<std::uint32_t, 3> groups = {};
    std::vector<Argument> arguments;
    std::uint64_t begin = 0, end = 0;  // the range of its groups among all pending groups

    Status run(GroupRange range, std::span<std::byte> scratch) const {
      const bool is_measured = kernel->wants_measurement();
      const ProfileClock::time_point started =
          is_measured ? ProfileClock::now() : ProfileClock::time_point();
      Status status = kernel->run({*entry, groups, arguments}, range, scratch);
      if (!status.ok()) return status.with_context(described());
      if (!is_measured) return status;
      const std::chrono::duration<float, std::nano> taken = ProfileClock::now() - started;
      kernel->add_measurement(taken.count() / static_cast<float>(range.end - range.begin));
      return status;
    }
    std::string described() const { return fmt::format("kernel \"{}\"", entry->name); }
  };

  // Whether the dispatches are known to take less time than is worth sharing.
  static bool is_short(std::span<const Dispatch> dispatches) {
    double total = 0;
    for (const Dispatch& each : dispatches) {
      const double nanoseconds = each.kernel->group_nanoseconds();
      if (nanoseconds == 0) return false;
      total += nanoseconds * static_cast<double>(each.end - each.begin);
    }
    return total < kSharedNanoseconds;
  }

  Status add(const KernelCall& call, const std::array<std::uint32_t, 3>& groups) {
    TL_RETURN_IF_ERROR(call.executable->prepare());
    Dispatch next{
        .kernel = &static_cast<const HostExecutable&>(*call.executable).kernel(call.entry_point),
        .entry = &call.entry(),
        .groups = groups,
        .arguments = arguments_of(call, table_)};
    const std::uint64_t count = count_groups(groups);
    if (count == 0)
      return make_error(StatusCode::LimitExceeded,
                        "{}: {} x {} x {} work groups are more than 2^48", next.described(),
                        groups[0], groups[1], groups[2]);
    if (!next.kernel->is_divisible()) return next.run({0, count}, scratch_);
    if (!dispatches_.empty() && count > kMaxGroups - dispatches_.back().end)
      TL_RETURN_IF_ERROR(finish());
    next.begin = dispatches_.empty() ? 0 : dispatches_.back().end;
    next.end = next.begin + count;
    dispatches_.push_back(std::move(next));
    return {};
  }

  Workers& workers_;
  std::span<std::byte> scratch_;  // of the thread that runs
  std::span<const Binding> table_;
  std::vector<Dispatch> dispatches_;  // after the last barrier, pending
};

Execution::Execution(const CommandRange& commands, Workers& workers, Profile* profile,
                     std::uint32_t track)
    : runner_(std::make_unique<Runner>(workers, commands.table())),
      next_(commands.begin()),
      end_(commands.end()),
      profile_(profile),
      track_(track),
      given_(profile == nullptr ? ProfileClock::time_point() : ProfileClock::now()) {}

Execution::~Execution() = default;
Execution::Execution(Execution&&) noexcept = default;

bool Execution::may_run_while_waiting(const Segment& segment) const {
  if (std::holds_alternative<NativeSegment>(segment)) return false;
  const KernelCall* call = call_of(segment);
  if (call == nullptr) return true;
  if (!call->executable->prepare().ok()) return false;  // run() reports it
  return static_cast<const HostExecutable&>(*call->executable)
      .kernel(call->entry_point)
      .may_run_while_waiting();
}

Status Execution::step(std::span<std::byte> scratch) {
  const Segment& segment = *next_;
  ++next_;
  if (profile_ == nullptr) return runner_->run(segment, scratch);
  if (std::holds_alternative<BarrierSegment>(segment)) return {};
  const ProfileClock::time_point begin = ProfileClock::now();
  TL_RETURN_IF_ERROR(runner_->run(segment, scratch));
  TL_RETURN_IF_ERROR(runner_->finish());  // runs this command alone, so that it has its own span
  profile_->add({.name = label_of(segment),
                 .track = track_,
                 .begin = begin,
                 .end = ProfileClock::now(),
                 .queue_wait = begin - given_,
                 .bytes = bytes_of(segment, runner_->table())});
  return {};
}

Status Execution::run(std::span<std::byte> scratch) {
  while (next_ != end_) TL_RETURN_IF_ERROR(step(scratch));
  return runner_->finish(scratch);
}

Result<bool> Execution::run_until(ProfileClock::time_point deadline, std::span<std::byte> scratch) {
  while (next_ != end_) {
    const bool may_stop = std::holds_alternative<BarrierSegment>(*next_);
    if (!may_run_while_waiting(*next_) || (may_stop && ProfileClock::now() > deadline)) {
      TL_RETURN_IF_ERROR(runner_->finish(scratch));
      return false;
    }
    TL_RETURN_IF_ERROR(step(scratch));
  }
  TL_RETURN_IF_ERROR(runner_->finish(scratch));
  return true;
}

}  // namespace texloom::hal::host
