#include "runtime/drivers/metal/commands/transfer_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "runtime/drivers/metal/api/objects.h"

namespace texloom::hal::metal {
namespace {

// Neighboring threads move neighboring units, so that memory accesses are coalesced.
constexpr std::uint64_t kUnit = 16;           // bytes; units are aligned to their size
constexpr std::uint64_t kThreadUnits = 4;     // units per thread
constexpr std::uint64_t kGroupThreads = 256;  // at least the bytes at an end of a row

// A row of the target is `head` bytes up to the first unit, `units` units, and `tail` bytes. The
// constants above are macros in this source.
constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;

struct Ends {
  ulong head, units, tail;
  Ends(ulong offset, ulong bytes) {
    head = min((UNIT - offset % UNIT) % UNIT, bytes);
    units = (bytes - head) / UNIT;
    tail = (bytes - head) % UNIT;
  }
};

// Loads 16 bytes by aligned words.
uint4 load(device const uint4* words) { return words[0]; }
uint4 load(device const uint* words) { return uint4(words[0], words[1], words[2], words[3]); }
uint word(device const ushort* halves) { return uint(halves[0]) | uint(halves[1]) << 16; }
uint4 load(device const ushort* words) {
  return uint4(word(words), word(words + 2), word(words + 4), word(words + 6));
}
uint word(device const uchar* bytes) {
  return uint(bytes[0]) | uint(bytes[1]) << 8 | uint(bytes[2]) << 16 | uint(bytes[3]) << 24;
}
uint4 load(device const uchar* words) {
  return uint4(word(words), word(words + 4), word(words + 8), word(words + 12));
}

struct Copy {
  ulong source_offset, target_offset, source_pitch, target_pitch, row_bytes;
};

#define COPY_ROWS(NAME, WORD)                                                            \
  kernel void NAME(device const uchar* source [[buffer(0)]],                             \
                   device uchar* target [[buffer(1)]], constant Copy& copy [[buffer(2)]],\
                   uint3 group [[threadgroup_position_in_grid]],                         \
                   uint3 local [[thread_position_in_threadgroup]]) {                     \
    const ulong target_offset = copy.target_offset + group.y * copy.target_pitch;        \
    device const uchar* from = source + copy.source_offset + group.y * copy.source_pitch;\
    device uchar* to = target + target_offset;                                           \
    const Ends ends(target_offset, copy.row_bytes);                                      \
    const ulong item = group.x * ulong(GROUP) + local.x;                                 \
    if (item < ends.head) to[item] = from[item];                                         \
    const ulong end = ends.head + UNIT * ends.units;                                     \
    if (item < ends.tail) to[end + item] = from[end + item];                             \
    const ulong first = group.x * ulong(GROUP * ITEM) + local.x;                         \
    for (uint k = 0; k < ITEM; ++k) {                                                    \
      const ulong i = first + k * GROUP;                                                 \
      if (i >= ends.units) break;                                                        \
      const ulong at = ends.head + UNIT * i;                                             \
      *(device uint4*)(to + at) = load((device const WORD*)(from + at));                 \
    }                                                                                    \
  }
COPY_ROWS(copy_words_1, uchar)
COPY_ROWS(copy_words_2, ushort)
COPY_ROWS(copy_words_4, uint)
COPY_ROWS(copy_words_16, uint4)

struct Fill {
  ulong offset, bytes;
  uint pattern;
};

kernel void fill_bytes(device uchar* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],
                       uint3 group [[threadgroup_position_in_grid]],
                       uint3 local [[thread_position_in_threadgroup]]) {
  device uchar* to = target + fill.offset;
  const Ends ends(fill.offset, fill.bytes);
  const ulong item = group.x * ulong(GROUP) + local.x;
  const ulong end = ends.head + UNIT * ends.units;
  if (item < ends.head) to[item] = uchar(fill.pattern >> 8 * uint(item % 4));
  if (item < ends.tail) to[end + item] = uchar(fill.pattern >> 8 * uint((end + item) % 4));
  // Rotates the pattern, because units begin `head` bytes after the fill does.
  const uint turn = 8 * uint(ends.head % 4);
  const uint pattern =
      turn == 0 ? fill.pattern : fill.pattern >> turn | fill.pattern << (32 - turn);
  const ulong first = group.x * ulong(GROUP * ITEM) + local.x;
  for (uint k = 0; k < ITEM; ++k) {
    const ulong i = first + k * GROUP;
    if (i < ends.units) *(device uint4*)(to + ends.head + UNIT * i) = uint4(pattern);
  }
}
)";

// The constants of the kernels, with the layouts of the structs in kSource.
struct Copy {
  std::uint64_t source_offset, target_offset, source_pitch, target_pitch, row_bytes;
};
struct Fill {
  std::uint64_t offset, bytes;
  std::uint32_t pattern;
  std::uint32_t unused = 0;
};

// The kernels by their places in the executable.
constexpr std::uint32_t kFill = 0;
struct CopyKernel {
  std::uint64_t word;  // bytes
  std::uint32_t entry_point;
  const char* name;
};
constexpr std::array kCopies = {CopyKernel{16, 1, "copy_words_16"},
                                CopyKernel{4, 2, "copy_words_4"}, CopyKernel{2, 3, "copy_words_2"},
                                CopyKernel{1, 4, "copy_words_1"}};

std::vector<EntryPoint> entry_points() {
  const auto constants = [](std::vector<KernelParam> params,
                            std::initializer_list<const char*> longs) {
    for (const char* name : longs)
      params.emplace_back(ConstantParam{.name = name, .type = ElementType::UInt64});
    return params;
  };
  const std::array<std::uint32_t, 3> group = {kGroupThreads, 1, 1};
  const BufferParam source{.name = "source"};
  const BufferParam target{.name = "target", .access = Access::Write};
  std::vector<KernelParam> fill = constants({target}, {"offset", "bytes"});
  fill.emplace_back(ConstantParam{.name = "pattern", .type = ElementType::UInt32});
  std::vector<EntryPoint> entries = {
      {.name = "fill_bytes", .params = std::move(fill), .workgroup_size = group}};
  for (const CopyKernel& copy : kCopies)
    entries.push_back(
        {.name = copy.name,
         .params = constants({source, target}, {"source_offset", "target_offset", "source_pitch",
                                                "target_pitch", "row_bytes"}),
         .workgroup_size = group});
  return entries;
}

// The largest words by which units of the target can be read from the source, in every row.
const CopyKernel& kernel_for(const RowCopy& copy) {
  const std::uint64_t apart = copy.source.offset - copy.target.offset;  // wraps around
  const std::uint64_t pitches = copy.rows == 1 ? 0 : copy.source_pitch - copy.target_pitch;
  return *std::find_if(kCopies.begin(), kCopies.end(), [&](const CopyKernel& kernel) {
    return apart % kernel.word == 0 && pitches % kernel.word == 0;
  });
}

}  // namespace

Result<std::shared_ptr<TransferKernels>> TransferKernels::create(
    std::shared_ptr<const Context> context) {
  const KernelCode code{
      .format = KernelFormat::Msl,
      .code = kSource,
      .build_options = {fmt::format("-DUNIT={}", kUnit), fmt::format("-DITEM={}", kThreadUnits),
                        fmt::format("-DGROUP={}", kGroupThreads)}};
  const ExecutableDesc desc{
      .codes = {code}, .entry_points = entry_points(), .build = BuildTime::FirstUse};
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable,
                      MetalExecutable::create(std::move(context), desc));
  return std::shared_ptr<TransferKernels>(new TransferKernels(std::move(executable)));
}

void TransferKernels::dispatch(Passes& passes, MetalCompute* encoder, std::uint32_t entry_point,
                               std::uint64_t bytes, std::uint32_t rows) {
  const Kernel& kernel = as_metal(*executable_).kernel(entry_point);
  passes.arguments().set_pipeline(kernel.pipeline.get());
  // At least one group, for the bytes at the ends.
  constexpr std::uint64_t kGroupBytes = kUnit * kThreadUnits * kGroupThreads;
  const std::uint64_t groups = std::max<std::uint64_t>(1, (bytes + kGroupBytes - 1) / kGroupBytes);
  [objc(encoder) dispatchThreadgroups:MTLSizeMake(groups, rows, 1)
                threadsPerThreadgroup:MTLSizeMake(kGroupThreads, 1, 1)];
}

Status TransferKernels::fill(Passes& passes, MetalMemory* target, const FillSegment& segment) {
  TL_RETURN_IF_ERROR(executable_->prepare().with_context("the kernels for transfers"));
  TL_ASSIGN_OR_RETURN(MetalCompute* const encoder, passes.compute());
  const Fill fill{.offset = segment.target.offset,
                  .bytes = segment.bytes,
                  .pattern = std::bit_cast<std::uint32_t>(segment.pattern)};
  passes.arguments().set_buffer(0, target, 0);
  passes.arguments().set_bytes(1, std::as_bytes(std::span(&fill, 1)));
  dispatch(passes, encoder, kFill, segment.bytes, 1);
  return {};
}

Status TransferKernels::copy(Passes& passes, const RowCopy& copy) {
  TL_RETURN_IF_ERROR(executable_->prepare().with_context("the kernels for transfers"));
  TL_ASSIGN_OR_RETURN(MetalCompute* const encoder, passes.compute());
  const Copy rows{copy.source.offset, copy.target.offset, copy.source_pitch, copy.target_pitch,
                  copy.row_bytes};
  passes.arguments().set_buffer(0, copy.source.memory, 0);
  passes.arguments().set_buffer(1, copy.target.memory, 0);
  passes.arguments().set_bytes(2, std::as_bytes(std::span(&rows, 1)));
  dispatch(passes, encoder, kernel_for(copy).entry_point, copy.row_bytes, copy.rows);
  return {};
}

}  // namespace texloom::hal::metal
