#include "ir/target/target.h"

namespace texloom::ir {

std::string_view to_string(DeviceClass device_class) {
  return device_class == DeviceClass::Cpu ? "cpu" : "gpu";
}

Quirks quirks_of(DeviceClass device_class) {
  const bool is_gpu = device_class == DeviceClass::Gpu;
  return {.conditional_barriers = is_gpu, .vector_trigonometry = is_gpu};
}

}  // namespace texloom::ir
