#include "runtime/hal/driver.h"

#include <charconv>
#include <memory>
#include <string>

namespace texloom::hal {

Result<std::shared_ptr<Device>> Driver::open(std::size_t ordinal, const DeviceOptions& options) {
  const std::size_t count = devices().size();
  if (ordinal < count) return open_device(ordinal, options);
  return make_error(StatusCode::NotFound, "no {} device {}: there {} {}, numbered from 0", name(),
                    ordinal, count == 1 ? "is" : "are", count);
}

Result<std::shared_ptr<Device>> Driver::open_by_id(std::string_view id,
                                                   const DeviceOptions& options) {
  std::string known;
  for (std::size_t i = 0; i < devices().size(); ++i) {
    if (devices()[i].id == id) return open_device(i, options);
    known += (known.empty() ? "" : ", ") + devices()[i].id;
  }
  return make_error(StatusCode::NotFound, "no {} device \"{}\": there {} {}", name(), id,
                    devices().size() == 1 ? "is" : "are", known);
}

Result<std::shared_ptr<Device>> Driver::open_native(const NativeDevice&, const DeviceOptions&) {
  return make_error(StatusCode::Unimplemented,
                    "the driver {} cannot share a device with an application", name());
}

Result<std::shared_ptr<Device>> Driver::open_by_name(std::string_view device,
                                                     const DeviceOptions& options) {
  if (device.empty()) return open(0, options);
  std::size_t ordinal = 0;
  const char* begin = std::to_address(device.begin());
  const char* end = begin + device.size();
  const auto [rest, error] = std::from_chars(begin, end, ordinal);
  if (error == std::errc() && rest == end) return open(ordinal, options);
  return open_by_id(device, options);
}

}  // namespace texloom::hal
