#include <algorithm>
#include <cstring>
#include <map>

#include "tests/softmetal/api/classes/objects.h"

using softmetal::report_misuse;

struct SMComputeState {
  SMPipeline* pipeline = nil;
  struct Binding {
    SMBuffer* buffer;
    NSUInteger offset;
    std::shared_ptr<void> kept;
  };
  std::map<int, Binding> buffers;
  softmetal::Arguments arguments;           // bytes, textures and threadgroup memory
  std::vector<std::shared_ptr<void>> used;  // pipelines and textures
};

namespace {
// Keeps the objects of a command until it is gone.
std::shared_ptr<void> keep(id object) {
  return {[object retain], [](id o) { [o release]; }};
}

bool inside(NSUInteger offset, NSUInteger size, NSUInteger length) {
  return offset <= length && size <= length - offset;
}
}  // namespace

@implementation SMEncoder
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer {
  self = [super initWithDevice:[buffer device]];
  buffer_ = [buffer retain];
  return self;
}
- (void)dealloc {
  if (!ended_) {
    report_misuse("dealloc: a command encoder was released without endEncoding");
    [buffer_ encoderEnded];
  }
  [buffer_ release];
  [super dealloc];
}
- (void)endEncoding {
  if (![self mayEncode]) return;
  ended_ = YES;
  [buffer_ encoderEnded];
}
- (BOOL)mayEncode {
  if (ended_)
    report_misuse("the command encoder has ended: nothing can be encoded after endEncoding");
  return !ended_;
}
- (BOOL)owns:(id)object as:(const char*)what {
  if (object == nil) {
    report_misuse(std::string(what) + " must not be nil");
    return NO;
  }
  if ([object device] != device_) {
    report_misuse(std::string(what) + " belongs to another device");
    return NO;
  }
  return YES;
}
- (void)updateFence:(id<MTLFence>)fence {
  if ([self mayEncode]) [self owns:fence as:"updateFence: the fence"];
}
- (void)waitForFence:(id<MTLFence>)fence {
  if ([self mayEncode]) [self owns:fence as:"waitForFence: the fence"];
}
@end

@implementation SMComputeEncoder
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer {
  self = [super initWithBuffer:buffer];
  state_ = new SMComputeState;
  return self;
}
- (void)dealloc {
  delete state_;
  [super dealloc];
}
- (MTLDispatchType)dispatchType {
  return type_;
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  if (![self mayEncode] || ![self owns:state as:"setComputePipelineState: the state"]) return;
  state_->pipeline = (SMPipeline*)state;
  state_->used.push_back(keep(state));
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  if (![self mayEncode]) return;
  if (index > 30) return report_misuse("setBuffer: the index must be below 31");
  const int i = static_cast<int>(index);
  state_->arguments.bytes.erase(i);
  state_->buffers.erase(i);
  if (buffer == nil || ![self owns:buffer as:"setBuffer: the buffer"]) return;
  if (offset >= [buffer length])
    return report_misuse("setBuffer: the offset must lie in the buffer");
  state_->buffers[i] = {(SMBuffer*)buffer, offset, keep(buffer)};
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
  if (![self mayEncode]) return;
  const auto found = state_->buffers.find(static_cast<int>(index));
  if (found == state_->buffers.end()) {
    return report_misuse("setBufferOffset: no buffer is bound at the index");
  }
  [self setBuffer:found->second.buffer offset:offset atIndex:index];
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  if (![self mayEncode]) return;
  if (index > 30) return report_misuse("setBytes: the index must be below 31");
  if (length == 0 || length > 4096) {
    return report_misuse("setBytes: the length must be from 1 to 4096 bytes");
  }
  const auto* from = static_cast<const uint8_t*>(bytes);
  state_->buffers.erase(static_cast<int>(index));
  state_->arguments.bytes[static_cast<int>(index)].assign(from, from + length);
}
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
  if (![self mayEncode]) return;
  if (index > 127) return report_misuse("setTexture: the index must be below 128");
  state_->arguments.textures.erase(static_cast<int>(index));
  if (texture == nil || ![self owns:texture as:"setTexture: the texture"]) return;
  state_->arguments.textures[static_cast<int>(index)] = {((SMTexture*)texture)->texture_};
  state_->used.push_back(keep(texture));
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  if (![self mayEncode]) return;
  if (length % 16 != 0) {
    return report_misuse("setThreadgroupMemoryLength: the length must be a multiple of 16 bytes");
  }
  state_->arguments.threadgroup_sizes[static_cast<int>(index)] = length;
}
- (void)dispatch:(MTLSize)groups
        indirect:(SMBuffer*)indirect
          offset:(NSUInteger)offset
         threads:(MTLSize)threads {
  SMPipeline* const pipeline = state_->pipeline;
  if (pipeline == nil) return report_misuse("dispatchThreadgroups: no pipeline state is set");
  if (threads.width * threads.height * threads.depth > [pipeline maxTotalThreadsPerThreadgroup]) {
    return report_misuse("dispatchThreadgroups: more threads per threadgroup than "
                         "maxTotalThreadsPerThreadgroup of the pipeline");
  }
  softmetal::Arguments arguments = state_->arguments;
  std::vector<std::shared_ptr<void>> kept = state_->used;
  if (indirect != nil) kept.push_back(keep(indirect));
  for (const auto& [index, b] : state_->buffers) {
    arguments.buffers[index] = {[b.buffer bytes] + b.offset, [b.buffer length] - b.offset};
    kept.push_back(b.kept);
  }
  [buffer_ record:[=] {
    uint32_t counts[3] = {static_cast<uint32_t>(groups.width), static_cast<uint32_t>(groups.height),
                          static_cast<uint32_t>(groups.depth)};
    if (indirect != nil) std::memcpy(counts, [indirect bytes] + offset, sizeof counts);
    if (kept.empty() || counts[0] == 0 || counts[1] == 0 || counts[2] == 0) return std::string();
    const softmetal::Grid grid{
        {counts[0], counts[1], counts[2]},
        {static_cast<uint32_t>(threads.width), static_cast<uint32_t>(threads.height),
         static_cast<uint32_t>(threads.depth)}};
    const auto reports = softmetal::dispatch(**pipeline->function_, arguments, grid);
    return softmetal::has_errors(reports) ? softmetal::print_reports(reports) : std::string();
  }];
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  if ([self mayEncode]) [self dispatch:groups indirect:nil offset:0 threads:threads];
}
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)threads {
  if (![self mayEncode] || ![self owns:buffer as:"dispatchThreadgroups: the buffer"]) return;
  if (offset % 4 != 0 || !inside(offset, 12, [buffer length])) {
    return report_misuse("dispatchThreadgroupsWithIndirectBuffer: the offset must be a multiple "
                         "of 4, and 12 bytes from there lie in the buffer");
  }
  [self dispatch:MTLSizeMake(0, 0, 0) indirect:(SMBuffer*)buffer offset:offset threads:threads];
}
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
  if ([self mayEncode] && scope == 0) report_misuse("memoryBarrierWithScope: the scope is empty");
}
- (void)memoryBarrierWithResources:(const id<MTLResource>*)resources count:(NSUInteger)count {
  if (![self mayEncode]) return;
  for (NSUInteger i = 0; i < count; ++i) {
    [self owns:resources[i] as:"memoryBarrierWithResources: a resource"];
  }
}
@end

@implementation SMBlitEncoder
- (void)synchronizeResource:(id<MTLResource>)resource {
  if (![self mayEncode] || ![self owns:resource as:"synchronizeResource: the resource"]) return;
  if ([resource storageMode] != MTLStorageModeManaged) {
    report_misuse("synchronizeResource: the resource must have MTLStorageModeManaged");
  }
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  if (![self mayEncode] || ![self owns:buffer as:"fillBuffer: the buffer"]) return;
  if (range.location % 4 != 0 || range.length % 4 != 0) {
    return report_misuse("fillBuffer: location and length must be multiples of 4 bytes");
  }
  if (range.length == 0 || !inside(range.location, range.length, [buffer length])) {
    return report_misuse("fillBuffer: the range must not be empty, and must lie in the buffer");
  }
  const auto kept = keep(buffer);
  uint8_t* const at = [(SMBuffer*)buffer bytes] + range.location;
  [buffer_ record:[=] {
    if (kept != nullptr) std::memset(at, value, range.length);
    return std::string();
  }];
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size {
  if (![self mayEncode] || ![self owns:source as:"copyFromBuffer: the source"] ||
      ![self owns:target as:"copyFromBuffer: the destination"]) {
    return;
  }
  if (sourceOffset % 4 != 0 || targetOffset % 4 != 0 || size % 4 != 0) {
    return report_misuse("copyFromBuffer: offsets and size must be multiples of 4 bytes");
  }
  if (size == 0 || !inside(sourceOffset, size, [source length]) ||
      !inside(targetOffset, size, [target length])) {
    return report_misuse(
        "copyFromBuffer: the ranges must not be empty, and must lie in the buffers");
  }
  if (source == target &&
      std::max(sourceOffset, targetOffset) - std::min(sourceOffset, targetOffset) < size) {
    return report_misuse("copyFromBuffer: source and destination must not overlap");
  }
  const auto kept = keep(source), kept_too = keep(target);
  const uint8_t* const from = [(SMBuffer*)source bytes] + sourceOffset;
  uint8_t* const to = [(SMBuffer*)target bytes] + targetOffset;
  [buffer_ record:[=] {
    if (kept != nullptr && kept_too != nullptr) std::memcpy(to, from, size);
    return std::string();
  }];
}
@end
