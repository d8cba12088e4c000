// Libraries, functions, pipelines and samplers. For Objective-C++ sources alone.
#pragma once

#include "tests/softmetal/api/classes/object.h"
#include "tests/softmetal/execute/library.h"
#include "tests/softmetal/execute/texture.h"

@interface SMLibrary : SMObject <MTLLibrary> {
 @public
  std::shared_ptr<softmetal::Library>* library_;
}
@end

// Code is generated for pipelines and archives alone.
@interface SMFunction : SMObject <MTLFunction> {
 @public
  std::shared_ptr<softmetal::Library>* library_;  // with the function's constants
  std::string* name_;
}
@end

@interface SMPipeline : SMObject <MTLComputePipelineState> {
 @public
  std::shared_ptr<softmetal::Function>* function_;
  NSUInteger most_threads_;
  BOOL multiple_;  // threadgroups are to be multiples of simdgroups
}
@end

@interface SMSampler : SMObject <MTLSamplerState> {
 @public
  softmetal::SamplerState bits_;
}
@end

namespace softmetal {

id<MTLLibrary> new_library(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                           NSError** error);
// Of a file of compile/metallib.h; `call` names the API's call.
id<MTLLibrary> new_library(id<MTLDevice> device, std::string_view metallib, const char* call,
                           NSError** error);
id<MTLComputePipelineState> new_pipeline(id<MTLDevice> device,
                                         MTLComputePipelineDescriptor* descriptor,
                                         MTLPipelineOption options,
                                         MTLAutoreleasedComputePipelineReflection* reflection,
                                         NSError** error);
id<MTLSamplerState> new_sampler(id<MTLDevice> device, MTLSamplerDescriptor* descriptor);

// The struct of an argument buffer; nil if there are no members. Autoreleased.
MTLStructType* struct_type_of(const std::vector<MemberInfo>& members);
MTLTextureType texture_type_of(const SmDescription& description);
MTLBindingAccess texture_access_of(const SmDescription& description);

// What keeps a function from being a pipeline of the device, or nothing.
std::string limit_problem(const Function& function);
// The arguments of a function, as objects of MTLBinding. Autoreleased.
NSArray* bindings_of(const Function& function);

}  // namespace softmetal
