#include "runtime/drivers/metal/api/error.h"

namespace texloom::hal::metal {
namespace {

StatusCode code_of_commands(NSInteger code) {
  switch (code) {
    case MTLCommandBufferErrorOutOfMemory:
      return StatusCode::OutOfMemory;
#if !TARGET_OS_IPHONE
    case MTLCommandBufferErrorDeviceRemoved:
#endif
    case MTLCommandBufferErrorAccessRevoked:
      return StatusCode::Unavailable;
    default:
      return StatusCode::DeviceError;
  }
}

StatusCode code_of(NSError* error) {
  if ([error.domain isEqual:MTLLibraryErrorDomain]) return StatusCode::BuildFailed;
  if ([error.domain isEqual:MTLCommandBufferErrorDomain]) return code_of_commands(error.code);
  return StatusCode::DeviceError;
}

}  // namespace

Status to_error(NSError* error, std::string_view call) {
  if (error == nil) return make_error(StatusCode::DeviceError, "{} failed and gave no error", call);
  std::string text = to_string(error.localizedDescription);
  const std::string reason = to_string(error.localizedFailureReason);
  if (!reason.empty() && text.find(reason) == std::string::npos) text += ": " + reason;
  return make_error(code_of(error), "{}: {} ({} {})", call, text, to_string(error.domain),
                    static_cast<long>(error.code));
}

Status status_of(id<MTLCommandBuffer> commands) {
  if (commands.status != MTLCommandBufferStatusError) return {};
  return to_error(commands.error, "MTLCommandBuffer");
}

}  // namespace texloom::hal::metal
