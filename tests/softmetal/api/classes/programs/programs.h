// Libraries, functions, pipelines and samplers. For Objective-C++ sources only.
#pragma once

#include "tests/softmetal/api/classes/object.h"
#include "tests/softmetal/execute/library.h"
#include "tests/softmetal/execute/texture.h"

@interface SMLibrary : SMObject <MTLLibrary> {
 @public
  std::shared_ptr<softmetal::Library>* library_;
}
@end

// A function without code: only pipelines and archives generate code.
@interface SMFunction : SMObject <MTLFunction> {
 @public
  std::shared_ptr<softmetal::Library>* library_;  // with the function's constants
  std::string* name_;
}
@end

namespace softmetal {

// The part of a pipeline state that dispatches need. It may outlive the pipeline state.
struct PipelineState {
  std::shared_ptr<Function> function;
  uint32_t simd_width = 0;
  NSUInteger most_threads = 0;
  bool is_multiple = false;  // threadgroups must be multiples of the SIMD width
  bool supports_indirect = false;
};

}  // namespace softmetal

@interface SMPipeline : SMObject <MTLComputePipelineState> {
 @public
  std::shared_ptr<const softmetal::PipelineState>* pipeline_;
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
// Loads a file of compile/metallib.h; `call` is the API's call, for messages.
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

// Returns why a function cannot be a pipeline of the device, or an empty string.
std::string limit_problem(const Function& function);
// Returns why indirect commands cannot use the function, or an empty string.
std::string indirect_problem(const Function& function);
// Returns a function's key in binary archives, which differs for indirect commands.
std::string name_in_archives(MTLComputePipelineDescriptor* descriptor);
// The arguments of a function, as objects of MTLBinding. Autoreleased.
NSArray* bindings_of(const Function& function);

}  // namespace softmetal
