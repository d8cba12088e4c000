#include "runtime/commit/device_policy.h"

namespace texloom::runtime {

CommitPolicy commit_policy_for(const hal::DeviceInfo& device) {
  if (device.is_gpu()) return {.launches = 256, .first_launches = 16, .submissions_ahead = 64};
  return {};
}

}  // namespace texloom::runtime
