#include "runtime/drivers/metal/commands/encoder.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/commands/indirect_runs.h"
#include "runtime/drivers/metal/kernels/program.h"
#include "runtime/drivers/metal/memory/memory.h"
#include "runtime/hal/internal/recording/update_run.h"

namespace texloom::hal::metal {
namespace {

// In an open compute encoder, transfers up to this size are kernels, because a kernel is cheaper
// than two changes of the encoder.
constexpr std::uint64_t kLargestKernelTransfer = std::uint64_t{1} << 20;
// Metal's limit for the distance of rows in copies from and to textures, in texels.
constexpr std::uint64_t kMaxPitchTexels = 32767;

MTLOrigin origin_of(Offset2D offset, std::uint64_t row = 0) {
  return MTLOriginMake(offset.x, offset.y + row, 0);
}

MemoryOffset place_of(const BoundBuffer& bound) {
  return {as_metal(*bound.buffer).get(), bound.offset};
}

// Whether blits accept the layout of the rows.
bool suits_blits(const CopiedRows& rows, TexelFormat format) {
  const std::uint64_t texel = bytes_per_texel(format);
  if (rows.offset % texel != 0) return false;
  return rows.height == 1 || (rows.pitch % texel == 0 && rows.pitch <= kMaxPitchTexels * texel);
}

// Copies between a buffer and a texture. A single row may have any pitch, so its length stands for
// the pitch.
struct TextureRows {
  MetalMemory* memory;
  CopiedRows rows;
  MTLOrigin origin;
  std::uint32_t width;

  std::uint64_t pitch() const { return rows.height == 1 ? rows.row_bytes : rows.pitch; }
  MTLSize size() const { return MTLSizeMake(width, rows.height, 1); }
};

void blit_rows(MetalBlit* encoder, const TextureRows& from, id<MTLTexture> to) {
  [objc(encoder) copyFromBuffer:objc(from.memory)
                   sourceOffset:from.rows.offset
              sourceBytesPerRow:from.pitch()
            sourceBytesPerImage:0  // there are no further slices
                     sourceSize:from.size()
                      toTexture:to
               destinationSlice:0
               destinationLevel:0
              destinationOrigin:from.origin];
}

void blit_rows(MetalBlit* encoder, id<MTLTexture> from, const TextureRows& to) {
  [objc(encoder) copyFromTexture:from
                     sourceSlice:0
                     sourceLevel:0
                    sourceOrigin:to.origin
                      sourceSize:to.size()
                        toBuffer:objc(to.memory)
               destinationOffset:to.rows.offset
          destinationBytesPerRow:to.pitch()
        destinationBytesPerImage:0];
}

}  // namespace

Status Encoder::encode(const CommandRange& range, SegmentList::Iterator begin,
                       SegmentList::Iterator end, KeptObjects& kept) {
  kept_ = &kept;
  IndirectRuns runs(context_, range);
  while (begin != end) {
    if (const IndirectRuns::Found found = runs.find(begin)) {
      TL_RETURN_IF_ERROR(found.run->encode(passes_));
      kept.runs.push_back(found.run);
      begin = found.end;
      continue;
    }
    SegmentList::Iterator next = begin;
    skip_joined(next, end);
    TL_RETURN_IF_ERROR(std::holds_alternative<UpdateSegment>(*begin) ? encode_updates(begin, next)
                                                                     : encode(*begin, range));
    begin = next;
  }
  return {};
}

Status Encoder::encode(const Segment& any, const CommandRange& range) {
  return std::visit(
      [&](const auto& segment) -> Status {
        using Kind = std::decay_t<decltype(segment)>;
        if constexpr (std::is_same_v<Kind, BarrierSegment>) {
          passes_.barrier(segment, range.table());
          return {};
        } else if constexpr (std::is_same_v<Kind, HostCallSegment> ||
                             std::is_same_v<Kind, UpdateSegment>) {
          // Host calls and updates do not come here: the queue makes host calls, and
          // encode_updates() encodes updates.
          return make_error(StatusCode::Internal, "the encoder got the command {}", name_of(any));
        } else {
          return encode(segment, range);
        }
      },
      any);
}

// Sets the pipeline and the arguments.
Result<MetalCompute*> Encoder::encode_call(const KernelCall& call, const CommandRange& range) {
  TL_RETURN_IF_ERROR(call.executable->prepare());
  TL_ASSIGN_OR_RETURN(MetalCompute* const encoder, passes_.compute());
  const Kernel& kernel = kernel_of(call);
  ArgumentTable& arguments = passes_.arguments();
  arguments.set_pipeline(kernel.pipeline.get());
  if (kernel.slots.in_argument_buffer)
    set_by_address(call, range.table());
  else
    set_by_slot(call, range.table());
  std::uint32_t locals = 0;
  for (const KernelParam& param : call.entry().params) {
    if (const auto* local = std::get_if<LocalParam>(&param))
      arguments.set_local_bytes(locals++, local->bytes);
  }
  if (kernel.slots.constant_bytes > 0) {
    alignas(8) ConstantBytes all;
    const std::span packed = std::span(all).first(kernel.slots.constant_bytes);
    pack_constants(call.constants, packed);
    arguments.set_bytes(kernel.slots.constants_slot(), packed);
  }
  return encoder;
}

// Passes the contents of the argument buffer, which are addresses, as bytes of the command.
void Encoder::set_by_address(const KernelCall& call, std::span<const Binding> table) {
  find_references(call, table, references_);
  ArgumentAddresses addresses;
  for (std::size_t i = 0; i < references_.size(); ++i) {
    passes_.arguments().use(references_[i].resource, references_[i].access);
    addresses[i] = references_[i].address;
  }
  passes_.arguments().set_bytes(0, std::as_bytes(std::span(addresses).first(references_.size())));
}

void Encoder::set_by_slot(const KernelCall& call, std::span<const Binding> table) {
  std::uint32_t buffers = 0, textures = 0;
  auto binding = call.bindings.begin();
  for (const KernelParam& param : call.entry().params) {
    if (std::holds_alternative<BufferParam>(param)) {
      const MemoryOffset place = place_of(resolve_buffer(*binding++, table));
      passes_.arguments().set_buffer(buffers++, place.memory, place.offset);
    } else if (std::holds_alternative<TextureParam>(param)) {
      passes_.arguments().set_texture(textures++,
                                      as_metal(*resolve_texture(*binding++, table).texture).get());
    }
  }
}

Status Encoder::encode(const DispatchSegment& segment, const CommandRange& range) {
  TL_ASSIGN_OR_RETURN(MetalCompute* const encoder, encode_call(segment.call, range));
  [objc(encoder) dispatchThreadgroups:size_of(segment.groups)
                threadsPerThreadgroup:size_of(segment.call.entry().workgroup_size)];
  return {};
}

Status Encoder::encode(const IndirectDispatchSegment& segment, const CommandRange& range) {
  TL_ASSIGN_OR_RETURN(MetalCompute* const encoder, encode_call(segment.call, range));
  const MemoryOffset groups = place_of(resolve_buffer(segment.groups, range.table()));
  [objc(encoder)
      dispatchThreadgroupsWithIndirectBuffer:objc(groups.memory)
                        indirectBufferOffset:groups.offset
                       threadsPerThreadgroup:size_of(segment.call.entry().workgroup_size)];
  return {};
}

bool Encoder::prefers_kernel(std::uint64_t bytes) const {
  return passes_.is_computing() && bytes <= kLargestKernelTransfer;
}

// A blit can fill only multiples of 4 bytes, and only with copies of one byte.
Status Encoder::encode(const FillSegment& segment, const CommandRange&) {
  const std::uint64_t alignment = context_.info()->limits.transfer_alignment;
  const BoundBuffer& target = segment.target;
  const auto& pattern = segment.pattern;
  const bool is_one_byte = std::all_of(pattern.begin(), pattern.end(),
                                       [&](std::byte each) { return each == pattern[0]; });
  if (!is_one_byte || target.offset % alignment != 0 || segment.bytes % alignment != 0 ||
      prefers_kernel(segment.bytes))
    return kernels_.fill(passes_, as_metal(*target.buffer).get(), segment);
  TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
  [objc(encoder) fillBuffer:objc(as_metal(*target.buffer).get())
                      range:NSMakeRange(target.offset, segment.bytes)
                      value:std::to_integer<std::uint8_t>(pattern[0])];
  return {};
}

Status Encoder::copy(const MemoryOffset& source, const MemoryOffset& target, std::uint64_t bytes) {
  const std::uint64_t alignment = context_.info()->limits.transfer_alignment;
  if (source.offset % alignment != 0 || target.offset % alignment != 0 || bytes % alignment != 0 ||
      prefers_kernel(bytes))
    return kernels_.copy(passes_, {.source = source, .target = target, .row_bytes = bytes});
  TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
  [objc(encoder) copyFromBuffer:objc(source.memory)
                   sourceOffset:source.offset
                       toBuffer:objc(target.memory)
              destinationOffset:target.offset
                           size:bytes];
  return {};
}

// Encodes updates of adjacent bytes as one copy.
Status Encoder::encode_updates(SegmentList::Iterator begin, SegmentList::Iterator end) {
  const BoundBuffer& target = std::get<UpdateSegment>(*begin).target;
  std::uint64_t bytes = 0;
  for (auto each = begin; each != end; ++each) bytes += std::get<UpdateSegment>(*each).data.size();
  TL_ASSIGN_OR_RETURN(const StagingPlace staged, kept_->staging.take(bytes, target.offset));
  std::byte* to = staged.contents;
  for (auto each = begin; each != end; ++each) {
    const std::span<const std::byte> data = std::get<UpdateSegment>(*each).data;
    to = std::copy(data.begin(), data.end(), to);
  }
  return copy({staged.memory, staged.offset}, place_of(target), bytes);
}

Status Encoder::encode(const ReadbackSegment& segment, const CommandRange&) {
  const std::uint64_t bytes = segment.data.size();
  TL_ASSIGN_OR_RETURN(const StagingPlace staged, kept_->staging.take(bytes, segment.source.offset));
  TL_RETURN_IF_ERROR(copy(place_of(segment.source), {staged.memory, staged.offset}, bytes));
  kept_->readbacks.push_back({staged.contents, segment.data});
  return {};
}

Status Encoder::encode(const CopyBufferSegment& segment, const CommandRange&) {
  return copy(place_of(segment.source), place_of(segment.target), segment.bytes);
}

// Rows of a buffer, and their place in staging memory, where they have no gaps.
struct Encoder::Block {
  CopiedRows rows;
  MetalMemory* memory;
  CopiedRows packed;
  std::uint64_t first;  // row of all
};

// Kernels and blits alternate, so each block waits for the previous one. All blocks can therefore
// use the same staging memory.
Status Encoder::copy_in_blocks(const CopiedRows& all,
                               FunctionRef<Status(const Block&)> copy_block) {
  const std::uint64_t height = std::min(all.rows_within(context_.staging_bytes()), all.height);
  TL_ASSIGN_OR_RETURN(const StagingPlace staged, kept_->staging.take(height * all.row_bytes));
  for (std::uint64_t begin = 0; begin < all.height; begin += height) {
    const CopiedRows rows = all.part(begin, std::min(height, all.height - begin));
    TL_RETURN_IF_ERROR(
        copy_block({rows, staged.memory, rows.without_gaps_at(staged.offset), begin}));
  }
  return {};
}

// Copies between rows of the same size by a kernel.
Status Encoder::copy_rows(MetalMemory* source, const CopiedRows& from, MetalMemory* target,
                          const CopiedRows& to) {
  return kernels_.copy(passes_, {.source = {source, from.offset},
                                 .target = {target, to.offset},
                                 .source_pitch = from.pitch,
                                 .target_pitch = to.pitch,
                                 .row_bytes = from.row_bytes,
                                 .rows = static_cast<std::uint32_t>(from.height)});
}

// Rows that blits refuse are copied to staging memory first.
Status Encoder::encode(const CopyBufferToTextureSegment& segment, const CommandRange&) {
  const BufferTextureRegion& region = segment.region;
  const CopiedRows all(region, segment.target->format());
  MetalMemory* const source = as_metal(*segment.source).get();
  id<MTLTexture> const target = objc(as_metal(*segment.target).get());
  if (suits_blits(all, segment.target->format())) {
    TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
    blit_rows(encoder, {source, all, origin_of(region.origin), region.extent.width}, target);
    return {};
  }
  return copy_in_blocks(all, [&](const Block& block) -> Status {
    TL_RETURN_IF_ERROR(copy_rows(source, block.rows, block.memory, block.packed));
    TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
    blit_rows(
        encoder,
        {block.memory, block.packed, origin_of(region.origin, block.first), region.extent.width},
        target);
    return {};
  });
}

Status Encoder::encode(const CopyTextureToBufferSegment& segment, const CommandRange&) {
  const BufferTextureRegion& region = segment.region;
  const CopiedRows all(region, segment.source->format());
  MetalMemory* const target = as_metal(*segment.target).get();
  id<MTLTexture> const source = objc(as_metal(*segment.source).get());
  if (suits_blits(all, segment.source->format())) {
    TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
    blit_rows(encoder, source, {target, all, origin_of(region.origin), region.extent.width});
    return {};
  }
  return copy_in_blocks(all, [&](const Block& block) -> Status {
    TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
    blit_rows(
        encoder, source,
        {block.memory, block.packed, origin_of(region.origin, block.first), region.extent.width});
    return copy_rows(block.memory, block.packed, target, block.rows);
  });
}

Status Encoder::encode(const CopyTextureSegment& segment, const CommandRange&) {
  TL_ASSIGN_OR_RETURN(MetalBlit* const encoder, passes_.blit());
  [objc(encoder) copyFromTexture:objc(as_metal(*segment.source).get())
                     sourceSlice:0
                     sourceLevel:0
                    sourceOrigin:origin_of(segment.source_origin)
                      sourceSize:MTLSizeMake(segment.extent.width, segment.extent.height, 1)
                       toTexture:objc(as_metal(*segment.target).get())
                destinationSlice:0
                destinationLevel:0
               destinationOrigin:origin_of(segment.target_origin)];
  return {};
}

// Lends the encoders of the passes to a native command.
class Encoder::Leases final : public NativeLeases {
 public:
  explicit Leases(Passes& passes) : passes_(passes) {}
  // The user's function may have set arguments that the argument table does not know.
  ~Leases() { passes_.forget_arguments(); }

  void* compute_encoder() override { return lend(passes_.compute()); }
  void* blit_encoder() override { return lend(passes_.blit()); }
  void* command_buffer() override { return passes_.lend_commands(); }

  const Status& status() const { return status_; }

 private:
  template <typename Made>
  void* lend(const Result<Made>& made) {
    if (made.ok()) return *made;
    status_ = made.status();
    return nullptr;
  }

  Passes& passes_;
  Status status_;
};

Status Encoder::encode(const NativeSegment& segment, const CommandRange& range) {
  std::vector<BoundMemory> memory;
  for (const NativeArgument& argument : segment.arguments)
    memory.push_back(resolve(argument.memory, range.table()));
  Leases leases(passes_);
  const NativeHandles handles{context_.device(), queue_, &leases};
  const Status status =
      (*segment.encode)({.driver = "metal", .handles = &handles, .memory = memory});
  TL_RETURN_IF_ERROR(leases.status());
  return status.with_context("native commands");
}

}  // namespace texloom::hal::metal
