#include "runtime/hal/executable.h"

namespace texloom::hal {

std::string_view name_of(const KernelParam& param) {
  return std::visit([](const auto& p) -> std::string_view { return p.name; }, param);
}

std::string describe(const KernelParam& param) {
  if (const auto* texture = std::get_if<TextureParam>(&param))
    return fmt::format("a texture {}", to_string(texture->format));
  if (const auto* constant = std::get_if<ConstantParam>(&param))
    return fmt::format("a constant {}", to_string(constant->type));
  return "a buffer";
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
