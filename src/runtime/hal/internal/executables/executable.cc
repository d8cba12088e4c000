#include "runtime/hal/executable.h"

#include <algorithm>

namespace texloom::hal {

std::string_view name_of(const KernelParam& param) {
  return std::visit([](const auto& p) -> std::string_view { return p.name; }, param);
}

std::uint64_t local_bytes(std::span<const KernelParam> params) {
  std::uint64_t bytes = 0;
  for (const KernelParam& param : params) {
    if (const auto* local = std::get_if<LocalParam>(&param)) bytes += local->bytes;
  }
  return bytes;
}

std::string describe(const KernelParam& param) {
  if (const auto* texture = std::get_if<TextureParam>(&param))
    return fmt::format("a texture {}", to_string(texture->format));
  if (const auto* constant = std::get_if<ConstantParam>(&param))
    return fmt::format("a constant {}", to_string(constant->type));
  if (std::holds_alternative<LocalParam>(param)) return "local memory";
  return "a buffer";
}

Result<std::array<std::uint32_t, 3>> groups_of(const EntryPoint& entry,
                                               std::span<const std::int64_t> workload) {
  if (!entry.grid)
    return invalid_argument("kernel \"{}\" has no grid: pass the numbers of groups", entry.name);
  const std::size_t wanted = workload_count(*entry.grid);
  if (workload.size() != wanted)
    return invalid_argument("kernel \"{}\": the grid depends on {} numbers, got {}", entry.name,
                            wanted, workload.size());
  auto groups = groups_of(*entry.grid, workload);
  if (!groups.ok()) return groups.status().with_context(fmt::format("kernel \"{}\"", entry.name));
  return groups;
}

std::string_view to_string(KernelFormat format) { return traits_of(format).name; }

bool is_prepared(const KernelCode& code, const DeviceInfo& device) {
  return std::ranges::find(device.formats, code.format) != device.formats.end() &&
         (!code.origin || code.origin->maker == maker_of(device));
}

std::string describe(const KernelCode& code) {
  std::string text(to_string(code.format));
  return code.origin ? fmt::format("{} for {}", text, describe(code.origin->maker)) : text;
}

Result<const KernelCode*> select_code(const ExecutableDesc& desc, const DeviceInfo& device) {
  const KernelCode* made = nullptr;
  std::string given;
  for (const KernelCode& code : desc.codes) {
    if (is_prepared(code, device)) {
      if (!code.origin) return &code;
      if (made == nullptr) made = &code;
    }
    given += given.empty() ? "" : ", ";
    given += describe(code);
  }
  if (made != nullptr) return made;
  std::string taken;
  for (const KernelFormat format : device.formats) {
    taken += taken.empty() ? "" : ", ";
    taken += to_string(format);
  }
  return make_error(
      StatusCode::Unimplemented,
      "the kernels are given as: {}; the driver {} takes: {}; help: compile for a "
      "device of this driver, as texloom compile --target {}:0 does, or run them on a device that "
      "takes them, as texloom run --device does",
      given, device.driver, taken, device.driver);
}

Status Executable::build_once() {
  const std::scoped_lock lock(building_);
  if (!was_tried_) {
    was_tried_ = true;
    failure_ = build();
    is_ready_.store(failure_.ok(), std::memory_order_release);
  }
  return failure_;
}

Result<KernelCode> Executable::binary() {
  TL_RETURN_IF_ERROR(prepare());
  return built_binary();
}

Result<KernelCode> Executable::built_binary() const {
  return make_error(StatusCode::Unimplemented,
                    "the driver {} gives no binaries of kernels back; help: leave out the "
                    "binaries, or give an OpenCL device for them",
                    device_info_->driver);
}

Result<std::uint32_t> Executable::find(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < entry_points_.size(); ++i) {
    if (entry_points_[i].name == name) return static_cast<std::uint32_t>(i);
    known += known.empty() ? "" : ", ";
    known += entry_points_[i].name;
  }
  return make_error(StatusCode::NotFound, "no entry point \"{}\"; there are: {}", name, known);
}

}  // namespace texloom::hal
