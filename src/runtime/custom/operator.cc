#include "runtime/custom/operator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "runtime/custom/no_exceptions.h"
#include "support/identifiers.h"

namespace texloom::runtime {
namespace {

// Identifiers with dots between them, such as com.microsoft.
bool is_domain(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return is_identifier(name);
  return is_identifier(name.substr(0, dot)) && is_domain(name.substr(dot + 1));
}

// Whether the axes of the layout's digits (TensorLayout) occur in `axes`, in the order of the
// digits. Digits of extent 1 do not count.
bool occur_in(const std::vector<std::uint32_t>& axes, const std::vector<LayoutDigit>& digits) {
  auto at = axes.begin();
  for (const LayoutDigit& digit : digits) {
    if (digit.extent == 1) continue;
    // Consecutive digits may belong to one axis.
    at = std::find(at, axes.end(), digit.axis);
    if (at == axes.end()) return false;
  }
  return true;
}

template <AttributeType type, class Alternative>
constexpr bool kIsAlternative =
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(type), AttributeValue>,
                   Alternative>;
static_assert(kIsAlternative<AttributeType::Integer, std::int64_t>);
static_assert(kIsAlternative<AttributeType::Float, double>);
static_assert(kIsAlternative<AttributeType::Text, std::string>);
static_assert(std::variant_size_v<AttributeValue> == 3);

AttributeType type_of(const AttributeValue& value) {
  return static_cast<AttributeType>(value.index());
}

Status check_name(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons != std::string_view::npos && is_domain(name.substr(0, colons)) &&
      is_identifier(name.substr(colons + 2)))
    return {};
  return invalid_argument(
      "\"{}\" is not a name of an operator; help: name it \"domain::name\", such as \"mine::relu\"",
      name);
}

Status check_member_names(const OperatorInfo& info) {
  std::vector<std::string_view> names;
  for (const OperatorArgument& each : info.arguments) names.push_back(each.name);
  for (const AttributeSpec& each : info.attributes) names.push_back(each.name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_identifier(names[i]) || names[i].starts_with("tl_"))
      return invalid_argument(
          "\"{}\" is not a name of an argument or attribute; help: use letters, digits and \"_\", "
          "without \"tl_\" at the beginning",
          names[i]);
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      return invalid_argument("two arguments or attributes have the name \"{}\"", names[i]);
  }
  return {};
}

Status check_members(const OperatorInfo& info) {
  if (info.arguments.empty()) return invalid_argument("has no arguments");
  TL_RETURN_IF_ERROR(check_member_names(info));
  for (const auto& variant : info.variants) {
    if (variant.size() != info.arguments.size())
      return invalid_argument("a variant lists {} types for {} arguments", variant.size(),
                              info.arguments.size());
  }
  for (const AttributeSpec& each : info.attributes) {
    if (each.default_value && type_of(*each.default_value) != each.type)
      return invalid_argument("the default value of the attribute \"{}\" is {}, not {}", each.name,
                              to_string(type_of(*each.default_value)), to_string(each.type));
  }
  for (const std::string& driver : info.drivers) {
    if (!is_identifier(driver))
      return invalid_argument(
          "\"{}\" is not a name of a driver; help: use DeviceInfo::driver, such as \"opencl\"",
          driver);
  }
  return {};
}

}  // namespace

std::string_view to_string(OperatorDevice device) {
  return device == OperatorDevice::Host ? "host" : "program";
}

std::string_view to_string(ArgumentStorage storage) {
  constexpr std::array<std::string_view, 3> kNames = {"any", "buffer", "texture"};
  return kNames[static_cast<std::size_t>(storage)];
}

std::string_view to_string(AttributeType type) {
  constexpr std::array<std::string_view, 3> kNames = {"integer", "float", "text"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string to_string(const LayoutPattern& pattern) {
  return fmt::format("rows ({}), cols ({}), lanes ({})", fmt::join(pattern.rows, ", "),
                     fmt::join(pattern.cols, ", "), fmt::join(pattern.lanes, ", "));
}

bool fits(const LayoutPattern& pattern, const TensorLayout& layout) {
  return occur_in(pattern.rows, layout.rows) && occur_in(pattern.cols, layout.cols) &&
         occur_in(pattern.lanes, layout.lanes);
}

Encoding encoding_of(const OperatorInfo& info) {
  if (info.device == OperatorDevice::Host) return Encoding::Host;
  return info.is_native ? Encoding::Native : Encoding::Kernels;
}

Status validate(const OperatorInfo& info) {
  TL_RETURN_IF_ERROR(check_name(info.name));
  return check_members(info).with_context(fmt::format("operator \"{}\"", info.name));
}

Result<Attributes> Attributes::complete(const OperatorInfo& info,
                                        std::span<const Attribute> given) {
  Attributes result;
  for (const AttributeSpec& spec : info.attributes) {
    const auto is_this = [&](const Attribute& each) { return each.name == spec.name; };
    const auto found = std::find_if(given.begin(), given.end(), is_this);
    if (found == given.end()) {
      if (!spec.default_value)
        return invalid_argument("the attribute \"{}\" of type {} is missing", spec.name,
                                to_string(spec.type));
      result.values_.push_back({spec.name, *spec.default_value});
      continue;
    }
    if (std::count_if(given.begin(), given.end(), is_this) > 1)
      return invalid_argument("the attribute \"{}\" is given twice", spec.name);
    AttributeValue value = found->value;
    if (const auto* integer = std::get_if<std::int64_t>(&value);
        integer != nullptr && spec.type == AttributeType::Float)
      value = static_cast<double>(*integer);
    if (type_of(value) != spec.type)
      return invalid_argument("the attribute \"{}\" is {}, got {}", spec.name, to_string(spec.type),
                              to_string(type_of(value)));
    result.values_.push_back({spec.name, std::move(value)});
  }
  for (const Attribute& each : given) {
    const bool known =
        std::any_of(info.attributes.begin(), info.attributes.end(),
                    [&](const AttributeSpec& spec) { return spec.name == each.name; });
    if (known) continue;
    std::vector<std::string_view> names;
    for (const AttributeSpec& spec : info.attributes) names.push_back(spec.name);
    return invalid_argument("has no attribute \"{}\"; help: it has {}", each.name,
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  return result;
}

template <typename T>
Result<T> Attributes::find(std::string_view name, std::string_view type) const {
  for (const Attribute& each : values_) {
    if (each.name != name) continue;
    if (const auto* value = std::get_if<T>(&each.value)) return *value;
  }
  return make_error(StatusCode::NotFound, "the operator declares no attribute \"{}\" of type {}",
                    name, type);
}

Result<std::int64_t> Attributes::integer(std::string_view name) const {
  return find<std::int64_t>(name, "integer");
}
Result<double> Attributes::number(std::string_view name) const {
  return find<double>(name, "float");
}
Result<std::string> Attributes::text(std::string_view name) const {
  return find<std::string>(name, "text");
}

Status EncodeContext::native(hal::EncodeNative encode) const {
  return commands.native(accesses, [caller = fmt::format("operator \"{}\"", name),
                                    encode = std::move(encode)](const hal::NativeCommands& native) {
    return without_exceptions([&] { return encode(native); }).with_context(caller);
  });
}

}  // namespace texloom::runtime
