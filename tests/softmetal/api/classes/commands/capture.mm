#include "tests/softmetal/api/classes/commands/capture.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/device.h"

using softmetal::report_misuse;

NSString* const MTLCaptureErrorDomain = @"MTLCaptureErrorDomain";

@implementation MTLCaptureDescriptor
@synthesize captureObject = object_, destination = destination_, outputURL = url_;
- (instancetype)init {
  self = [super init];
  destination_ = MTLCaptureDestinationDeveloperTools;
  return self;
}
- (void)dealloc {
  [object_ release];
  [url_ release];
  [super dealloc];
}
- (id)copyWithZone:(NSZone*)zone {
  MTLCaptureDescriptor* d = [[MTLCaptureDescriptor allocWithZone:zone] init];
  d.captureObject = object_;
  d.destination = destination_;
  d.outputURL = url_;
  return d;
}
@end

namespace softmetal {
namespace {

std::atomic<bool> is_capturing = false;
std::mutex capture_mutex;  // guards what follows
id captured = nil;         // a device or a queue
std::filesystem::path folder;
std::vector<std::string>& calls() {
  static auto* const all = new std::vector<std::string>;
  return *all;
}

// Whether captures are enabled. On Apple's systems, Info.plist may enable captures, too.
bool is_enabled() {
  const char* const value = std::getenv("METAL_CAPTURE_ENABLED");
  return value != nullptr && std::string_view(value) == "1";
}

std::filesystem::path path_of(NSURL* url) { return text_of([url path]); }

std::string problem_of(MTLCaptureDescriptor* descriptor) {
  id const object = descriptor.captureObject;
  if (![object isKindOfClass:[SMDevice class]] && ![object isKindOfClass:[SMQueue class]])
    return "the capture object must be a device or a command queue";
  if (descriptor.outputURL == nil) return "the descriptor has no output URL";
  const std::filesystem::path path = path_of(descriptor.outputURL);
  if (path.extension() != ".gputrace") return "the output URL must end in .gputrace";
  std::error_code failure;
  if (std::filesystem::exists(path, failure))
    return "the output URL is there already: " + path.string();
  if (!std::filesystem::create_directory(path, failure))
    return "the output URL cannot be written: " + failure.message();
  return {};
}

}  // namespace

bool is_captured(id<MTLCommandQueue> queue) {
  if (!is_capturing) return false;
  const std::lock_guard lock(capture_mutex);
  return captured == queue || captured == [queue device];
}

void capture(SMObject* object, const std::string& call) {
  const std::string line = [object described] + ": " + call;
  const std::lock_guard lock(capture_mutex);
  if (is_capturing) calls().push_back(line);
}

}  // namespace softmetal

using namespace softmetal;

@implementation MTLCaptureManager
+ (MTLCaptureManager*)sharedCaptureManager {
  static MTLCaptureManager* const shared = [MTLCaptureManager new];
  return shared;
}
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return destination == MTLCaptureDestinationGPUTraceDocument && is_enabled();
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error {
  const std::lock_guard lock(capture_mutex);
  if (is_capturing) {
    set_error(error, MTLCaptureErrorDomain, MTLCaptureErrorAlreadyCapturing,
              "there is a capture already");
    return NO;
  }
  const bool must_fail = softmetal::must_fail("startCaptureWithDescriptor:error:");
  if (must_fail || ![self supportsDestination:descriptor.destination]) {
    set_error(error, MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
              must_fail ? kFaultText : "the destination is not supported");
    return NO;
  }
  const std::string problem = problem_of(descriptor);
  if (!problem.empty()) {
    set_error(error, MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor, problem);
    return NO;
  }
  folder = path_of(descriptor.outputURL);
  captured = [descriptor.captureObject retain];
  is_capturing = true;
  return YES;
}
- (void)stopCapture {
  const std::lock_guard lock(capture_mutex);
  if (!is_capturing) return report_misuse("stopCapture: there is no capture");
  is_capturing = false;
  std::ofstream file(folder / "calls.txt");
  file << "Calls that the software Metal has seen. Xcode does not open this list.\n\n";
  for (const std::string& call : calls()) file << call << "\n";
  calls().clear();
  [captured release];
  captured = nil;
}
- (BOOL)isCapturing {
  return is_capturing;
}
@end
