#include "runtime/drivers/opencl/commands/encoder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/api/event.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/drivers/opencl/kernels/program.h"
#include "runtime/drivers/opencl/memory/memory.h"
#include "runtime/drivers/opencl/platform/quirks.h"
#include "runtime/hal/internal/recording/copied_rows.h"
#include "runtime/hal/internal/recording/update_run.h"

namespace texloom::hal::opencl {
namespace {

using Triple = std::array<std::size_t, 3>;

Triple image_origin(Offset2D origin, std::uint64_t row = 0) {
  return {origin.x, origin.y + row, 0};
}
Triple image_region(Extent2D extent) { return {extent.width, extent.height, 1}; }

// OpenCL requires rows without gaps in copies from or to an image, so other pitches go through
// scratch memory and a rectangle copy, in blocks of rows.
Triple rectangle_origin(const CopiedRows& rows) {
  return {rows.offset % rows.pitch, rows.offset / rows.pitch, 0};
}

}  // namespace

Status wait_for(const Context& context, const Enqueued& enqueued, std::uint32_t track) {
  if (enqueued.commands.empty()) return {};
  TL_RETURN_IF_ERROR(wait_for(context.api(), enqueued.commands.back().event->get()));
  if (context.profile() != nullptr)
    add_spans(context, enqueued.commands, *context.profile(), track);
  return {};
}

// Iterates over the segments to encode. Skips barriers, because the queue runs everything in order.
class Encoder::Cursor {
 public:
  explicit Cursor(std::span<const CommandRange> ranges) : rest_(ranges) {
    if (!is_at_end()) segment_ = rest_.front().begin();
    skip();
  }

  bool operator==(std::default_sentinel_t) const { return is_at_end(); }
  const Segment& operator*() const { return *segment_; }
  const CommandRange& range() const { return rest_.front(); }
  Cursor& operator++() {
    ++segment_;
    skip();
    return *this;
  }

 private:
  bool is_at_end() const { return rest_.empty(); }
  // Moves to the next segment to encode.
  void skip() {
    while (!is_at_end()) {
      if (segment_ == rest_.front().end()) {
        rest_ = rest_.subspan(1);
        if (!is_at_end()) segment_ = rest_.front().begin();
      } else if (std::holds_alternative<BarrierSegment>(*segment_)) {
        ++segment_;
      } else {
        return;
      }
    }
  }

  std::span<const CommandRange> rest_;
  SegmentList::Iterator segment_;
};

// Joins small updates of adjacent bytes into one write. The updates are not collected in a list
// first: allocating for each submission, between PoCL's own events, is slow (glibc consolidates all
// small chunks for a large request).
Status Encoder::encode(std::span<const CommandRange> commands, Enqueued& enqueued) {
  for (Cursor next(commands); next != std::default_sentinel;) {
    const Cursor first = next;
    const std::size_t count = skip_joined(next, std::default_sentinel);
    const bool has_event = next == std::default_sentinel || context_.profile() != nullptr;
    TL_RETURN_IF_ERROR(has_event ? encode_with_event(first, count, enqueued)
                                 : encode(first, count, enqueued, nullptr));
  }
  return {};
}

// Encodes `count` segments as one command, and adds it to `enqueued`.
Status Encoder::encode_with_event(const Cursor& first, std::size_t count, Enqueued& enqueued) {
  EnqueuedCommand command;
  if (context_.profile() != nullptr) {
    command.name = label_of(*first);
    Cursor each = first;
    for (std::size_t i = 0; i < count; ++i, ++each)
      command.bytes += bytes_of(*each, each.range().table());
    command.enqueued = ProfileClock::now();
  }
  cl_event event = nullptr;
  Status status = encode(first, count, enqueued, &event);
  if (status.ok()) status = check_made(CL_SUCCESS, event, name_of(*first));
  // Kept even if a later call failed: the first one may still be running.
  if (event != nullptr || first_event_ != nullptr) {
    command.event = std::make_shared<const EventHandle>(context_.shared_api(), event);
    command.first = EventHandle(context_.shared_api(), std::exchange(first_event_, nullptr));
    enqueued.commands.push_back(std::move(command));
  }
  return status;
}

Status Encoder::encode(const Cursor& first, std::size_t count, Enqueued& enqueued, cl_event* done) {
  return count > 1 ? encode_joined(first, count, enqueued, done)
                   : encode(*first, first.range(), done);
}

// Encodes `count` updates of adjacent bytes, beginning at `first`, as one write.
Status Encoder::encode_joined(const Cursor& first, std::size_t count, Enqueued& enqueued,
                              cl_event* done) {
  std::uint64_t bytes = 0;
  Cursor each = first;
  for (std::size_t i = 0; i < count; ++i, ++each)
    bytes += std::get<UpdateSegment>(*each).data.size();
  std::byte* joined = enqueued.host_memory.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
  std::byte* end = joined;
  each = first;
  for (std::size_t i = 0; i < count; ++i, ++each) {
    const std::span<const std::byte> data = std::get<UpdateSegment>(*each).data;
    end = std::copy(data.begin(), data.end(), end);
  }
  return write(std::get<UpdateSegment>(*first).target, {joined, bytes}, done);
}

Status Encoder::encode(const Segment& any, const CommandRange& range, cl_event* done) {
  return std::visit(
      [&](const auto& segment) -> Status {
        using Kind = std::decay_t<decltype(segment)>;
        if constexpr (std::is_same_v<Kind, DispatchSegment>) {
          return encode(segment, range, done);
        } else if constexpr (std::is_same_v<Kind, NativeSegment>) {
          return encode(segment, range.table(), done);
        } else if constexpr (std::is_same_v<Kind, IndirectDispatchSegment> ||
                             std::is_same_v<Kind, BarrierSegment> ||
                             std::is_same_v<Kind, HostCallSegment>) {
          // Recording refuses indirect dispatches, the cursor skips barriers, and the queue makes
          // host calls.
          return make_error(StatusCode::Internal, "the encoder got the command {}", name_of(any));
        } else {
          return encode(segment, done);
        }
      },
      any);
}

Status Encoder::enqueue(cl_kernel kernel, const WorkItems& items, const EntryPoint& entry,
                        cl_event* done) {
  const cl_int code = context_.api().clEnqueueNDRangeKernel(
      queue_, kernel, 3, nullptr, items.all.data(), items.of_group.data(), 0, nullptr, done);
  if (code == CL_SUCCESS) return {};
  return to_error(code, "clEnqueueNDRangeKernel")
      .with_context(fmt::format("kernel \"{}\"", entry.name));
}

Status Encoder::encode(const DispatchSegment& segment, const CommandRange& range, cl_event* done) {
  const KernelCall& call = segment.call;
  if (!recorded_ || &recorded_->commands() != &range.commands())
    recorded_.emplace(range.commands());
  if (RecordedDispatch* recorded = recorded_->find(call)) {
    if (!recorded->is_bound(range)) TL_RETURN_IF_ERROR(recorded->bind(context_, segment, range));
    return enqueue(recorded->kernel(), recorded->items(), call.entry(), done);
  }
  TL_RETURN_IF_ERROR(call.executable->prepare());
  const OpenClExecutable& executable = as_opencl(*call.executable);
  shared_arguments_.forget();
  const std::scoped_lock lock(executable.argument_mutex());
  TL_ASSIGN_OR_RETURN(
      const cl_kernel kernel,
      executable.kernel(call.entry_point, addressed_params(context_, call, range.table())));
  TL_RETURN_IF_ERROR(shared_arguments_.set(context_, call, range.table(), kernel));
  return enqueue(kernel, WorkItems(segment), call.entry(), done);
}

bool Encoder::is_aligned(std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint64_t alignment = context_.info()->limits.transfer_alignment;
  return offset % alignment == 0 && bytes % alignment == 0;
}

// OpenCL fills only at multiples of the pattern's size; the device may also require its transfer
// alignment. A kernel does other fills.
Status Encoder::encode(const FillSegment& segment, cl_event* done) {
  const OpenClBuffer& target = as_opencl(*segment.target.buffer);
  const std::uint64_t offset = segment.target.offset;
  const std::uint64_t step = segment.pattern_bytes;
  if (!is_aligned(offset, segment.bytes) || offset % step != 0 || segment.bytes % step != 0)
    return kernels_.fill(queue_, target, segment, done);
  return to_status(
      context_.api().clEnqueueFillBuffer(queue_, target.get(), segment.pattern.data(), step, offset,
                                         segment.bytes, 0, nullptr, done),
      "clEnqueueFillBuffer");
}

Status Encoder::encode(const UpdateSegment& segment, cl_event* done) {
  return write(segment.target, segment.data, done);
}

Status Encoder::write(const BoundBuffer& target, std::span<const std::byte> data, cl_event* done) {
  const OpenClBuffer& buffer = as_opencl(*target.buffer);
  const auto write_to = [&](cl_mem memory, std::uint64_t offset, std::span<const std::byte> bytes,
                            cl_event* event) {
    return to_status(
        context_.api().clEnqueueWriteBuffer(queue_, memory, CL_FALSE, offset, bytes.size(),
                                            bytes.data(), 0, nullptr, event),
        "clEnqueueWriteBuffer");
  };
  if (is_aligned(target.offset, data.size()))
    return write_to(buffer.get(), target.offset, data, done);
  TL_ASSIGN_OR_RETURN(const cl_mem scratch, scratch_.memory(context_));
  return encode_blocks(
      data.size(), scratch_.bytes(), done, [&](const Block& block, const Events& events) -> Status {
        TL_RETURN_IF_ERROR(
            write_to(scratch, 0, data.subspan(block.begin, block.count), events.first));
        return kernels_.copy(queue_, {scratch, 0, scratch_.bytes()},
                             {buffer.get(), target.offset + block.begin, buffer.bytes()},
                             block.count, events.last);
      });
}

Status Encoder::encode_blocks(std::uint64_t total, std::uint64_t largest, cl_event* done,
                              FunctionRef<Status(const Block&, const Events&)> encode_block) {
  for (Block block{0, largest}; block.begin < total; block.begin += block.count) {
    block.count = std::min(block.count, total - block.begin);
    const bool is_measured = block.begin == 0 && context_.profile() != nullptr;
    const bool is_last = block.begin + block.count == total;
    TL_RETURN_IF_ERROR(
        encode_block(block, {is_measured ? &first_event_ : nullptr, is_last ? done : nullptr}));
    if (is_measured)
      TL_RETURN_IF_ERROR(check_made(CL_SUCCESS, first_event_, "the first block of a transfer"));
  }
  return {};
}

Status Encoder::encode(const ReadbackSegment& segment, cl_event* done) {
  return to_status(
      context_.api().clEnqueueReadBuffer(queue_, as_opencl(*segment.source.buffer).get(), CL_FALSE,
                                         segment.source.offset, segment.data.size(),
                                         segment.data.data(), 0, nullptr, done),
      "clEnqueueReadBuffer");
}

Status Encoder::encode(const CopyBufferSegment& segment, cl_event* done) {
  const OpenClBuffer& source = as_opencl(*segment.source.buffer);
  const OpenClBuffer& target = as_opencl(*segment.target.buffer);
  if (!is_aligned(segment.source.offset, segment.bytes) || !is_aligned(segment.target.offset, 0))
    return kernels_.copy(queue_, {source.get(), segment.source.offset, source.bytes()},
                         {target.get(), segment.target.offset, target.bytes()}, segment.bytes,
                         done);
  return to_status(
      context_.api().clEnqueueCopyBuffer(queue_, source.get(), target.get(), segment.source.offset,
                                         segment.target.offset, segment.bytes, 0, nullptr, done),
      "clEnqueueCopyBuffer");
}

// Enqueues a marker, whose event completes after everything enqueued before.
Status Encoder::mark(cl_event* done) {
  return to_status(context_.api().clEnqueueMarkerWithWaitList(queue_, 0, nullptr, done),
                   "clEnqueueMarkerWithWaitList");
}

Status Encoder::encode(const NativeSegment& segment, std::span<const Binding> table,
                       cl_event* done) {
  std::vector<BoundMemory> memory;
  for (const NativeArgument& argument : segment.arguments)
    memory.push_back(resolve(argument.memory, table));
  if (context_.profile() != nullptr) {
    TL_RETURN_IF_ERROR(mark(&first_event_));
    TL_RETURN_IF_ERROR(check_made(CL_SUCCESS, first_event_, "the marker before native commands"));
  }
  const NativeHandles handles{context_.get(), context_.device(), queue_};
  TL_RETURN_IF_ERROR((*segment.encode)({.driver = "opencl", .handles = &handles, .memory = memory})
                         .with_context("native commands"));
  return done == nullptr ? Status() : mark(done);
}

Status Encoder::encode(const CopyBufferToTextureSegment& segment, cl_event* done) {
  const CopiedRows rows(segment.region, segment.target->format());
  const cl_mem source = as_opencl(*segment.source).get();
  const auto copy_image = [&](cl_mem from, std::size_t offset, const Block& block,
                              cl_event* event) {
    const Triple region = {segment.region.extent.width, block.count, 1};
    return to_status(context_.api().clEnqueueCopyBufferToImage(
                         queue_, from, as_opencl(*segment.target).get(), offset,
                         image_origin(segment.region.origin, block.begin).data(), region.data(), 0,
                         nullptr, event),
                     "clEnqueueCopyBufferToImage");
  };
  if (rows.without_gaps()) return copy_image(source, rows.offset, {0, rows.height}, done);
  return encode_blocks(
      rows.height, rows.rows_within(scratch_.bytes()), done,
      [&](const Block& block, const Events& events) -> Status {
        const CopiedRows part = rows.part(block.begin, block.count);
        if (part.without_gaps()) return copy_image(source, part.offset, block, events.either());
        TL_ASSIGN_OR_RETURN(const cl_mem scratch, scratch_.memory(context_));
        TL_RETURN_IF_ERROR(
            copy_rows(source, scratch, part, part.without_gaps_at(0), {events.first, nullptr}));
        return copy_image(scratch, 0, block, events.last);
      });
}

Status Encoder::encode(const CopyTextureToBufferSegment& segment, cl_event* done) {
  const CopiedRows rows(segment.region, segment.source->format());
  const cl_mem target = as_opencl(*segment.target).get();
  const auto copy_image = [&](cl_mem to, std::size_t offset, const Block& block, cl_event* event) {
    const Triple region = {segment.region.extent.width, block.count, 1};
    return to_status(context_.api().clEnqueueCopyImageToBuffer(
                         queue_, as_opencl(*segment.source).get(), to,
                         image_origin(segment.region.origin, block.begin).data(), region.data(),
                         offset, 0, nullptr, event),
                     "clEnqueueCopyImageToBuffer");
  };
  if (rows.without_gaps()) return copy_image(target, rows.offset, {0, rows.height}, done);
  return encode_blocks(rows.height, rows.rows_within(scratch_.bytes()), done,
                       [&](const Block& block, const Events& events) -> Status {
                         const CopiedRows part = rows.part(block.begin, block.count);
                         if (part.without_gaps())
                           return copy_image(target, part.offset, block, events.either());
                         TL_ASSIGN_OR_RETURN(const cl_mem scratch, scratch_.memory(context_));
                         TL_RETURN_IF_ERROR(copy_image(scratch, 0, block, events.first));
                         return copy_rows(scratch, target, part.without_gaps_at(0), part,
                                          {nullptr, events.last});
                       });
}

// Copies between rows of the same size; there are at least two rows.
Status Encoder::copy_rows(cl_mem source, cl_mem target, const CopiedRows& from,
                          const CopiedRows& to, const Events& events) {
  const Api& api = context_.api();
  const bool last_apart = has_quirk(*context_.info(), kWholeLastRow);
  const Triple rectangle = {from.row_bytes, from.height - (last_apart ? 1 : 0), 1};
  TL_RETURN_IF_ERROR(
      to_status(api.clEnqueueCopyBufferRect(queue_, source, target, rectangle_origin(from).data(),
                                            rectangle_origin(to).data(), rectangle.data(),
                                            from.pitch, 0, to.pitch, 0, 0, nullptr,
                                            last_apart ? events.first : events.either()),
                "clEnqueueCopyBufferRect"));
  if (!last_apart) return {};
  return to_status(api.clEnqueueCopyBuffer(queue_, source, target, from.last_row(), to.last_row(),
                                           from.row_bytes, 0, nullptr, events.last),
                   "clEnqueueCopyBuffer");
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
