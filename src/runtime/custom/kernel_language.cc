#include "runtime/custom/kernel_language.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <variant>

namespace texloom::runtime {
namespace {

using hal::ElementType;

// The words that do not depend on the arguments. `tl_load(x, …)` becomes `tl_load_x(…)`, which is
// defined for each argument. Parameters begin with "tl_", which no argument does: in the definition
// for an argument named `v`, a parameter `v` would replace it.
constexpr std::string_view kWords = R"(
#define tl_load(tl_t, tl_col, tl_row) tl_load_##tl_t(tl_col, tl_row)
#define tl_store(tl_t, tl_col, tl_row, tl_v) tl_store_##tl_t(tl_col, tl_row, tl_v)
#define tl_get(tl_b, tl_i) tl_get_##tl_b(tl_i)
#define tl_put(tl_b, tl_i, tl_v) tl_put_##tl_b(tl_i, tl_v)
#define tl_type(tl_t) tl_type_##tl_t
#define tl_texel(tl_t) tl_texel_##tl_t
#define tl_width(tl_t) tl_width_##tl_t
#define tl_height(tl_t) tl_height_##tl_t
#define tl_extent(tl_t, tl_axis) tl_extent_##tl_t##_##tl_axis
)";

// One language. In the formats, {0} is the argument's name.
struct Language {
  hal::KernelFormat format;
  std::vector<std::string> build_options;
  std::string_view prelude;                      // ids, samplers
  std::string_view double_prelude;               // if a tensor is float64
  std::string_view kernel;                       // {0}: the kernel's name, {1}: its parameters
  std::string_view read_buffer, write_buffer;    // parameters; {1}: the type
  std::string_view read_texture, write_texture;  // parameters
  std::string_view number;                       // a parameter; {1}: the type
  std::string_view load, store;                  // macros of textures; {1}: suffix of the type
  std::string_view get, put;                     // macros of buffers; {1}: the stored type
  std::string_view get_half, put_half;
};

// The table of spellings: one row per language.
const Language& opencl_c() {
  static const Language language = {
      .format = hal::KernelFormat::OpenClC,
      .build_options = {"-cl-std=CL1.2"},
      .prelude = R"(#define tl_global_id(axis) ((int)get_global_id(axis))
#define tl_local_id(axis) ((int)get_local_id(axis))
#define tl_group_id(axis) ((int)get_group_id(axis))
__constant sampler_t tl_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
)",
      .double_prelude = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
      .kernel = "__kernel void {0}({1})",
      .read_buffer = "__global const {1}* {0}",
      .write_buffer = "__global {1}* {0}",
      .read_texture = "__read_only image2d_t {0}, int {0}_tl_x, int {0}_tl_y",
      .write_texture = "__write_only image2d_t {0}, int {0}_tl_x, int {0}_tl_y",
      .number = "{1} {0}",
      .load =
          "#define tl_load_{0}(tl_col, tl_row) read_image{1}({0}, tl_sampler, "
          "(int2)((tl_col) + {0}_tl_x, (tl_row) + {0}_tl_y))\n",
      .store =
          "#define tl_store_{0}(tl_col, tl_row, tl_v) write_image{1}({0}, "
          "(int2)((tl_col) + {0}_tl_x, (tl_row) + {0}_tl_y), tl_v)\n",
      .get = "#define tl_get_{0}(tl_i) ({0}[tl_i])\n",
      .put = "#define tl_put_{0}(tl_i, tl_v) ({0}[tl_i] = (tl_v))\n",
      .get_half = "#define tl_get_{0}(tl_i) vload_half(tl_i, {0})\n",
      .put_half = "#define tl_put_{0}(tl_i, tl_v) vstore_half_rte(tl_v, tl_i, {0})\n",
  };
  return language;
}

bool is_texture(const TensorSpec& tensor) {
  return std::holds_alternative<TextureStorage>(tensor.storage);
}

// "f", "i" or "ui": what the texels of a format are read as.
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

// The type of a value that a load returns.
std::string_view value_type(const TensorSpec& tensor) {
  if (const auto* texture = std::get_if<TextureStorage>(&tensor.storage)) {
    const std::string_view suffix = suffix_of(texture->format);
    return suffix == "f" ? "float" : suffix == "i" ? "int" : "uint";
  }
  return tensor.element == ElementType::Float16 ? "float" : stored_type(tensor.element);
}

void add_texture_words(const Language& language, const OperatorArgument& argument,
                       const TextureStorage& storage, std::string& text) {
  const auto out = std::back_inserter(text);
  const std::string_view suffix = suffix_of(storage.format);
  fmt::format_to(out, fmt::runtime(hal::writes(argument.access) ? language.store : language.load),
                 argument.name, suffix);
  fmt::format_to(out, "#define tl_width_{0} {1}\n#define tl_height_{0} {2}\n", argument.name,
                 storage.extent.width, storage.extent.height);
}

void add_buffer_words(const Language& language, const OperatorArgument& argument,
                      ElementType element, std::string& text) {
  const auto out = std::back_inserter(text);
  const bool is_half = element == ElementType::Float16;
  if (hal::reads(argument.access))
    fmt::format_to(out, fmt::runtime(is_half ? language.get_half : language.get), argument.name);
  if (hal::writes(argument.access))
    fmt::format_to(out, fmt::runtime(is_half ? language.put_half : language.put), argument.name);
}

// The words of the arguments.
std::string words_of(const Language& language, const KernelText& kernel) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const OperatorArgument& argument = kernel.arguments[i];
    const TensorSpec& tensor = kernel.tensors[i];
    fmt::format_to(out, "#define tl_type_{0} {1}\n#define tl_texel_{0} {1}4\n", argument.name,
                   value_type(tensor));
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

std::string parameters_of(const Language& language, const KernelText& kernel) {
  std::string text;
  const auto add = [&](std::string_view format, std::string_view name, std::string_view type) {
    if (!text.empty()) text += ", ";
    fmt::format_to(std::back_inserter(text), fmt::runtime(format), name, type);
  };
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const OperatorArgument& argument = kernel.arguments[i];
    const bool writes = hal::writes(argument.access);
    if (is_texture(kernel.tensors[i])) {
      add(writes ? language.write_texture : language.read_texture, argument.name, {});
    } else {
      add(writes ? language.write_buffer : language.read_buffer, argument.name,
          stored_type(kernel.tensors[i].element));
    }
  }
  for (const hal::ConstantParam& each : kernel.numbers)
    add(language.number, each.name, stored_type(each.type));
  return text;
}

hal::KernelCode code_of(const Language& language, const KernelText& kernel) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const TensorSpec& tensor : kernel.tensors) {
    if (tensor.element != ElementType::Float64) continue;
    text += language.double_prelude;
    break;
  }
  text += language.prelude;
  text += kWords;
  text += words_of(language, kernel);
  fmt::format_to(out, fmt::runtime(language.kernel), kernel.name, parameters_of(language, kernel));
  text += " {\n";
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
    return invalid_argument("argument \"{}\": kernels have no type {}; help: convert it first",
                            kernel.arguments[i].name, hal::to_string(kernel.tensors[i].element));
  }
  return std::vector<hal::KernelCode>{code_of(opencl_c(), kernel)};
}

}  // namespace texloom::runtime
