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
  @autoreleasepool {
    if (to_ns(path.string()) == nil) return invalid_argument("the path of a capture must be UTF-8");
  }
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return invalid_argument("{} exists already; help: remove it, or name another file",
                            path.string());
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    return invalid_argument("there is no folder {}; help: make it, or choose another",
                            folder.string());
  return {};
}

// The device, if it can be captured.
Result<SystemDevice> captured_device(std::size_t ordinal, const std::string& path) {
  TL_RETURN_IF_ERROR(check_path(path));
  TL_ASSIGN_OR_RETURN(const std::vector<SystemDevice> devices, find_devices());
  if (ordinal >= devices.size())
    return make_error(StatusCode::NotFound, "there is no Metal device {}", ordinal);
  @autoreleasepool {
    if (![[MTLCaptureManager sharedCaptureManager]
            supportsDestination:MTLCaptureDestinationGPUTraceDocument])
      return make_error(StatusCode::Unavailable,
                        "the system does not let this process capture Metal's work; help: set "
                        "METAL_CAPTURE_ENABLED=1 in the environment, or MetalCaptureEnabled in the "
                        "application's Info.plist");
  }
  return devices[ordinal];
}

}  // namespace

Status check_capture(std::size_t ordinal, const std::string& path) {
  return captured_device(ordinal, path).status();
}

Status start_capture(std::size_t ordinal, const std::string& path) {
  TL_ASSIGN_OR_RETURN(const SystemDevice captured, captured_device(ordinal, path));
  @autoreleasepool {
    MTLCaptureDescriptor* const descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    descriptor.captureObject = objc(captured.device);
    descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
    descriptor.outputURL = [NSURL fileURLWithPath:to_ns(path)];
    NSError* error = nil;
    MTLCaptureManager* const manager = [MTLCaptureManager sharedCaptureManager];
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
