#include "runtime/hal/device_info.h"

namespace texloom::hal {

std::string_view to_string(DeviceType type) {
  switch (type) {
    case DeviceType::Gpu:
      return "gpu";
    case DeviceType::Accelerator:
      return "accelerator";
    case DeviceType::Cpu:
      return "cpu";
    case DeviceType::Other:
      return "other";
  }
  return "unknown device type";
}

}  // namespace texloom::hal
