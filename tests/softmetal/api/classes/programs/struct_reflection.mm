// The types of argument buffers. Only members that are resources have a type.
#include "tests/softmetal/api/classes/programs/programs.h"

@implementation MTLType
@dynamic dataType;
@end
@implementation MTLStructMember
@dynamic name, offset, dataType, argumentIndex;
- (MTLStructType*)structType {
  return nil;
}
- (MTLArrayType*)arrayType {
  return nil;
}
- (MTLTextureReferenceType*)textureReferenceType {
  return nil;
}
- (MTLPointerType*)pointerType {
  return nil;
}
@end
@implementation MTLStructType
@dynamic members;
- (MTLStructMember*)memberByName:(NSString*)name {
  for (MTLStructMember* member in [self members]) {
    if ([[member name] isEqualToString:name]) return member;
  }
  return nil;
}
@end
@implementation MTLArrayType
@dynamic elementType, arrayLength, stride, argumentIndexStride;
- (MTLStructType*)elementStructType {
  return nil;
}
- (MTLArrayType*)elementArrayType {
  return nil;
}
- (MTLTextureReferenceType*)elementTextureReferenceType {
  return nil;
}
- (MTLPointerType*)elementPointerType {
  return nil;
}
@end
@implementation MTLTextureReferenceType
@dynamic textureDataType, textureType, access, isDepthTexture;
@end
@implementation MTLPointerType
@dynamic elementType, access, alignment, dataSize, elementIsArgumentBuffer;
- (MTLStructType*)elementStructType {
  return nil;
}
- (MTLArrayType*)elementArrayType {
  return nil;
}
@end

@interface SMTextureReferenceType : MTLTextureReferenceType {
 @public
  SmDescription description_;
}
@end

@implementation SMTextureReferenceType
- (MTLDataType)dataType {
  return MTLDataTypeTexture;
}
// Elements of 16 bits are reported with the type of 32 bits.
- (MTLDataType)textureDataType {
  static constexpr MTLDataType kTypes[] = {MTLDataTypeFloat, MTLDataTypeInt, MTLDataTypeUInt};
  return kTypes[description_.type >> 8 & 255];
}
- (MTLTextureType)textureType {
  return softmetal::texture_type_of(description_);
}
- (MTLBindingAccess)access {
  return softmetal::texture_access_of(description_);
}
- (BOOL)isDepthTexture {
  return NO;
}
@end

@interface SMPointerType : MTLPointerType {
 @public
  SmDescription description_;
}
@end

@implementation SMPointerType
- (MTLDataType)dataType {
  return MTLDataTypePointer;
}
- (MTLDataType)elementType {
  return MTLDataTypeNone;
}
- (MTLBindingAccess)access {
  return description_.writable ? MTLBindingAccessReadWrite : MTLBindingAccessReadOnly;
}
- (NSUInteger)alignment {
  return description_.alignment;
}
- (NSUInteger)dataSize {
  return description_.size;
}
- (BOOL)elementIsArgumentBuffer {
  return NO;
}
@end

@interface SMArrayType : MTLArrayType {
 @public
  SmDescription description_;
}
@end

// Returns the type of a struct's member or of an array's element.
static MTLDataType data_type_of(const SmDescription& description) {
  static constexpr MTLDataType kTypes[] = {MTLDataTypeNone, MTLDataTypeTexture, MTLDataTypeSampler,
                                           MTLDataTypePointer};  // by category
  return kTypes[description.category];
}

static MTLTextureReferenceType* texture_type(const SmDescription& description) {
  if (data_type_of(description) != MTLDataTypeTexture) return nil;
  SMTextureReferenceType* const type = [[SMTextureReferenceType new] autorelease];
  type->description_ = description;
  return type;
}

static MTLPointerType* pointer_type(const SmDescription& description) {
  if (data_type_of(description) != MTLDataTypePointer) return nil;
  SMPointerType* const type = [[SMPointerType new] autorelease];
  type->description_ = description;
  return type;
}

@implementation SMArrayType
- (MTLDataType)dataType {
  return MTLDataTypeArray;
}
- (MTLDataType)elementType {
  return data_type_of(description_);
}
- (NSUInteger)arrayLength {
  return description_.count;
}
- (NSUInteger)stride {
  return 8;
}
- (NSUInteger)argumentIndexStride {
  return 1;
}
- (MTLTextureReferenceType*)elementTextureReferenceType {
  return texture_type(description_);
}
- (MTLPointerType*)elementPointerType {
  return pointer_type(description_);
}
@end

@interface SMStructMember : MTLStructMember {
 @public
  softmetal::MemberInfo* info_;
}
@end

@implementation SMStructMember
- (void)dealloc {
  delete info_;
  [super dealloc];
}
- (NSString*)name {
  return softmetal::string_of(info_->name);
}
- (NSUInteger)offset {
  return info_->description.offset;
}
- (MTLDataType)dataType {
  return info_->description.count > 1 ? MTLDataTypeArray : data_type_of(info_->description);
}
- (NSUInteger)argumentIndex {
  return static_cast<NSUInteger>(info_->id);
}
- (MTLArrayType*)arrayType {
  if (info_->description.count <= 1) return nil;
  SMArrayType* const type = [[SMArrayType new] autorelease];
  type->description_ = info_->description;
  return type;
}
- (MTLTextureReferenceType*)textureReferenceType {
  return info_->description.count > 1 ? nil : texture_type(info_->description);
}
- (MTLPointerType*)pointerType {
  return info_->description.count > 1 ? nil : pointer_type(info_->description);
}
@end

@interface SMStructType : MTLStructType {
 @public
  NSArray* members_;
}
@end

@implementation SMStructType
- (void)dealloc {
  [members_ release];
  [super dealloc];
}
- (MTLDataType)dataType {
  return MTLDataTypeStruct;
}
- (NSArray*)members {
  return members_;
}
@end

namespace softmetal {

MTLTextureType texture_type_of(const SmDescription& description) {
  static constexpr MTLTextureType kTypes[] = {
      MTLTextureType1D,           MTLTextureType1DArray,       MTLTextureType2D,
      MTLTextureType2DArray,      MTLTextureType2DMultisample, MTLTextureType2DMultisampleArray,
      MTLTextureType3D,           MTLTextureTypeCube,          MTLTextureTypeCubeArray,
      MTLTextureTypeTextureBuffer};  // by TextureKind
  return kTypes[description.type & 255];
}

MTLBindingAccess texture_access_of(const SmDescription& description) {
  switch (texture_access(description)) {
    case TextureAccess::Write:
      return MTLBindingAccessWriteOnly;
    case TextureAccess::ReadWrite:
      return MTLBindingAccessReadWrite;
    default:
      return MTLBindingAccessReadOnly;
  }
}

MTLStructType* struct_type_of(const std::vector<MemberInfo>& members) {
  if (members.empty()) return nil;
  NSMutableArray* const list = [NSMutableArray array];
  for (const MemberInfo& info : members) {
    SMStructMember* const member = [[SMStructMember new] autorelease];
    member->info_ = new MemberInfo(info);
    [list addObject:member];
  }
  SMStructType* const type = [[SMStructType new] autorelease];
  type->members_ = [list copy];
  return type;
}

}  // namespace softmetal
