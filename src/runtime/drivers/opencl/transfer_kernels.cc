#include "runtime/drivers/opencl/transfer_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/drivers/opencl/error.h"

namespace texloom::hal::opencl {
namespace {

constexpr std::uint64_t kWord = 4;        // bytes
constexpr std::uint64_t kItemWords = 16;  // of one work item
constexpr std::uint64_t kGroupItems = 64;

// A range of the target is `head` bytes up to a word's beginning, `words` words, and `tail` bytes.
// On a CPU a work item has words that lie together, so that it moves them by vector instructions;
// elsewhere neighbouring work items have neighbouring words, so that memory sees whole lines.
constexpr std::string_view kSource = R"(
#define ITEM 16
#define GROUP 64

uint word_of(__global const uint* in, ulong i, uint shift) {
  return shift == 0 ? in[i] : (in[i] >> shift) | (in[i + 1] << (32 - shift));
}

__kernel void copy_bytes(__global const uchar* source, __global uchar* target,
                         ulong source_offset, ulong target_offset,
                         uint head, ulong words, uint tail) {
  const ulong item = get_global_id(0);
  __global const uchar* from = source + source_offset;
  __global uchar* to = target + target_offset;
  const ulong end = head + 4 * words;
  if (item < head) to[item] = from[item];
  if (item < tail) to[end + item] = from[end + item];

  const ulong start = source_offset + head;
  const uint shift = 8 * (uint)(start % 4);
  __global const uint* in = (__global const uint*)source + start / 4;
  __global uint* out = (__global uint*)(to + head);
#ifdef WORDS_TOGETHER
  const ulong first = item * ITEM;
  if (first + ITEM <= words) {
    uint16 value = vload16(0, in + first);
    if (shift != 0)
      value = (value >> shift) | (vload16(0, in + first + 1) << (32 - shift));
    vstore16(value, 0, out + first);
  } else {
    for (ulong i = first; i < words; ++i) out[i] = word_of(in, i, shift);
  }
#else
  const ulong first = get_group_id(0) * (ulong)(GROUP * ITEM) + get_local_id(0);
  for (uint k = 0; k < ITEM; ++k) {
    const ulong i = first + k * GROUP;
    if (i < words) out[i] = word_of(in, i, shift);
  }
#endif
}

// `pattern` is that of the words; the head's and the tail's bytes go on with it.
__kernel void fill_bytes(__global uchar* target, ulong offset, uint head, ulong words, uint tail,
                         uint pattern) {
  const ulong item = get_global_id(0);
  __global uchar* to = target + offset;
  const ulong end = head + 4 * words;
  if (item < head) to[item] = (uchar)(pattern >> 8 * ((4 - head + (uint)item) % 4));
  if (item < tail) to[end + item] = (uchar)(pattern >> 8 * (uint)item);

  __global uint* out = (__global uint*)(to + head);
#ifdef WORDS_TOGETHER
  const ulong first = item * ITEM;
  if (first + ITEM <= words) {
    vstore16((uint16)(pattern), 0, out + first);
  } else {
    for (ulong i = first; i < words; ++i) out[i] = pattern;
  }
#else
  const ulong first = get_group_id(0) * (ulong)(GROUP * ITEM) + get_local_id(0);
  for (uint k = 0; k < ITEM; ++k) {
    const ulong i = first + k * GROUP;
    if (i < words) out[i] = pattern;
  }
#endif
}
)";

struct Ends {
  cl_uint head;
  cl_ulong words;
  cl_uint tail;

  Ends(std::uint64_t offset, std::uint64_t bytes)
      : head(static_cast<cl_uint>(std::min((kWord - offset % kWord) % kWord, bytes))),
        words((bytes - head) / kWord),
        tail(static_cast<cl_uint>((bytes - head) % kWord)) {}
};

Result<KernelHandle> create_kernel(const Context& context, cl_program program, const char* name) {
  cl_int code = CL_SUCCESS;
  KernelHandle kernel(context.shared_api(), context.api().clCreateKernel(program, name, &code));
  TL_RETURN_IF_ERROR(check_made(code, kernel.get(), "clCreateKernel"));
  return kernel;
}

// Sets the arguments and enqueues as many work items as `words` words take.
template <typename... Arguments>
Status enqueue(const Context& context, cl_command_queue queue, cl_kernel kernel,
               std::uint64_t words, cl_event* done, const Arguments&... arguments) {
  const Api& api = context.api();
  cl_uint index = 0;
  cl_int code = CL_SUCCESS;
  const auto set = [&](const auto& argument) {
    if (code == CL_SUCCESS) code = api.clSetKernelArg(kernel, index++, sizeof argument, &argument);
  };
  (set(arguments), ...);
  TL_RETURN_IF_ERROR(to_status(code, "clSetKernelArg"));
  // At least one group, for the bytes at the ends.
  const std::uint64_t groups =
      std::max<std::uint64_t>(1, (words + kGroupItems * kItemWords - 1) / kGroupItems / kItemWords);
  const std::size_t local = kGroupItems;
  const std::size_t global = groups * kGroupItems;
  return to_status(
      api.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, done),
      "clEnqueueNDRangeKernel");
}

}  // namespace

Status TransferKernels::build(const Context& context) {
  if (copy_) return {};
  const Api& api = context.api();
  const char* source = kSource.data();
  const std::size_t length = kSource.size();
  cl_int code = CL_SUCCESS;
  ProgramHandle program(context.shared_api(),
                        api.clCreateProgramWithSource(context.get(), 1, &source, &length, &code));
  TL_RETURN_IF_ERROR(check_made(code, program.get(), "clCreateProgramWithSource"));
  const cl_device_id device = context.device();
  const char* options = context.info()->type == DeviceType::Cpu ? "-DWORDS_TOGETHER" : "";
  TL_RETURN_IF_ERROR(to_status(
      api.clBuildProgram(program.get(), 1, &device, options, nullptr, nullptr), "clBuildProgram"));
  TL_ASSIGN_OR_RETURN(fill_, create_kernel(context, program.get(), "fill_bytes"));
  TL_ASSIGN_OR_RETURN(copy_, create_kernel(context, program.get(), "copy_bytes"));
  program_ = std::move(program);
  return {};
}

Status TransferKernels::fill(const Context& context, cl_command_queue queue,
                             const OpenClBuffer& target, const FillSegment& segment,
                             cl_event* done) {
  TL_RETURN_IF_ERROR(build(context).with_context("the kernels for unaligned transfers"));
  const std::uint64_t offset = segment.target.offset;
  const Ends ends(offset, segment.bytes);
  // The byte of the pattern that a word begins with, first in memory.
  cl_uint pattern = 0;
  for (std::size_t i = 0; i < kWord; ++i) {
    const auto byte = std::to_integer<cl_uint>(segment.pattern[(ends.head + i) % kWord]);
    pattern |= byte << (8 * i);
  }
  return enqueue(context, queue, fill_.get(), ends.words, done, target.get(), cl_ulong{offset},
                 ends.head, ends.words, ends.tail, pattern)
      .with_context("fill");
}

Status TransferKernels::copy_bytes(const Context& context, cl_command_queue queue, cl_mem source,
                                   std::uint64_t source_bytes, std::uint64_t source_offset,
                                   cl_mem target, std::uint64_t target_offset, std::uint64_t bytes,
                                   cl_event* done) {
  TL_RETURN_IF_ERROR(build(context).with_context("the kernels for unaligned transfers"));
  Ends ends(target_offset, bytes);
  // The last word of a source whose size is no multiple of a word cannot be read as one.
  const bool shifted = (source_offset + ends.head) % kWord != 0;
  const std::uint64_t first = (source_offset + ends.head) / kWord;
  if (ends.words != 0 && first + ends.words + (shifted ? 1 : 0) > source_bytes / kWord) {
    --ends.words;
    ends.tail += kWord;
  }
  return enqueue(context, queue, copy_.get(), ends.words, done, source, target,
                 cl_ulong{source_offset}, cl_ulong{target_offset}, ends.head, ends.words, ends.tail)
      .with_context("copy");
}

Status TransferKernels::copy(const Context& context, cl_command_queue queue,
                             const OpenClBuffer& source, const OpenClBuffer& target,
                             const CopyBufferSegment& segment, cl_event* done) {
  return copy_bytes(context, queue, source.get(), source.bytes(), segment.source.offset,
                    target.get(), segment.target.offset, segment.bytes, done);
}

Status TransferKernels::write(const Context& context, cl_command_queue queue,
                              const OpenClBuffer& target, std::uint64_t offset,
                              std::span<const std::byte> data, cl_event* done) {
  // Made with the data in it; released when the command behind it is complete.
  std::vector<std::byte> padded(data.begin(), data.end());
  padded.resize((data.size() + kWord - 1) / kWord * kWord);
  cl_int code = CL_SUCCESS;
  const MemoryHandle scratch(
      context.shared_api(),
      context.api().clCreateBuffer(context.get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                   padded.size(), padded.data(), &code));
  TL_RETURN_IF_ERROR(check_made(code, scratch.get(), "clCreateBuffer"));
  return copy_bytes(context, queue, scratch.get(), padded.size(), 0, target.get(), offset,
                    data.size(), done);
}

}  // namespace texloom::hal::opencl
