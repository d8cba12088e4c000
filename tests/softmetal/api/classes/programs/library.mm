#include <algorithm>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/programs/programs.h"

using softmetal::report_misuse;

namespace softmetal {
namespace {

CompileOptions options_of(MTLCompileOptions* o) {
  CompileOptions to;
  to.version =
      static_cast<int>((o.languageVersion >> 16) * 100 + (o.languageVersion & 0xffff) * 10);
  to.math_mode = static_cast<MathMode>(o.mathMode);
  for (NSString* key in [o.preprocessorMacros allKeys]) {
    to.macros[[key UTF8String]] =
        [[[o.preprocessorMacros objectForKey:key] description] UTF8String];
  }
  return to;
}

MTLDataType type_named(const std::string& name) {
  static constexpr std::pair<const char*, MTLDataType> kTypes[] = {
      {"bool", MTLDataTypeBool},     {"char", MTLDataTypeChar},     {"uchar", MTLDataTypeUChar},
      {"short", MTLDataTypeShort},   {"ushort", MTLDataTypeUShort}, {"int", MTLDataTypeInt},
      {"uint", MTLDataTypeUInt},     {"long", MTLDataTypeLong},     {"ulong", MTLDataTypeULong},
      {"float", MTLDataTypeFloat},   {"half", MTLDataTypeHalf},     {"int2", MTLDataTypeInt2},
      {"int4", MTLDataTypeInt4},     {"uint2", MTLDataTypeUInt2},   {"uint4", MTLDataTypeUInt4},
      {"float2", MTLDataTypeFloat2}, {"float4", MTLDataTypeFloat4}};
  for (const auto& [known, type] : kTypes) {
    if (name == known) return type;
  }
  return MTLDataTypeNone;
}

id<MTLLibrary> wrapped(id<MTLDevice> device, std::shared_ptr<Library> library) {
  SMLibrary* const made = [[SMLibrary alloc] initWithDevice:device kind:"library"];
  made->library_ = new std::shared_ptr<Library>(std::move(library));
  return made;
}

}  // namespace

id<MTLLibrary> new_library(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                           NSError** error) {
  if (source == nil) {
    report_misuse("newLibraryWithSource: the source must not be nil");
    return nil;
  }
  if (must_fail("newLibraryWithSource:options:error:")) {
    set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, kFaultText);
    return nil;
  }
  MTLCompileOptions* const o = options != nil ? options : [[MTLCompileOptions new] autorelease];
  std::string log;
  auto library = Library::compile(text_of(source), options_of(o), log);
  if (library == nullptr) {
    set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, log);
    return nil;
  }
  return wrapped(device, std::move(library));
}

id<MTLLibrary> new_library(id<MTLDevice> device, std::string_view metallib, const char* call,
                           NSError** error) {
  if (must_fail(call)) {
    set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, kFaultText);
    return nil;
  }
  std::string problem;
  auto library = Library::load(metallib, problem);
  if (library != nullptr) return wrapped(device, std::move(library));
  set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported, problem);
  return nil;
}

}  // namespace softmetal

@implementation SMLibrary
- (void)dealloc {
  delete library_;
  [super dealloc];
}
- (NSArray*)functionNames {
  NSMutableArray* const names = [NSMutableArray array];
  for (const std::string& name : (*library_)->function_names())
    [names addObject:softmetal::string_of(name)];
  return names;
}
- (MTLLibraryType)type {
  return MTLLibraryTypeExecutable;
}
- (NSString*)installName {
  return nil;
}
- (id<MTLFunction>)functionNamed:(const std::string&)name
                              of:(std::shared_ptr<softmetal::Library>)library {
  SMFunction* const made = [[SMFunction alloc] initWithDevice:device_ kind:"function"];
  made->library_ = new std::shared_ptr<softmetal::Library>(std::move(library));
  made->name_ = new std::string(name);
  return made;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  const std::string text = softmetal::text_of(name);
  std::string problem;
  return (*library_)->has_function(text, problem) ? [self functionNamed:text of:*library_] : nil;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error {
  std::map<int, std::string> constants;
  for (const softmetal::FunctionConstant& constant : (*library_)->constants()) {
    NSString* value = [values->by_index_ objectForKey:@(constant.index)];
    if (value == nil) value = [values->by_name_ objectForKey:softmetal::string_of(constant.name)];
    if (value != nil) constants[constant.index] = softmetal::text_of(value);
  }
  const std::string text = softmetal::text_of(name);
  std::string problem;
  auto specialized = (*library_)->specialized(constants, problem);
  if (specialized == nullptr || !specialized->has_constants(text, problem)) {
    softmetal::set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound, problem);
    return nil;
  }
  return [self functionNamed:text of:std::move(specialized)];
}
@end

@implementation SMFunction
- (void)dealloc {
  delete library_;
  delete name_;
  [super dealloc];
}
- (NSString*)name {
  return softmetal::string_of(*name_);
}
- (MTLFunctionType)functionType {
  return MTLFunctionTypeKernel;
}
- (NSDictionary*)functionConstantsDictionary {
  NSMutableDictionary* const all = [NSMutableDictionary dictionary];
  const std::vector<std::string> missing = (*library_)->missing_constants(*name_);
  for (const softmetal::FunctionConstant& constant : (*library_)->constants()) {
    MTLFunctionConstant* const each = [[MTLFunctionConstant new] autorelease];
    each->name_ = [softmetal::string_of(constant.name) retain];
    each->type_ = softmetal::type_named(constant.type);
    each->required_ = std::find(missing.begin(), missing.end(), constant.name) != missing.end();
    each->index_ = static_cast<NSUInteger>(constant.index);
    [all setObject:each forKey:each->name_];
  }
  return all;
}
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index {
  (void)index;
  report_misuse("newArgumentEncoderWithBufferIndex: the software Metal is of tier 2, where "
                "argument buffers are written as structs of addresses");
  return nil;
}
@end

@implementation MTLFunctionConstant
- (void)dealloc {
  [name_ release];
  [super dealloc];
}
- (NSString*)name {
  return name_;
}
- (MTLDataType)type {
  return type_;
}
- (NSUInteger)index {
  return index_;
}
- (BOOL)required {
  return required_;
}
@end
