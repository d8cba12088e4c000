#include "ir/target/target.h"

#include <fmt/format.h>

namespace texloom::ir {

std::string_view to_string(DeviceClass device_class) {
  return device_class == DeviceClass::Cpu ? "cpu" : "gpu";
}

std::string to_string(const VectorRegisters& registers) {
  if (registers.count == 0) return "unknown";
  return fmt::format("{}x{}", registers.count, registers.bytes);
}

Quirks quirks_of(DeviceClass device_class) {
  const bool is_gpu = device_class == DeviceClass::Gpu;
  return {.conditional_barriers = is_gpu, .vector_trigonometry = is_gpu};
}

}  // namespace texloom::ir
