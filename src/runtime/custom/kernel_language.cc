#include "runtime/custom/kernel_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

#include "runtime/custom/body_check.h"
#include "runtime/custom/kernel_spellings.h"

namespace texloom::runtime {
namespace {

using hal::ElementType;

// The macros for kernel bodies that do not depend on the arguments. `tl_load(x, …)` becomes
// `tl_load_x(…)`, which is defined for each argument. Macro parameters begin with "tl_", unlike
// every argument: otherwise a parameter `v` would replace an argument named `v`.
constexpr std::string_view kLanguageWords = R"(
#define tl_load(tl_t, tl_col, tl_row) tl_load_##tl_t(tl_col, tl_row)
#define tl_store(tl_t, tl_col, tl_row, tl_v) tl_store_##tl_t(tl_col, tl_row, tl_v)
#define tl_get(tl_b, tl_i) tl_get_##tl_b(tl_i)
#define tl_put(tl_b, tl_i, tl_v) tl_put_##tl_b(tl_i, tl_v)
#define tl_type(tl_t) tl_type_##tl_t
#define tl_texel(tl_t) tl_texel_##tl_t
#define tl_four(tl_t, tl_a, tl_b, tl_c, tl_d) tl_four_##tl_t(tl_a, tl_b, tl_c, tl_d)
#define tl_width(tl_t) tl_width_##tl_t
#define tl_height(tl_t) tl_height_##tl_t
#define tl_extent(tl_t, tl_axis) tl_extent_##tl_t##_##tl_axis
)";

bool is_texture(const TensorSpec& tensor) {
  return std::holds_alternative<TextureStorage>(tensor.storage);
}

// "f", "i" or "ui": the suffix for the type as which kernels read texels of the format.
std::string_view suffix_of(hal::TexelFormat format) {
  const ElementType channel = hal::channel_type(format);
  if (hal::is_normalized(format) || channel == ElementType::Float16 ||
      channel == ElementType::Float32)
    return "f";
  const bool is_unsigned = channel == ElementType::UInt8 || channel == ElementType::UInt16 ||
                           channel == ElementType::UInt32;
  return is_unsigned ? "ui" : "i";
}

// The stored type of a buffer's elements; empty if there is none.
std::string_view stored_type(ElementType type) {
  switch (type) {
    case ElementType::Bool:
    case ElementType::UInt8:
      return "uchar";
    case ElementType::Int8:
      return "char";
    case ElementType::Int16:
      return "short";
    case ElementType::Int32:
      return "int";
    case ElementType::Int64:
      return "long";
    case ElementType::UInt16:
      return "ushort";
    case ElementType::UInt32:
      return "uint";
    case ElementType::UInt64:
      return "ulong";
    case ElementType::Float16:
      return "half";
    case ElementType::Float32:
      return "float";
    case ElementType::Float64:
      return "double";
    case ElementType::BFloat16:
      break;
  }
  return {};
}

bool has_float64(const KernelText& kernel) {
  return std::any_of(kernel.tensors.begin(), kernel.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.element == ElementType::Float64;
  });
}

// The type of a value that a load returns.
std::string_view value_type(const TensorSpec& tensor) {
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    const std::string_view suffix = suffix_of(texture->format);
    return suffix == "f" ? "float" : suffix == "i" ? "int" : "uint";
  }
  return tensor.element == ElementType::Float16 ? "float" : stored_type(tensor.element);
}

void add_texture_words(const KernelSpelling& language, const OperatorArgument& argument,
                       const TextureStorage& storage, std::string& text) {
  const auto out = std::back_inserter(text);
  const std::string_view suffix = suffix_of(storage.format);
  fmt::format_to(out, fmt::runtime(hal::writes(argument.access) ? language.store : language.load),
                 argument.name, suffix);
  fmt::format_to(out, "#define tl_width_{0} {1}\n#define tl_height_{0} {2}\n", argument.name,
                 storage.extent.width, storage.extent.height);
}

void add_buffer_words(const KernelSpelling& language, const OperatorArgument& argument,
                      ElementType element, std::string& text) {
  const auto out = std::back_inserter(text);
  const bool is_half = element == ElementType::Float16;
  if (hal::reads(argument.access))
    fmt::format_to(out, fmt::runtime(is_half ? language.get_half : language.get), argument.name);
  if (hal::writes(argument.access))
    fmt::format_to(out, fmt::runtime(is_half ? language.put_half : language.put), argument.name);
}

// Defines the macros for kernel bodies that depend on the arguments.
std::string words_of(const KernelSpelling& language, const KernelText& kernel) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const OperatorArgument& argument = kernel.arguments[i];
    const TensorSpec& tensor = kernel.tensors[i];
    fmt::format_to(out, "#define tl_type_{0} {1}\n#define tl_texel_{0} {1}4\n", argument.name,
                   value_type(tensor));
    fmt::format_to(out, fmt::runtime(language.four), argument.name, value_type(tensor));
    if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
      add_texture_words(language, argument, *texture, text);
    } else {
      add_buffer_words(language, argument, tensor.element, text);
    }
    for (std::size_t axis = 0; axis < tensor.layout.shape.size(); ++axis)
      fmt::format_to(out, "#define tl_extent_{}_{} {}\n", argument.name, axis,
                     tensor.layout.shape[axis]);
  }
  return text;
}

// The parts of a kernel that follow from its parameters.
struct Signature {
  std::string parameters;
  std::string constants;  // the structure with the constants, or empty
  std::string bound;      // lines that declare the constants as variables of the kernel
};

Signature signature_of(const KernelSpelling& language, const KernelText& kernel) {
  Signature signature;
  std::string members;
  int buffers = 0, textures = 0;
  const auto add = [&](std::string_view text) {
    if (!signature.parameters.empty() && !text.empty()) signature.parameters += ", ";
    signature.parameters += text;
  };
  const bool in_structure = !language.constants.empty();
  std::size_t next = 0;  // argument
  for (const hal::KernelParam& param : params_of(kernel)) {
    if (const auto* constant = std::get_if<hal::ConstantParam>(&param)) {
      const std::string_view type = stored_type(constant->type);
      const std::string text = fmt::format(fmt::runtime(language.constant), constant->name, type);
      if (in_structure) {
        members += text;
        signature.bound += fmt::format(fmt::runtime(language.bound_constant), constant->name, type);
      } else {
        add(text);
      }
      continue;
    }
    const OperatorArgument& argument = kernel.arguments[next];
    const TensorSpec& tensor = kernel.tensors[next++];
    const bool writes = hal::writes(argument.access);
    if (is_texture(tensor)) {
      add(fmt::format(fmt::runtime(writes ? language.write_texture : language.read_texture),
                      argument.name, value_type(tensor), textures++));
    } else {
      add(fmt::format(fmt::runtime(writes ? language.write_buffer : language.read_buffer),
                      argument.name, stored_type(tensor.element), buffers++));
    }
  }
  if (!members.empty()) {
    signature.constants = fmt::format(fmt::runtime(language.constants), members);
    add(fmt::format(fmt::runtime(language.constants_parameter), buffers));
  }
  add(language.last_parameters);
  return signature;
}

hal::KernelCode code_of(const KernelSpelling& language, const KernelText& kernel) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (has_float64(kernel)) text += language.double_prelude;
  text += language.prelude;
  text += kLanguageWords;
  text += words_of(language, kernel);
  const Signature signature = signature_of(language, kernel);
  text += signature.constants;
  fmt::format_to(out, fmt::runtime(language.kernel), kernel.name, signature.parameters);
  text += " {\n";
  text += signature.bound;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (kernel.limits[axis] > 0)
      fmt::format_to(out, "  if (tl_global_id({}) >= {}) return;\n", axis, kernel.limits[axis]);
  }
  fmt::format_to(out, "  {{\n#line 1 \"{}\"\n{}\n  }}\n}}\n", kernel.name, kernel.body);
  return {language.format, std::move(text), language.build_options};
}

}  // namespace

std::vector<hal::KernelParam> params_of(const KernelText& kernel) {
  std::vector<hal::KernelParam> params;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const OperatorArgument& argument = kernel.arguments[i];
    const TensorSpec& tensor = kernel.tensors[i];
    if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
      params.emplace_back(hal::TextureParam{.name = argument.name,
                                            .format = texture->format,
                                            .access = argument.access,
                                            .min_extent = texture->extent,
                                            .origin = hal::TextureOrigin::Constants});
      for (const char* axis : {"x", "y"})
        params.emplace_back(hal::ConstantParam{fmt::format("{}_tl_{}", argument.name, axis)});
    } else {
      params.emplace_back(hal::BufferParam{
          .name = argument.name, .access = argument.access, .min_bytes = bytes_of(tensor.storage)});
    }
  }
  for (const hal::ConstantParam& each : kernel.numbers) params.emplace_back(each);
  return params;
}

Result<std::vector<hal::KernelCode>> codes_of(const KernelText& kernel) {
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (is_texture(kernel.tensors[i]) || !stored_type(kernel.tensors[i].element).empty()) continue;
    return invalid_argument(
        "argument \"{}\": kernels have no type {}; help: convert the tensor to another type first",
        kernel.arguments[i].name, hal::to_string(kernel.tensors[i].element));
  }
  std::vector<hal::KernelCode> codes;
  for (const KernelSpelling& language : kernel_spellings()) {
    if (!language.has_float64 && has_float64(kernel)) continue;
    if (!language.has_vector_literals && has_vector_literal(kernel.body)) continue;
    codes.push_back(code_of(language, kernel));
  }
  return codes;
}

}  // namespace texloom::runtime
