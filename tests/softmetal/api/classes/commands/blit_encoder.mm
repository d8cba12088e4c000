#include <algorithm>
#include <cstring>

#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/commands/dispatched.h"
#include "tests/softmetal/api/classes/resources/resources.h"
#include "tests/softmetal/api/classes/resources/texel_copy.h"

using softmetal::ByteRanges;
using softmetal::Part;
using softmetal::report_misuse;
using softmetal::Run;

namespace {

// Metal's limit for the row pitch, in texels.
constexpr NSUInteger kMostTexelsApart = 32767;

bool inside(NSUInteger offset, NSUInteger size, NSUInteger length) {
  return offset <= length && size <= length - offset;
}

// A part of a resource that a command reads or writes.
struct Used {
  Part part;
  softmetal::UsedObject object;
  bool is_texture = false;
  ByteRanges bytes;  // of the storage
};

Used use_of(SMBuffer* buffer, size_t offset, size_t size) {
  const size_t begin = buffer->part_->offset + offset;
  return {*buffer->part_, softmetal::name_for_uses(buffer), false, {{begin, begin + size}}};
}

void check(const Run& run, const char* what, const Used& used, bool writes) {
  softmetal::Use use{
      used.object.object, used.object.name, used.is_texture, used.object.is_tracked, {}, {}};
  (writes ? use.written : use.read) = used.bytes;
  softmetal::check_use(*run.pass, what, used.part, std::move(use));
}

// The texels of a region of one level and slice.
struct Texels {
  std::shared_ptr<softmetal::Texture> texture;
  MTLRegion region;
  NSUInteger level, slice;
  Used used;

  size_t texel() const { return softmetal::format_info(texture->format)->bytes; }
  size_t row_bytes() const { return region.size.width * texel(); }
};

Texels texels_of(SMTexture* texture, MTLRegion region, NSUInteger level, NSUInteger slice) {
  Texels texels{*texture->texture_, region, level, slice, {}};
  texels.used = {*texture->part_, softmetal::name_for_uses(texture), true, {}};
  const uint8_t* const base = texture->part_->storage->device();
  softmetal::for_each_row(*texels.texture, region, level, slice,
                          [&](size_t, size_t, const uint8_t* row, size_t size) {
                            const size_t begin = row - base;
                            ByteRanges& bytes = texels.used.bytes;
                            if (!bytes.empty() && bytes.back().second == begin)
                              bytes.back().second += size;
                            else
                              bytes.emplace_back(begin, begin + size);
                          });
  return texels;
}

// A region of rows in a buffer.
struct BufferRows {
  NSUInteger offset, bytes_per_row, bytes_per_image;

  std::string problem(const Texels& texels, NSUInteger length) const {
    const MTLSize& size = texels.region.size;
    const size_t texel = texels.texel();
    if (offset % texel != 0) return "the offset must be a multiple of the texels' size";
    if (size.height > 1 && (bytes_per_row < texels.row_bytes() || bytes_per_row % texel != 0))
      return "bytesPerRow must be a multiple of the texels' size, and not less than a row";
    if (bytes_per_row > kMostTexelsApart * texel)
      return "bytesPerRow must not be over 32767 texels";
    if (size.depth > 1 && bytes_per_image < bytes_per_row * size.height)
      return "bytesPerImage must not be less than an image";
    const size_t end =
        (size.depth - 1) * bytes_per_image + (size.height - 1) * bytes_per_row + texels.row_bytes();
    return inside(offset, end, length) ? "" : "the rows must lie in the buffer";
  }
  Used use(SMBuffer* buffer, const Texels& texels) const {
    Used used = use_of(buffer, 0, 0);
    used.bytes.clear();
    for (NSUInteger z = 0; z < texels.region.size.depth; ++z) {
      for (NSUInteger y = 0; y < texels.region.size.height; ++y) {
        const size_t begin = used.part.offset + offset + z * bytes_per_image + y * bytes_per_row;
        used.bytes.emplace_back(begin, begin + texels.row_bytes());
      }
    }
    return used;
  }
};

bool overlaps(const Texels& a, const Texels& b) {
  if (a.texture != b.texture || a.level != b.level || a.slice != b.slice) return false;
  const auto meets = [](NSUInteger x, NSUInteger y, NSUInteger size) {
    return std::max(x, y) - std::min(x, y) < size;
  };
  return meets(a.region.origin.x, b.region.origin.x, a.region.size.width) &&
         meets(a.region.origin.y, b.region.origin.y, a.region.size.height) &&
         meets(a.region.origin.z, b.region.origin.z, a.region.size.depth);
}

}  // namespace

@implementation SMBlitEncoder
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                       samples:(std::vector<softmetal::PassSamples>)samples {
  return [super initWithBuffer:buffer
                          kind:"blit encoder"
                          pass:softmetal::Pass::Kind::Blit
                       samples:std::move(samples)];
}
- (BOOL)may:(const char*)call read:(id)source write:(id)target {
  if (![self mayEncode:call] ||
      ![self owns:source as:(std::string(call) + ": the source").c_str()] ||
      ![self owns:target as:(std::string(call) + ": the destination").c_str()])
    return NO;
  [commands_ need:source];
  [commands_ need:target];
  return YES;
}
- (void)synchronizeResource:(id<MTLResource>)resource {
  if (![self mayEncode:"synchronizeResource"] || ![self owns:resource
                                                          as:"synchronizeResource: the resource"])
    return;
  if ([resource storageMode] != MTLStorageModeManaged)
    return report_misuse("synchronizeResource: the resource must have MTLStorageModeManaged");
  [commands_ need:(SMResource*)resource];
  SMResource* const r = (SMResource*)resource;
  const Used used{*r->part_,
                  softmetal::name_for_uses(r),
                  [r isKindOfClass:[SMTexture class]] != NO,
                  {{r->part_->offset, r->part_->offset + r->part_->size}}};
  [commands_ record:[=](Run& run) {
    check(run, "synchronizeResource", used, false);
    used.part.storage->to_host(used.part.offset, used.part.size);
    ++run.pass->command;
    return std::string();
  }];
}
- (void)synchronizeTexture:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
  if (level >= [texture mipmapLevelCount] || slice >= [texture arrayLength])
    return report_misuse("synchronizeTexture: level and slice must be those of the texture");
  [self synchronizeResource:texture];
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  if (![self may:"fillBuffer" read:buffer write:buffer]) return;
  if (range.location % 4 != 0 || range.length % 4 != 0)
    return report_misuse("fillBuffer: location and length must be multiples of 4 bytes");
  if (range.length == 0 || !inside(range.location, range.length, [buffer length]))
    return report_misuse("fillBuffer: the range must not be empty, and must lie in the buffer");
  const Used used = use_of((SMBuffer*)buffer, range.location, range.length);
  [commands_ record:[=](Run& run) {
    check(run, "fillBuffer", used, true);
    std::memset(used.part.device() + range.location, value, range.length);
    ++run.pass->command;
    return std::string();
  }];
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size {
  if (![self may:"copyFromBuffer" read:source write:target]) return;
  if (sourceOffset % 4 != 0 || targetOffset % 4 != 0 || size % 4 != 0)
    return report_misuse("copyFromBuffer: offsets and size must be multiples of 4 bytes");
  if (size == 0 || !inside(sourceOffset, size, [source length]) ||
      !inside(targetOffset, size, [target length])) {
    return report_misuse(
        "copyFromBuffer: the ranges must not be empty, and must lie in the buffers");
  }
  if (source == target &&
      std::max(sourceOffset, targetOffset) - std::min(sourceOffset, targetOffset) < size)
    return report_misuse("copyFromBuffer: source and destination must not overlap");
  const Used from = use_of((SMBuffer*)source, sourceOffset, size),
             to = use_of((SMBuffer*)target, targetOffset, size);
  [commands_ record:[=](Run& run) {
    check(run, "copyFromBuffer", from, false);
    check(run, "copyFromBuffer", to, true);
    std::memcpy(to.part.device() + targetOffset, from.part.device() + sourceOffset, size);
    ++run.pass->command;
    return std::string();
  }];
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)offset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin {
  if (![self may:"copyFromBuffer" read:source write:target]) return;
  SMTexture* const texture = (SMTexture*)target;
  const BufferRows rows{offset, bytesPerRow, bytesPerImage};
  const MTLRegion region{origin, size};
  std::string problem = softmetal::problem_of_region(**texture->texture_, region, level, slice);
  if (!problem.empty()) return report_misuse("copyFromBuffer: " + problem);
  const Texels to = texels_of(texture, region, level, slice);
  problem = rows.problem(to, [source length]);
  if (!problem.empty()) return report_misuse("copyFromBuffer: " + problem);
  const Used from = rows.use((SMBuffer*)source, to);
  [commands_ record:[=](Run& run) {
    check(run, "copyFromBuffer", from, false);
    check(run, "copyFromBuffer", to.used, true);
    const uint8_t* const base = from.part.device() + rows.offset;
    softmetal::for_each_row(
        *to.texture, to.region, to.level, to.slice,
        [&](size_t row, size_t image, uint8_t* texels, size_t bytes) {
          std::memcpy(texels, base + row * rows.bytes_per_row + image * rows.bytes_per_image,
                      bytes);
        });
    ++run.pass->command;
    return std::string();
  }];
}
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage {
  if (![self may:"copyFromTexture" read:source write:target]) return;
  SMTexture* const texture = (SMTexture*)source;
  const BufferRows rows{offset, bytesPerRow, bytesPerImage};
  const MTLRegion region{origin, size};
  std::string problem = softmetal::problem_of_region(**texture->texture_, region, level, slice);
  if (!problem.empty()) return report_misuse("copyFromTexture: " + problem);
  const Texels from = texels_of(texture, region, level, slice);
  problem = rows.problem(from, [target length]);
  if (!problem.empty()) return report_misuse("copyFromTexture: " + problem);
  const Used to = rows.use((SMBuffer*)target, from);
  [commands_ record:[=](Run& run) {
    check(run, "copyFromTexture", from.used, false);
    check(run, "copyFromTexture", to, true);
    uint8_t* const base = to.part.device() + rows.offset;
    softmetal::for_each_row(*from.texture, from.region, from.level, from.slice,
                            [&](size_t row, size_t image, const uint8_t* texels, size_t bytes) {
                              std::memcpy(
                                  base + row * rows.bytes_per_row + image * rows.bytes_per_image,
                                  texels, bytes);
                            });
    ++run.pass->command;
    return std::string();
  }];
}
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
           sourceOrigin:(MTLOrigin)sourceOrigin
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)targetSlice
       destinationLevel:(NSUInteger)targetLevel
      destinationOrigin:(MTLOrigin)targetOrigin {
  if (![self may:"copyFromTexture" read:source write:target]) return;
  SMTexture* const a = (SMTexture*)source;
  SMTexture* const b = (SMTexture*)target;
  std::string problem =
      softmetal::problem_of_region(**a->texture_, {sourceOrigin, size}, sourceLevel, sourceSlice);
  if (problem.empty()) {
    problem =
        softmetal::problem_of_region(**b->texture_, {targetOrigin, size}, targetLevel, targetSlice);
  }
  if (problem.empty() && [a pixelFormat] != [b pixelFormat])
    problem = "both textures must have the same pixel format";
  if (!problem.empty()) return report_misuse("copyFromTexture: " + problem);
  const Texels from = texels_of(a, {sourceOrigin, size}, sourceLevel, sourceSlice),
               to = texels_of(b, {targetOrigin, size}, targetLevel, targetSlice);
  if (overlaps(from, to))
    return report_misuse("copyFromTexture: source and destination must not overlap");
  [commands_ record:[=](Run& run) {
    check(run, "copyFromTexture", from.used, false);
    check(run, "copyFromTexture", to.used, true);
    std::vector<uint8_t*> targets;
    softmetal::for_each_row(
        *to.texture, to.region, to.level, to.slice,
        [&](size_t, size_t, uint8_t* texels, size_t) { targets.push_back(texels); });
    size_t next = 0;
    softmetal::for_each_row(*from.texture, from.region, from.level, from.slice,
                            [&](size_t, size_t, const uint8_t* texels, size_t bytes) {
                              std::memmove(targets[next++], texels, bytes);
                            });
    ++run.pass->command;
    return std::string();
  }];
}
// The options matter only for formats that the software Metal lacks.
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)offset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin
                options:(MTLBlitOption)options {
  if (options != MTLBlitOptionNone)
    return report_misuse("copyFromBuffer: the option does not fit the pixel format");
  [self copyFromBuffer:source
             sourceOffset:offset
        sourceBytesPerRow:bytesPerRow
      sourceBytesPerImage:bytesPerImage
               sourceSize:size
                toTexture:target
         destinationSlice:slice
         destinationLevel:level
        destinationOrigin:origin];
}
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage
                     options:(MTLBlitOption)options {
  if (options != MTLBlitOptionNone)
    return report_misuse("copyFromTexture: the option does not fit the pixel format");
  [self copyFromTexture:source
                   sourceSlice:slice
                   sourceLevel:level
                  sourceOrigin:origin
                    sourceSize:size
                      toBuffer:target
             destinationOffset:offset
        destinationBytesPerRow:bytesPerRow
      destinationBytesPerImage:bytesPerImage];
}
// Does nothing: the contents stay the same.
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture {
  [self may:"optimizeContentsForGPUAccess" read:texture write:texture];
}
- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture {
  [self may:"optimizeContentsForCPUAccess" read:texture write:texture];
}
- (void)resolveCounters:(id<MTLCounterSampleBuffer>)buffer
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)target
      destinationOffset:(NSUInteger)offset {
  (void)buffer, (void)range, (void)target, (void)offset;
  report_misuse("resolveCounters: the software Metal resolves for the host alone");
}
@end
