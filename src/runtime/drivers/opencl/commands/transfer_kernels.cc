#include "runtime/drivers/opencl/commands/transfer_kernels.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/error.h"

namespace texloom::hal::opencl {
namespace {

// How a device's work items share the work. On a CPU each item moves a long piece by itself, with
// vectors at any address. Elsewhere neighboring work items move neighboring units, so that memory
// accesses are coalesced.
struct Shape {
  std::uint64_t unit;         // bytes; units are aligned to their size
  std::uint64_t item_units;   // units per work item
  std::uint64_t group_items;  // items per work group; at least the bytes at an end
};
constexpr Shape kCpu = {1, 1 << 14, 1};
constexpr Shape kOthers = {16, 4, 256};

bool is_cpu(const Context& context) { return context.info()->type == DeviceType::Cpu; }
const Shape& shape_of(const Context& context) { return is_cpu(context) ? kCpu : kOthers; }

std::vector<std::string> options_of(const Shape& shape) {
  return {fmt::format("-DUNIT={}", shape.unit), fmt::format("-DITEM={}", shape.item_units),
          fmt::format("-DGROUP={}", shape.group_items)};
}

// A unit is a byte, so `head` and `tail` are 0: they are parameters only to match the kernels of
// other devices.
constexpr const char* kCpuSource = R"(
// At any address.
typedef struct __attribute__((packed)) { uint16 words; } Vector;

__kernel void copy_bytes(__global const uchar* source, __global uchar* target,
                         ulong source_offset, ulong target_offset,
                         uint head, ulong units, uint tail) {
  const ulong first = get_global_id(0) * ITEM;
  __global const uchar* from = source + source_offset + first;
  __global uchar* to = target + target_offset + first;
  const ulong count = min((ulong)ITEM, units - first);
  ulong i = 0;
  for (; i + 64 <= count; i += 64)
    ((__global Vector*)(to + i))->words = ((__global const Vector*)(from + i))->words;
  for (; i < count; ++i) to[i] = from[i];
}

__kernel void fill_bytes(__global uchar* target, ulong offset, uint head, ulong units, uint tail,
                         uint pattern) {
  const ulong first = get_global_id(0) * ITEM;
  __global uchar* to = target + offset + first;
  const ulong count = min((ulong)ITEM, units - first);
  ulong i = 0;
  for (; i + 64 <= count; i += 64) ((__global Vector*)(to + i))->words = (uint16)(pattern);
  for (; i < count; ++i) to[i] = (uchar)(pattern >> 8 * (i % 4));
}
)";

// A range of the target is `head` bytes up to the first unit, `units` units, and `tail` bytes.
constexpr const char* kOthersSource = R"(
// Four consecutive words of eight, from `place` on. `place` is the same for all work items.
uint4 from_word(uint4 a, uint4 b, uint place) {
  switch (place) {
    case 0: return a;
    case 1: return (uint4)(a.yzw, b.x);
    case 2: return (uint4)(a.zw, b.xy);
    default: return (uint4)(a.w, b.xyz);
  }
}

__kernel void copy_bytes(__global const uchar* source, __global uchar* target,
                         ulong source_offset, ulong target_offset,
                         uint head, ulong units, uint tail) {
  const ulong item = get_global_id(0);
  __global const uchar* from = source + source_offset;
  __global uchar* to = target + target_offset;
  const ulong end = head + UNIT * units;
  if (item < head) to[item] = from[item];
  if (item < tail) to[end + item] = from[end + item];

  const ulong start = source_offset + head;
  const uint shift = 8 * (uint)(start % 4);
  const uint place = (uint)(start % 16) / 4;
  __global const uint4* in = (__global const uint4*)source + start / 16;
  __global uint4* out = (__global uint4*)(to + head);
  const ulong first = get_group_id(0) * (ulong)(GROUP * ITEM) + get_local_id(0);
  for (uint k = 0; k < ITEM; ++k) {
    const ulong i = first + k * GROUP;
    if (i >= units) break;
    uint4 value = in[i];
    if (start % 16 != 0) {
      const uint4 next = in[i + 1];
      const uint4 low = from_word(value, next, place);
      value = low;
      if (shift != 0) {
        const uint last = place == 0 ? next.x : place == 1 ? next.y : place == 2 ? next.z : next.w;
        value = (low >> shift) | ((uint4)(low.yzw, last) << (32 - shift));
      }
    }
    out[i] = value;
  }
}

// `pattern` is rotated to begin at a unit's first byte. The head and the tail repeat it in phase
// with the units.
__kernel void fill_bytes(__global uchar* target, ulong offset, uint head, ulong units, uint tail,
                         uint pattern) {
  const ulong item = get_global_id(0);
  __global uchar* to = target + offset;
  const ulong end = head + UNIT * units;
  if (item < head) to[item] = (uchar)(pattern >> 8 * ((UNIT - head + (uint)item) % 4));
  if (item < tail) to[end + item] = (uchar)(pattern >> 8 * ((uint)item % 4));

  __global uint4* out = (__global uint4*)(to + head);
  const ulong first = get_group_id(0) * (ulong)(GROUP * ITEM) + get_local_id(0);
  for (uint k = 0; k < ITEM; ++k) {
    const ulong i = first + k * GROUP;
    if (i < units) out[i] = (uint4)(pattern);
  }
}
)";

struct Ends {
  cl_uint head;
  cl_ulong units;
  cl_uint tail;

  Ends(const Shape& shape, std::uint64_t offset, std::uint64_t bytes)
      : head(
            static_cast<cl_uint>(std::min((shape.unit - offset % shape.unit) % shape.unit, bytes))),
        units((bytes - head) / shape.unit),
        tail(static_cast<cl_uint>((bytes - head) % shape.unit)) {}
};

// The kernels by their places in the executable.
constexpr std::uint32_t kFill = 0;
constexpr std::uint32_t kCopy = 1;

ConstantParam constant(std::string name, ElementType type) {
  return {.name = std::move(name), .type = type};
}

std::vector<EntryPoint> entry_points(const Shape& shape) {
  constexpr ElementType kWord = ElementType::UInt32;
  constexpr ElementType kLong = ElementType::UInt64;
  const auto group = static_cast<std::uint32_t>(shape.group_items);
  const BufferParam source{.name = "source"};
  const BufferParam target{.name = "target", .access = Access::Write};
  return {
      {.name = "fill_bytes",
       .params = {target, constant("offset", kLong), constant("head", kWord),
                  constant("units", kLong), constant("tail", kWord), constant("pattern", kWord)},
       .workgroup_size = {group, 1, 1}},
      {.name = "copy_bytes",
       .params = {source, target, constant("source_offset", kLong),
                  constant("target_offset", kLong), constant("head", kWord),
                  constant("units", kLong), constant("tail", kWord)},
       .workgroup_size = {group, 1, 1}}};
}

}  // namespace

Result<std::shared_ptr<TransferKernels>> TransferKernels::create(
    std::shared_ptr<const Context> context) {
  const Shape& shape = shape_of(*context);
  ExecutableDesc desc{.codes = {{.format = KernelFormat::OpenClC,
                                 .code = is_cpu(*context) ? kCpuSource : kOthersSource,
                                 .build_options = options_of(shape)}},
                      .entry_points = entry_points(shape),
                      .build = BuildTime::FirstUse};
  TL_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable,
                      OpenClExecutable::create(context, desc));
  return std::shared_ptr<TransferKernels>(
      new TransferKernels(std::move(context), std::move(executable)));
}

// Enqueues as many work items as `units` units need.
template <typename... Arguments>
Status TransferKernels::enqueue(cl_command_queue queue, std::uint32_t entry_point,
                                std::uint64_t units, cl_event* done,
                                const Arguments&... arguments) {
  TL_RETURN_IF_ERROR(executable_->prepare().with_context("the kernels for unaligned transfers"));
  const OpenClExecutable& executable = as_opencl(*executable_);
  const Api& api = context_->api();
  const std::scoped_lock lock(executable.argument_mutex());
  TL_ASSIGN_OR_RETURN(const cl_kernel kernel, executable.kernel(entry_point, {}));
  cl_uint index = 0;
  cl_int code = CL_SUCCESS;
  const auto set = [&](const auto& argument) {
    if (code == CL_SUCCESS) code = api.clSetKernelArg(kernel, index++, sizeof argument, &argument);
  };
  (set(arguments), ...);
  TL_RETURN_IF_ERROR(to_status(code, "clSetKernelArg"));
  // Enqueues at least one group, for the bytes at the ends.
  const Shape& shape = shape_of(*context_);
  const std::uint64_t group_units = shape.group_items * shape.item_units;
  const std::uint64_t groups = std::max<std::uint64_t>(1, (units + group_units - 1) / group_units);
  const std::size_t local = shape.group_items;
  const std::size_t global = groups * local;
  return to_status(
      api.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, done),
      "clEnqueueNDRangeKernel");
}

Status TransferKernels::fill(cl_command_queue queue, const OpenClBuffer& target,
                             const FillSegment& segment, cl_event* done) {
  const std::uint64_t offset = segment.target.offset;
  const Ends ends(shape_of(*context_), offset, segment.bytes);
  // The pattern, rotated so that it begins with the byte at which a unit begins.
  cl_uint pattern = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = std::to_integer<cl_uint>(segment.pattern[(ends.head + i) % 4]);
    pattern |= byte << (8 * i);
  }
  return enqueue(queue, kFill, ends.units, done, target.get(), cl_ulong{offset}, ends.head,
                 ends.units, ends.tail, pattern)
      .with_context("fill");
}

Status TransferKernels::copy(cl_command_queue queue, const MemoryOffset& source,
                             const MemoryOffset& target, std::uint64_t bytes, cl_event* done) {
  const std::uint64_t unit = shape_of(*context_).unit;
  Ends ends(shape_of(*context_), target.offset, bytes);
  // A source whose size is not a multiple of the unit ends in a partial unit, which the kernel
  // cannot read. The tail then has the bytes that need this unit.
  const bool shifted = (source.offset + ends.head) % unit != 0;
  const std::uint64_t first = (source.offset + ends.head) / unit;
  if (ends.units != 0 && first + ends.units + (shifted ? 1 : 0) > source.memory_bytes / unit) {
    --ends.units;
    ends.tail += static_cast<cl_uint>(unit);
  }
  return enqueue(queue, kCopy, ends.units, done, source.memory, target.memory,
                 cl_ulong{source.offset}, cl_ulong{target.offset}, ends.head, ends.units, ends.tail)
      .with_context("copy");
}

}  // namespace texloom::hal::opencl
