#pragma once

#import <Metal/MTLTexture.h>

@class MTLStructType;
@class MTLArrayType;
@class MTLPointerType;
@class MTLTextureReferenceType;

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSUInteger, MTLDataType) {
  MTLDataTypeNone = 0,
  MTLDataTypeStruct = 1,
  MTLDataTypeArray = 2,
  MTLDataTypeFloat = 3,
  MTLDataTypeFloat2 = 4,
  MTLDataTypeFloat3 = 5,
  MTLDataTypeFloat4 = 6,
  MTLDataTypeHalf = 16,
  MTLDataTypeHalf2 = 17,
  MTLDataTypeHalf3 = 18,
  MTLDataTypeHalf4 = 19,
  MTLDataTypeInt = 29,
  MTLDataTypeInt2 = 30,
  MTLDataTypeInt3 = 31,
  MTLDataTypeInt4 = 32,
  MTLDataTypeUInt = 33,
  MTLDataTypeUInt2 = 34,
  MTLDataTypeUInt3 = 35,
  MTLDataTypeUInt4 = 36,
  MTLDataTypeShort = 37,
  MTLDataTypeUShort = 41,
  MTLDataTypeChar = 45,
  MTLDataTypeUChar = 49,
  MTLDataTypeBool = 53,
  MTLDataTypeTexture = 58,
  MTLDataTypeSampler = 59,
  MTLDataTypePointer = 60,
  MTLDataTypeLong = 81,
  MTLDataTypeULong = 85,
  MTLDataTypeBFloat = 121,
};

typedef NS_ENUM(NSInteger, MTLBindingType) {
  MTLBindingTypeBuffer = 0,
  MTLBindingTypeThreadgroupMemory = 1,
  MTLBindingTypeTexture = 2,
  MTLBindingTypeSampler = 3,
};

typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
  MTLBindingAccessReadOnly = 0,
  MTLBindingAccessReadWrite = 1,
  MTLBindingAccessWriteOnly = 2,
  MTLArgumentAccessReadOnly = 0,
  MTLArgumentAccessReadWrite = 1,
  MTLArgumentAccessWriteOnly = 2,
};
typedef MTLBindingAccess MTLArgumentAccess;

@interface MTLType : NSObject
@property(readonly) MTLDataType dataType;
@end

@interface MTLStructMember : NSObject
@property(readonly) NSString* name;
@property(readonly) NSUInteger offset;
@property(readonly) MTLDataType dataType;
@property(readonly) NSUInteger argumentIndex;
- (nullable MTLStructType*)structType;
- (nullable MTLArrayType*)arrayType;
- (nullable MTLTextureReferenceType*)textureReferenceType;
- (nullable MTLPointerType*)pointerType;
@end

@interface MTLStructType : MTLType
@property(readonly) NSArray<MTLStructMember*>* members;
- (nullable MTLStructMember*)memberByName:(NSString*)name;
@end

@interface MTLArrayType : MTLType
@property(readonly) MTLDataType elementType;
@property(readonly) NSUInteger arrayLength;
@property(readonly) NSUInteger stride;
@property(readonly) NSUInteger argumentIndexStride;
- (nullable MTLStructType*)elementStructType;
- (nullable MTLArrayType*)elementArrayType;
- (nullable MTLTextureReferenceType*)elementTextureReferenceType;
- (nullable MTLPointerType*)elementPointerType;
@end

@interface MTLTextureReferenceType : MTLType
@property(readonly) MTLDataType textureDataType;
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLBindingAccess access;
@property(readonly) BOOL isDepthTexture;
@end

@interface MTLPointerType : MTLType
@property(readonly) MTLDataType elementType;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger alignment;
@property(readonly) NSUInteger dataSize;
@property(readonly) BOOL elementIsArgumentBuffer;
- (nullable MTLStructType*)elementStructType;
- (nullable MTLArrayType*)elementArrayType;
@end

@protocol MTLBinding <NSObject>
@property(readonly) NSString* name;
@property(readonly) MTLBindingType type;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isUsed) BOOL used;
@property(readonly, getter=isArgument) BOOL argument;
@end

@protocol MTLBufferBinding <MTLBinding>
@property(readonly) NSUInteger bufferAlignment;
@property(readonly) NSUInteger bufferDataSize;
@property(readonly) MTLDataType bufferDataType;
@property(readonly, nullable) MTLStructType* bufferStructType;
@property(readonly, nullable) MTLPointerType* bufferPointerType;
@end

@protocol MTLThreadgroupBinding <MTLBinding>
@property(readonly) NSUInteger threadgroupMemoryAlignment;
@property(readonly) NSUInteger threadgroupMemoryDataSize;
@end

@protocol MTLTextureBinding <MTLBinding>
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLDataType textureDataType;
@property(readonly, getter=isDepthTexture) BOOL depthTexture;
@property(readonly) NSUInteger arrayLength;
@end

NS_ASSUME_NONNULL_END
