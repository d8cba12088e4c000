#include "runtime/drivers/metal/api/capture.h"

#include <filesystem>
#include <vector>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/platform/platform.h"

namespace texloom::hal::metal {
namespace {

Status check_path(const std::filesystem::path& path) {
  if (path.extension() != ".gputrace")
    return invalid_argument("the path of a capture must end in .gputrace, and {} does not",
                            path.string());
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return invalid_argument("{} is there already; help: remove it, or name another file",
                            path.string());
  return {};
}

}  // namespace

Status start_capture(std::size_t ordinal, const std::string& path) {
  TL_RETURN_IF_ERROR(check_path(path));
  TL_ASSIGN_OR_RETURN(const std::vector<SystemDevice> devices, find_devices());
  if (ordinal >= devices.size())
    return make_error(StatusCode::NotFound, "there is no Metal device {}", ordinal);
  @autoreleasepool {
    MTLCaptureManager* const manager = [MTLCaptureManager sharedCaptureManager];
    if (![manager supportsDestination:MTLCaptureDestinationGPUTraceDocument])
      return make_error(StatusCode::Unavailable,
                        "the system does not let this process capture Metal's work; help: set "
                        "METAL_CAPTURE_ENABLED=1 in the environment, or MetalCaptureEnabled in the "
                        "application's Info.plist");
    MTLCaptureDescriptor* const descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    descriptor.captureObject = objc(devices[ordinal].device);
    descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
    descriptor.outputURL = [NSURL fileURLWithPath:to_ns(path)];
    NSError* error = nil;
    if (![manager startCaptureWithDescriptor:descriptor error:&error])
      return to_error(error, "startCaptureWithDescriptor");
  }
  return {};
}

void stop_capture() {
  @autoreleasepool {
    [[MTLCaptureManager sharedCaptureManager] stopCapture];
  }
}

}  // namespace texloom::hal::metal
