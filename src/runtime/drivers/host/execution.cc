#include "runtime/drivers/host/execution.h"

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

// Arguments in the order of the entry point's parameters.
std::vector<Argument> arguments_of(const DispatchSegment& segment, const EntryPoint& entry) {
  std::vector<Argument> arguments;
  arguments.reserve(entry.params.size());
  auto binding = segment.bindings.begin();
  auto constant = segment.constants.begin();
  for (const KernelParam& param : entry.params) {
    if (std::holds_alternative<ConstantParam>(param)) {
      arguments.emplace_back(*constant++);
    } else if (const auto* texture = std::get_if<TextureBinding>(&*binding++)) {
      arguments.emplace_back(TextureArgument{as_host(*texture->texture).image(), texture->origin});
    } else {
      const auto& bound = std::get<BufferBinding>(*(binding - 1));
      const HostBuffer& buffer = as_host(*bound.buffer);
      arguments.emplace_back(
          BufferArgument{buffer.data() + bound.offset, buffer.bytes() - bound.offset});
    }
  }
  return arguments;
}

// The number of groups; 0 where there are more than kMaxGroups.
std::uint64_t count_groups(const std::array<std::uint32_t, 3>& groups) {
  const std::uint64_t plane = std::uint64_t{groups[0]} * groups[1];
  return plane > kMaxGroups / groups[2] ? 0 : plane * groups[2];
}

class Runner {
 public:
  Runner(Workers& workers, std::span<std::byte> scratch) : workers_(workers), scratch_(scratch) {}

  Status operator()(const DispatchSegment& segment) {
    auto& executable = static_cast<HostExecutable&>(*segment.executable);
    const EntryPoint& entry = executable.entry_points()[segment.entry_point];
    TL_RETURN_IF_ERROR(executable.prepare());
    return run(executable.kernel(segment.entry_point), entry, segment)
        .with_context(fmt::format("kernel \"{}\"", entry.name));
  }

  Status operator()(const UpdateSegment& segment) {
    std::memcpy(as_host(*segment.target).data() + segment.offset, segment.data.data(),
                segment.data.size());
    return {};
  }

  Status operator()(const ReadbackSegment& segment) {
    std::memcpy(segment.data.data(), as_host(*segment.source).data() + segment.offset,
                segment.data.size());
    return {};
  }

  Status operator()(const CopyBufferSegment& segment) {
    std::memcpy(as_host(*segment.target).data() + segment.target_offset,
                as_host(*segment.source).data() + segment.source_offset, segment.bytes);
    return {};
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
  Status run(const Kernel& kernel, const EntryPoint& entry, const DispatchSegment& segment) {
    const std::uint64_t groups = count_groups(segment.groups);
    if (groups == 0)
      return make_error(StatusCode::LimitExceeded, "{} x {} x {} work groups", segment.groups[0],
                        segment.groups[1], segment.groups[2]);
    const std::vector<Argument> arguments = arguments_of(segment, entry);
    const Launch launch{entry, segment.groups, arguments};
    if (!kernel.is_divisible()) return kernel.run(launch, {0, groups}, scratch_);
    const auto part = [&](std::uint64_t begin, std::uint64_t end, std::span<std::byte> scratch) {
      return kernel.run(launch, {begin, end}, scratch);
    };
    return workers_.run(groups, scratch_, part);
  }

  Workers& workers_;
  std::span<std::byte> scratch_;
};

}  // namespace

Status run_commands(const CommandBuffer& commands, Workers& workers, std::span<std::byte> scratch) {
  Runner runner(workers, scratch);
  for (const Segment& segment : commands.segments())
    TL_RETURN_IF_ERROR(std::visit(runner, segment));
  return {};
}

}  // namespace texloom::hal::host
