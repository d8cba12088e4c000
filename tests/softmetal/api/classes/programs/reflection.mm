#include "tests/softmetal/api/classes/programs/programs.h"

namespace {

MTLDataType data_type(const std::string& type) {
  using Named = std::pair<const char*, MTLDataType>;
  static constexpr Named kTypes[] = {
      {"float4", MTLDataTypeFloat4}, {"float3", MTLDataTypeFloat3}, {"float2", MTLDataTypeFloat2},
      {"float", MTLDataTypeFloat},   {"half4", MTLDataTypeHalf4},   {"half2", MTLDataTypeHalf2},
      {"half", MTLDataTypeHalf},     {"bfloat", MTLDataTypeBFloat}, {"uint4", MTLDataTypeUInt4},
      {"uint2", MTLDataTypeUInt2},   {"uint", MTLDataTypeUInt},     {"int4", MTLDataTypeInt4},
      {"int2", MTLDataTypeInt2},     {"int", MTLDataTypeInt},       {"ushort", MTLDataTypeUShort},
      {"short", MTLDataTypeShort},   {"uchar", MTLDataTypeUChar},   {"char", MTLDataTypeChar},
      {"ulong", MTLDataTypeULong},   {"long", MTLDataTypeLong},     {"bool", MTLDataTypeBool}};
  // Returns the last word before the `*` or `&`.
  const size_t end = type.find_last_not_of("*& ", type.find_first_of("*&"));
  const size_t begin = type.find_last_of(" :", end);
  const std::string word =
      type.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin + 1) + 1);
  for (const Named& each : kTypes) {
    if (word == each.first) return each.second;
  }
  return MTLDataTypeStruct;
}

}  // namespace

@interface SMBinding : NSObject <MTLBufferBinding, MTLThreadgroupBinding, MTLTextureBinding> {
 @public
  softmetal::ArgumentInfo* info_;
}
@end

@implementation SMBinding
- (void)dealloc {
  delete info_;
  [super dealloc];
}
- (NSString*)name {
  return softmetal::string_of(info_->parameter.name);
}
- (MTLBindingType)type {
  switch (*info_->parameter.binding) {
    case softmetal::BindingKind::Texture:
      return MTLBindingTypeTexture;
    case softmetal::BindingKind::Sampler:
      return MTLBindingTypeSampler;
    case softmetal::BindingKind::Threadgroup:
      return MTLBindingTypeThreadgroupMemory;
    default:
      return MTLBindingTypeBuffer;
  }
}
- (MTLBindingAccess)access {
  if ([self type] == MTLBindingTypeTexture) return softmetal::texture_access_of(info_->description);
  return info_->description.writable ? MTLBindingAccessReadWrite : MTLBindingAccessReadOnly;
}
- (NSUInteger)index {
  return static_cast<NSUInteger>(info_->parameter.index);
}
- (BOOL)isUsed {
  return YES;
}
- (BOOL)isArgument {
  return YES;
}
- (NSUInteger)bufferAlignment {
  return info_->description.alignment;
}
- (NSUInteger)bufferDataSize {
  return info_->description.size;
}
- (MTLDataType)bufferDataType {
  return data_type(info_->parameter.type);
}
// Only structs with resources are described.
- (MTLStructType*)bufferStructType {
  return softmetal::struct_type_of(info_->members);
}
- (MTLPointerType*)bufferPointerType {
  return nil;
}
- (NSUInteger)threadgroupMemoryAlignment {
  return info_->description.alignment;
}
- (NSUInteger)threadgroupMemoryDataSize {
  return info_->description.size;
}
- (MTLTextureType)textureType {
  return softmetal::texture_type_of(info_->description);
}
- (MTLDataType)textureDataType {
  const std::string& type = info_->parameter.type;
  const bool is_half = type.find("<half") != std::string::npos,
             is_short = type.find("short") != std::string::npos;
  switch (info_->description.type >> 8 & 255) {
    case 1:
      return is_short ? MTLDataTypeShort : MTLDataTypeInt;
    case 2:
      return is_short ? MTLDataTypeUShort : MTLDataTypeUInt;
    default:
      return is_half ? MTLDataTypeHalf : MTLDataTypeFloat;
  }
}
- (BOOL)isDepthTexture {
  return NO;  // the software Metal has no depth textures
}
- (NSUInteger)arrayLength {
  return info_->description.count;
}
@end

@implementation MTLComputePipelineReflection
- (void)dealloc {
  [bindings_ release];
  [super dealloc];
}
- (NSArray*)bindings {
  return bindings_;
}
@end

namespace softmetal {

NSArray* bindings_of(const Function& function) {
  NSMutableArray* const bindings = [NSMutableArray array];
  for (const ArgumentInfo& info : function.arguments) {
    if (!info.present || !info.parameter.binding || *info.parameter.binding == BindingKind::Builtin)
      continue;
    SMBinding* const binding = [[SMBinding new] autorelease];
    binding->info_ = new ArgumentInfo(info);
    [bindings addObject:binding];
  }
  return bindings;
}

}  // namespace softmetal
