#include "runtime/drivers/opencl/encoder.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "runtime/drivers/opencl/error.h"
#include "runtime/drivers/opencl/memory.h"
#include "runtime/drivers/opencl/program.h"

namespace texloom::hal::opencl {
namespace {

using Triple = std::array<std::size_t, 3>;

Triple image_origin(Offset2D origin) { return {origin.x, origin.y, 0}; }
Triple image_region(Extent2D extent) { return {extent.width, extent.height, 1}; }

// The buffer's side of a copy from or to an image. OpenCL wants rows without gaps there, so other
// pitches go through a scratch buffer and a rectangle copy.
struct Rows {
  std::uint64_t row_bytes;
  std::uint64_t height;
  std::uint64_t pitch;
  std::uint64_t offset;

  Rows(const BufferTextureRegion& region, TexelFormat format)
      : row_bytes(std::uint64_t{region.extent.width} * bytes_per_texel(format)),
        height(region.extent.height),
        pitch(region.row_pitch),
        offset(region.buffer_offset) {}

  bool without_gaps() const { return height == 1 || pitch == row_bytes; }
  std::uint64_t bytes() const { return row_bytes * height; }
  Triple origin() const { return {offset % pitch, offset / pitch, 0}; }
  Triple rectangle() const { return {row_bytes, height, 1}; }
};

constexpr Triple kStart = {0, 0, 0};

Status set_argument(const Api& api, cl_kernel kernel, cl_uint index, std::size_t size,
                    const void* value) {
  return to_status(api.clSetKernelArg(kernel, index, size, value), "clSetKernelArg");
}

// A kernel that accesses a buffer and a part of it at once has undefined results (OpenCL 1.2,
// clCreateSubBuffer): where several bindings are of one buffer, all are parts.
bool needs_part(const DispatchSegment& segment, const BufferBinding& bound) {
  if (bound.offset != 0) return true;
  const auto of_same_buffer =
      std::count_if(segment.bindings.begin(), segment.bindings.end(), [&](const Binding& other) {
        const auto* buffer = std::get_if<BufferBinding>(&other);
        return buffer != nullptr && buffer->buffer == bound.buffer;
      });
  return of_same_buffer > 1;
}

// Sets all arguments; parts of buffers that are made for it go to `parts`, which must live until
// the kernel is enqueued.
Status set_arguments(const Context& context, const DispatchSegment& segment,
                     const EntryPoint& entry, cl_kernel kernel, std::vector<MemoryHandle>& parts) {
  const Api& api = context.api();
  std::size_t next_binding = 0;
  std::size_t next_constant = 0;
  for (cl_uint i = 0; i < entry.params.size(); ++i) {
    Status status;
    if (std::holds_alternative<ConstantParam>(entry.params[i])) {
      const Constant& constant = segment.constants[next_constant++];
      status = set_argument(api, kernel, i, byte_size(constant.type()), constant.data());
    } else {
      const Binding& binding = segment.bindings[next_binding++];
      cl_mem memory = nullptr;
      if (const auto* texture = std::get_if<TextureBinding>(&binding)) {
        memory = as_opencl(*texture->texture).get();
      } else {
        const auto& bound = std::get<BufferBinding>(binding);
        memory = as_opencl(*bound.buffer).get();
        if (needs_part(segment, bound)) {
          // What the kernel declares and no more: parts that overlap may not be written.
          const std::uint64_t bytes =
              std::max<std::uint64_t>(std::get<BufferParam>(entry.params[i]).min_bytes, 1);
          TL_ASSIGN_OR_RETURN(MemoryHandle part,
                              create_part(context, as_opencl(*bound.buffer), bound.offset, bytes));
          memory = part.get();
          parts.push_back(std::move(part));
        }
      }
      status = set_argument(api, kernel, i, sizeof memory, &memory);
    }
    if (!status.ok())
      return status.with_context(fmt::format("kernel \"{}\": argument {} \"{}\"", entry.name, i,
                                             name_of(entry.params[i])));
  }
  return {};
}

}  // namespace

Status Encoder::encode(const Segment& segment, cl_event* done) {
  return std::visit([&](const auto& concrete) { return encode(concrete, done); }, segment);
}

Status Encoder::encode(const DispatchSegment& segment, cl_event* done) {
  TL_RETURN_IF_ERROR(segment.executable->prepare());
  const OpenClExecutable& executable = as_opencl(*segment.executable);
  const EntryPoint& entry = executable.entry_points()[segment.entry_point];
  const cl_kernel kernel = executable.kernel(segment.entry_point);
  Triple local;
  Triple global;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    local[axis] = entry.workgroup_size[axis];
    global[axis] = local[axis] * segment.groups[axis];
  }
  std::vector<MemoryHandle> parts;
  const std::scoped_lock lock(executable.argument_mutex());
  TL_RETURN_IF_ERROR(set_arguments(context_, segment, entry, kernel, parts));
  const cl_int code = context_.api().clEnqueueNDRangeKernel(
      queue_, kernel, 3, nullptr, global.data(), local.data(), 0, nullptr, done);
  if (code == CL_SUCCESS) return {};
  return to_status(code, "clEnqueueNDRangeKernel")
      .with_context(fmt::format("kernel \"{}\"", entry.name));
}

Status Encoder::encode(const UpdateSegment& segment, cl_event* done) {
  return to_status(context_.api().clEnqueueWriteBuffer(
                       queue_, as_opencl(*segment.target).get(), CL_FALSE, segment.offset,
                       segment.data.size(), segment.data.data(), 0, nullptr, done),
                   "clEnqueueWriteBuffer");
}

Status Encoder::encode(const ReadbackSegment& segment, cl_event* done) {
  return to_status(context_.api().clEnqueueReadBuffer(queue_, as_opencl(*segment.source).get(),
                                                      CL_FALSE, segment.offset, segment.data.size(),
                                                      segment.data.data(), 0, nullptr, done),
                   "clEnqueueReadBuffer");
}

Status Encoder::encode(const CopyBufferSegment& segment, cl_event* done) {
  return to_status(
      context_.api().clEnqueueCopyBuffer(queue_, as_opencl(*segment.source).get(),
                                         as_opencl(*segment.target).get(), segment.source_offset,
                                         segment.target_offset, segment.bytes, 0, nullptr, done),
      "clEnqueueCopyBuffer");
}

Status Encoder::encode(const CopyBufferToTextureSegment& segment, cl_event* done) {
  const Api& api = context_.api();
  const Rows rows(segment.region, segment.target->format());
  cl_mem source = as_opencl(*segment.source).get();
  std::size_t offset = rows.offset;
  MemoryHandle scratch;
  if (!rows.without_gaps()) {
    TL_ASSIGN_OR_RETURN(scratch, create_memory(context_, rows.bytes()));
    TL_RETURN_IF_ERROR(
        to_status(api.clEnqueueCopyBufferRect(queue_, source, scratch.get(), rows.origin().data(),
                                              kStart.data(), rows.rectangle().data(), rows.pitch, 0,
                                              rows.row_bytes, 0, 0, nullptr, nullptr),
                  "clEnqueueCopyBufferRect"));
    source = scratch.get();
    offset = 0;
  }
  return to_status(
      api.clEnqueueCopyBufferToImage(queue_, source, as_opencl(*segment.target).get(), offset,
                                     image_origin(segment.region.origin).data(),
                                     image_region(segment.region.extent).data(), 0, nullptr, done),
      "clEnqueueCopyBufferToImage");
}

Status Encoder::encode(const CopyTextureToBufferSegment& segment, cl_event* done) {
  const Api& api = context_.api();
  const Rows rows(segment.region, segment.source->format());
  const cl_mem target = as_opencl(*segment.target).get();
  const auto copy_image = [&](cl_mem to, std::size_t offset, cl_event* event) {
    return to_status(api.clEnqueueCopyImageToBuffer(queue_, as_opencl(*segment.source).get(), to,
                                                    image_origin(segment.region.origin).data(),
                                                    image_region(segment.region.extent).data(),
                                                    offset, 0, nullptr, event),
                     "clEnqueueCopyImageToBuffer");
  };
  if (rows.without_gaps()) return copy_image(target, rows.offset, done);
  TL_ASSIGN_OR_RETURN(const MemoryHandle scratch, create_memory(context_, rows.bytes()));
  TL_RETURN_IF_ERROR(copy_image(scratch.get(), 0, nullptr));
  return to_status(api.clEnqueueCopyBufferRect(queue_, scratch.get(), target, kStart.data(),
                                               rows.origin().data(), rows.rectangle().data(),
                                               rows.row_bytes, 0, rows.pitch, 0, 0, nullptr, done),
                   "clEnqueueCopyBufferRect");
}

Status Encoder::encode(const CopyTextureSegment& segment, cl_event* done) {
  return to_status(
      context_.api().clEnqueueCopyImage(
          queue_, as_opencl(*segment.source).get(), as_opencl(*segment.target).get(),
          image_origin(segment.source_origin).data(), image_origin(segment.target_origin).data(),
          image_region(segment.extent).data(), 0, nullptr, done),
      "clEnqueueCopyImage");
}

}  // namespace texloom::hal::opencl
