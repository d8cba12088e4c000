#include "runtime/drivers/host/execution.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "runtime/drivers/host/executable.h"
#include "runtime/drivers/host/memory.h"

namespace texloom::hal::host {

namespace {

// Of one dispatch: so that numbers of groups do not overflow. More would run for years.
constexpr std::uint64_t kMaxGroups = std::uint64_t{1} << 48;

// One place of memory where rows of bytes lie.
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
      arguments.emplace_back(BufferArgument{bytes_at(place), place.buffer->bytes() - place.offset});
    }
  }
  return arguments;
}

// Doubles what is filled already, so that long ranges go at the speed of copies.
void fill(std::byte* memory, std::uint64_t bytes, const std::array<std::byte, 4>& pattern) {
  std::uint64_t filled = std::min<std::uint64_t>(bytes, pattern.size());
  std::memcpy(memory, pattern.data(), filled);
  while (filled < bytes) {
    const std::uint64_t more = std::min(filled, bytes - filled);
    std::memcpy(memory + filled, memory, more);
    filled += more;
  }
}

// The number of groups; 0 where there are more than kMaxGroups.
std::uint64_t count_groups(const std::array<std::uint32_t, 3>& groups) {
  const std::uint64_t plane = std::uint64_t{groups[0]} * groups[1];
  return plane > kMaxGroups / groups[2] ? 0 : plane * groups[2];
}

class Runner {
 public:
  Runner(Workers& workers, std::span<std::byte> scratch, std::span<const Binding> table)
      : workers_(workers), scratch_(scratch), table_(table) {}

  Status operator()(const DispatchSegment& segment) {
    TL_RETURN_IF_ERROR(segment.call.executable->prepare());
    return run(segment.call, segment.groups)
        .with_context(fmt::format("kernel \"{}\"", segment.call.entry().name));
  }

  Status operator()(const IndirectDispatchSegment& segment) {
    std::array<std::uint32_t, 3> groups{};
    std::memcpy(groups.data(), bytes_at(resolve_buffer(segment.groups, table_)), sizeof groups);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return {};
    TL_RETURN_IF_ERROR(segment.call.executable->prepare());
    return run(segment.call, groups)
        .with_context(fmt::format("kernel \"{}\"", segment.call.entry().name));
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

  // Each command is complete before the next one begins.
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
  Status run(const KernelCall& call, const std::array<std::uint32_t, 3>& wanted) {
    const Kernel& kernel =
        static_cast<const HostExecutable&>(*call.executable).kernel(call.entry_point);
    const std::uint64_t groups = count_groups(wanted);
    if (groups == 0)
      return make_error(StatusCode::LimitExceeded, "{} x {} x {} work groups", wanted[0], wanted[1],
                        wanted[2]);
    const std::vector<Argument> arguments = arguments_of(call, table_);
    const Launch launch{call.entry(), wanted, arguments};
    if (!kernel.is_divisible()) return kernel.run(launch, {0, groups}, scratch_);
    const auto part = [&](std::uint64_t begin, std::uint64_t end, std::span<std::byte> scratch) {
      return kernel.run(launch, {begin, end}, scratch);
    };
    return workers_.run(groups, scratch_, part);
  }

  Workers& workers_;
  std::span<std::byte> scratch_;
  std::span<const Binding> table_;
};

}  // namespace

Status run_commands(const CommandRange& commands, Workers& workers, std::span<std::byte> scratch,
                    Profile* profile, std::uint32_t track) {
  Runner runner(workers, scratch, commands.table());
  const ProfileClock::time_point given =
      profile == nullptr ? ProfileClock::time_point() : ProfileClock::now();
  for (const Segment& segment : commands) {
    if (profile == nullptr) {
      TL_RETURN_IF_ERROR(std::visit(runner, segment));
      continue;
    }
    if (std::holds_alternative<BarrierSegment>(segment)) continue;
    const ProfileClock::time_point begin = ProfileClock::now();
    TL_RETURN_IF_ERROR(std::visit(runner, segment));
    profile->add({.name = label_of(segment),
                  .track = track,
                  .begin = begin,
                  .end = ProfileClock::now(),
                  .queue_wait = begin - given,
                  .bytes = bytes_of(segment, commands.table())});
  }
  return {};
}

}  // namespace texloom::hal::host
