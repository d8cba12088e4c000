#import <Metal/Metal.h>

#include <cstring>

#include "tests/softmetal/api/classes/checks/validation.h"
#include "tests/softmetal/api/classes/models.h"

NSString* const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

@implementation MTLCompileOptions
@synthesize preprocessorMacros = macros_, fastMathEnabled = fast_, mathMode = mode_,
            mathFloatingPointFunctions = functions_, languageVersion = version_,
            libraryType = type_, installName = name_, preserveInvariance = invariance_,
            optimizationLevel = level_, maxTotalThreadsPerThreadgroup = threads_;
- (instancetype)init {
  self = [super init];
  fast_ = YES;
  mode_ = MTLMathModeFast;
  version_ = MTLLanguageVersion3_2;
  return self;
}
- (void)setFastMathEnabled:(BOOL)fast {
  fast_ = fast;
  mode_ = fast ? MTLMathModeFast : MTLMathModeSafe;
}
- (void)dealloc {
  [macros_ release];
  [name_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLCompileOptions* o = [[MTLCompileOptions allocWithZone:zone] init];
  o.preprocessorMacros = macros_;
  o.fastMathEnabled = fast_;
  o.mathMode = mode_;
  o.mathFloatingPointFunctions = functions_;
  o.languageVersion = version_;
  o.libraryType = type_;
  o.installName = name_;
  o.preserveInvariance = invariance_;
  o.optimizationLevel = level_;
  o.maxTotalThreadsPerThreadgroup = threads_;
  return o;
}
@end

@implementation MTLPipelineBufferDescriptor
@synthesize mutability = mutability_;
- (id)copyWithZone:(NSZone*)zone {
  MTLPipelineBufferDescriptor* d = [[MTLPipelineBufferDescriptor allocWithZone:zone] init];
  d.mutability = mutability_;
  return d;
}
@end

@implementation MTLPipelineBufferDescriptorArray
- (instancetype)init {
  self = [super init];
  buffers_ = [NSMutableArray new];
  for (size_t i = 0; i < softmetal::kBufferSlots; ++i)
    [buffers_ addObject:[[MTLPipelineBufferDescriptor new] autorelease]];
  return self;
}
- (void)dealloc {
  [buffers_ release];
  [super dealloc];
}
- (MTLPipelineBufferDescriptor*)objectAtIndexedSubscript:(NSUInteger)index {
  return [buffers_ objectAtIndex:index];
}
- (void)setObject:(MTLPipelineBufferDescriptor*)buffer atIndexedSubscript:(NSUInteger)index {
  MTLPipelineBufferDescriptor* const made =
      buffer != nil ? [[buffer copy] autorelease] : [[MTLPipelineBufferDescriptor new] autorelease];
  [buffers_ replaceObjectAtIndex:index withObject:made];
}
@end

@implementation MTLComputePipelineDescriptor
@synthesize label = label_, computeFunction = function_,
            threadGroupSizeIsMultipleOfThreadExecutionWidth = multiple_,
            maxTotalThreadsPerThreadgroup = threads_, supportIndirectCommandBuffers = indirect_,
            binaryArchives = archives_;
- (instancetype)init {
  self = [super init];
  buffers_ = [MTLPipelineBufferDescriptorArray new];
  return self;
}
- (void)dealloc {
  [label_ release];
  [function_ release];
  [buffers_ release];
  [archives_ release];
  [super dealloc];
}
- (MTLPipelineBufferDescriptorArray*)buffers {
  return buffers_;
}
- (void)reset {
  self.label = nil;
  self.computeFunction = nil;
  self.binaryArchives = nil;
  multiple_ = indirect_ = NO;
  threads_ = 0;
  [buffers_ release];
  buffers_ = [MTLPipelineBufferDescriptorArray new];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLComputePipelineDescriptor* d = [[MTLComputePipelineDescriptor allocWithZone:zone] init];
  d.label = label_;
  d.computeFunction = function_;
  d.threadGroupSizeIsMultipleOfThreadExecutionWidth = multiple_;
  d.maxTotalThreadsPerThreadgroup = threads_;
  d.supportIndirectCommandBuffers = indirect_;
  d.binaryArchives = archives_;
  for (NSUInteger i = 0; i < softmetal::kBufferSlots; ++i)
    [d.buffers setObject:[buffers_ objectAtIndexedSubscript:i] atIndexedSubscript:i];
  return d;
}
@end

namespace {

// Returns the value of a function constant as a C++ expression.
NSString* expression(const void* value, MTLDataType type) {
  const auto number = [&](auto sample) {
    auto x = sample;
    std::memcpy(&x, value, sizeof x);
    return x;
  };
  switch (type) {
    case MTLDataTypeBool:
      return number(uint8_t{}) != 0 ? @"true" : @"false";
    case MTLDataTypeChar:
      return [NSString stringWithFormat:@"%d", static_cast<int>(number(int8_t{}))];
    case MTLDataTypeUChar:
      return [NSString stringWithFormat:@"%d", static_cast<int>(number(uint8_t{}))];
    case MTLDataTypeShort:
      return [NSString stringWithFormat:@"%d", static_cast<int>(number(int16_t{}))];
    case MTLDataTypeUShort:
      return [NSString stringWithFormat:@"%d", static_cast<int>(number(uint16_t{}))];
    case MTLDataTypeInt:
      return [NSString stringWithFormat:@"%d", number(int32_t{})];
    case MTLDataTypeUInt:
      return [NSString stringWithFormat:@"%uu", number(uint32_t{})];
    case MTLDataTypeLong:
      return [NSString stringWithFormat:@"%ldl", number(int64_t{})];
    case MTLDataTypeULong:
      return [NSString stringWithFormat:@"%luul", number(uint64_t{})];
    case MTLDataTypeFloat:
      return [NSString stringWithFormat:@"as_type<float>(%uu)", number(uint32_t{})];
    default:
      softmetal::report_misuse("setConstantValue: the software Metal takes numbers alone");
      return @"0";
  }
}

NSUInteger size_of(MTLDataType type) {
  switch (type) {
    case MTLDataTypeBool:
    case MTLDataTypeChar:
    case MTLDataTypeUChar:
      return 1;
    case MTLDataTypeShort:
    case MTLDataTypeUShort:
      return 2;
    case MTLDataTypeLong:
    case MTLDataTypeULong:
      return 8;
    default:
      return 4;
  }
}

}  // namespace

@implementation MTLFunctionConstantValues
- (instancetype)init {
  self = [super init];
  by_index_ = [NSMutableDictionary new];
  by_name_ = [NSMutableDictionary new];
  return self;
}
- (void)dealloc {
  [by_index_ release];
  [by_name_ release];
  [super dealloc];
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  [by_index_ setObject:expression(value, type) forKey:@(static_cast<int>(index))];
}
- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range {
  for (NSUInteger i = 0; i < range.length; ++i) {
    [self setConstantValue:static_cast<const char*>(values) + i * size_of(type)
                      type:type
                   atIndex:range.location + i];
  }
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name {
  [by_name_ setObject:expression(value, type) forKey:name];
}
- (void)reset {
  [by_index_ removeAllObjects];
  [by_name_ removeAllObjects];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLFunctionConstantValues* d = [[MTLFunctionConstantValues allocWithZone:zone] init];
  [d->by_index_ addEntriesFromDictionary:by_index_];
  [d->by_name_ addEntriesFromDictionary:by_name_];
  return d;
}
@end
