#pragma once

#import <Metal/MTLArgument.h>

@protocol MTLDevice;
@protocol MTLArgumentEncoder;
@class MTLFunctionConstantValues;

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSUInteger, MTLFunctionType) {
  MTLFunctionTypeVertex = 1,
  MTLFunctionTypeFragment = 2,
  MTLFunctionTypeKernel = 3,
};

typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion2_0 = (2 << 16),
  MTLLanguageVersion2_1 = (2 << 16) + 1,
  MTLLanguageVersion2_2 = (2 << 16) + 2,
  MTLLanguageVersion2_3 = (2 << 16) + 3,
  MTLLanguageVersion2_4 = (2 << 16) + 4,
  MTLLanguageVersion3_0 = (3 << 16),
  MTLLanguageVersion3_1 = (3 << 16) + 1,
  MTLLanguageVersion3_2 = (3 << 16) + 2,
};

typedef NS_ENUM(NSInteger, MTLMathMode) {
  MTLMathModeSafe = 0,
  MTLMathModeRelaxed = 1,
  MTLMathModeFast = 2,
};

typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
  MTLMathFloatingPointFunctionsFast = 0,
  MTLMathFloatingPointFunctionsPrecise = 1,
};

typedef NS_ENUM(NSInteger, MTLLibraryType) {
  MTLLibraryTypeExecutable = 0,
  MTLLibraryTypeDynamic = 1,
};

typedef NS_ENUM(NSInteger, MTLLibraryOptimizationLevel) {
  MTLLibraryOptimizationLevelDefault = 0,
  MTLLibraryOptimizationLevelSize = 1,
};

MTL_EXTERN NSErrorDomain const MTLLibraryErrorDomain;
typedef NS_ENUM(NSUInteger, MTLLibraryError) {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6,
};

@interface MTLCompileOptions : NSObject <NSCopying> {
  NSDictionary<NSString*, NSObject*>* macros_;
  BOOL fast_, invariance_;
  MTLMathMode mode_;
  MTLMathFloatingPointFunctions functions_;
  MTLLanguageVersion version_;
  MTLLibraryType type_;
  NSString* name_;
  MTLLibraryOptimizationLevel level_;
  NSUInteger threads_;
}
@property(nullable, readwrite, copy, nonatomic)
    NSDictionary<NSString*, NSObject*>* preprocessorMacros;
@property(readwrite, nonatomic) BOOL fastMathEnabled;
@property(readwrite, nonatomic) MTLMathMode mathMode;
@property(readwrite, nonatomic) MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property(readwrite, nonatomic) MTLLanguageVersion languageVersion;
@property(readwrite, nonatomic) MTLLibraryType libraryType;
@property(readwrite, nullable, copy, nonatomic) NSString* installName;
@property(readwrite, nonatomic) BOOL preserveInvariance;
@property(readwrite, nonatomic) MTLLibraryOptimizationLevel optimizationLevel;
@property(readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@end

@interface MTLFunctionConstantValues : NSObject <NSCopying> {
 @public
  NSMutableDictionary *by_index_, *by_name_;  // expressions
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index;
- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range;
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name;
- (void)reset;
@end

@interface MTLFunctionConstant : NSObject {
 @public
  NSString* name_;
  MTLDataType type_;
  NSUInteger index_;
  BOOL required_;
}
@property(readonly) NSString* name;
@property(readonly) MTLDataType type;
@property(readonly) NSUInteger index;
@property(readonly) BOOL required;
@end

@protocol MTLFunction <NSObject>
@property(nullable, copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLFunctionType functionType;
@property(readonly) NSString* name;
@property(readonly) NSDictionary<NSString*, MTLFunctionConstant*>* functionConstantsDictionary;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex;
@end

@protocol MTLLibrary <NSObject>
@property(nullable, copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
- (nullable id<MTLFunction>)newFunctionWithName:(NSString*)functionName;
- (nullable id<MTLFunction>)newFunctionWithName:(NSString*)name
                                 constantValues:(MTLFunctionConstantValues*)constantValues
                                          error:(__autoreleasing NSError**)error;
@property(readonly) NSArray<NSString*>* functionNames;
@property(readonly) MTLLibraryType type;
@property(readonly, nullable) NSString* installName;
@end

NS_ASSUME_NONNULL_END
