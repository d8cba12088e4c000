#include "tests/softmetal/api/classes/programs/binary_archive.h"

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/programs/programs.h"
#include "tests/softmetal/compile/files.h"

using softmetal::must_fail;
using softmetal::report_misuse;
using softmetal::set_error;

NSString* const MTLBinaryArchiveDomain = @"MTLBinaryArchiveDomain";

@implementation MTLBinaryArchiveDescriptor
@synthesize url = url_;
- (void)dealloc {
  [url_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLBinaryArchiveDescriptor* d = [[MTLBinaryArchiveDescriptor allocWithZone:zone] init];
  d.url = url_;
  return d;
}
@end

namespace softmetal {

id<MTLBinaryArchive> new_binary_archive(id<MTLDevice> device,
                                        MTLBinaryArchiveDescriptor* descriptor, NSError** error) {
  const bool is_misused =
      descriptor == nil || (descriptor.url != nil && ![descriptor.url isFileURL]);
  if (is_misused) {
    report_misuse(
        std::string("newBinaryArchiveWithDescriptor: the ") +
        (descriptor == nil ? "descriptor must not be nil" : "URL must be that of a file"));
    return nil;
  }
  if (must_fail("newBinaryArchiveWithDescriptor:error:")) {
    set_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError, kFaultText);
    return nil;
  }
  const std::string name = text_of([device name]);
  std::shared_ptr<ModuleArchive> modules;
  if (descriptor.url == nil) {
    modules = std::make_shared<ModuleArchive>(name);
  } else {
    const std::string path = text_of([descriptor.url path]);
    const auto bytes = read_file(path);
    std::string problem = "there is no file to read";
    if (bytes) modules = ModuleArchive::read(*bytes, name, problem);
    if (modules == nullptr) {
      set_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                path + ": " + problem);
      return nil;
    }
  }
  SMBinaryArchive* const archive = [[SMBinaryArchive alloc] initWithDevice:device
                                                                      kind:"binary archive"];
  archive->modules_ = new std::shared_ptr<ModuleArchive>(std::move(modules));
  return archive;
}

}  // namespace softmetal

@implementation SMBinaryArchive
- (void)dealloc {
  delete modules_;
  [super dealloc];
}
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                            error:(NSError**)error {
  SMFunction* const function = (SMFunction*)descriptor.computeFunction;
  if (function == nil || [function device] != device_) {
    report_misuse(std::string("addComputePipelineFunctions: the function ") +
                  (function == nil ? "must not be nil" : "belongs to another device"));
    return NO;
  }
  std::string problem;
  if (must_fail("addComputePipelineFunctionsWithDescriptor:error:")) {
    problem = softmetal::kFaultText;
  } else {
    const auto generated = (*function->library_)->function(*function->name_, problem);
    if (generated != nullptr) problem = softmetal::limit_problem(*generated);
    if (problem.empty() && descriptor.supportIndirectCommandBuffers)
      problem = softmetal::indirect_problem(*generated);
    if (problem.empty())
      problem = (*modules_)->add(**function->library_, softmetal::name_in_archives(descriptor));
  }
  if (problem.empty()) return YES;
  set_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorCompilationFailure, problem);
  return NO;
}
- (BOOL)serializeToURL:(NSURL*)url error:(NSError**)error {
  if (url == nil || ![url isFileURL]) {
    report_misuse("serializeToURL: the URL must be that of a file");
    return NO;
  }
  if (must_fail("serializeToURL:error:")) {
    set_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
              softmetal::kFaultText);
    return NO;
  }
  const std::string path = softmetal::text_of([url path]);
  const auto bytes = (*modules_)->write();
  if (bytes && softmetal::write_file(path, *bytes)) return YES;
  set_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
            bytes ? "cannot write " + path : "the binary archive is empty");
  return NO;
}
@end
