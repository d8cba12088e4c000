#include "runtime/custom/source_kernel.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/custom/body_check.h"
#include "runtime/custom/kernel_language.h"
#include "runtime/custom/shapes_like.h"
#include "runtime/custom/size_text.h"
#include "support/identifiers.h"

namespace texloom::runtime {
namespace {

std::string kernel_name(std::string_view op) {
  std::string name(op);
  name.replace(name.find("::"), 2, "_");
  std::replace(name.begin(), name.end(), '.', '_');  // the dots of the domain
  return name;
}

// A name for a size of a tensor in an expression.
struct SizeName {
  std::size_t argument;
  std::string_view what;  // "width", "height", "places"; "d" of an axis
  std::size_t axis = 0;
};

constexpr std::size_t kMaxAxes = 8;  // of shapes that expressions can name

// The names in expressions, by number.
std::vector<SizeName> size_names(std::size_t arguments) {
  std::vector<SizeName> names;
  for (std::size_t argument = 0; argument < arguments; ++argument) {
    for (const char* what : {"width", "height", "places"}) names.push_back({argument, what});
    for (std::size_t axis = 0; axis < kMaxAxes; ++axis) names.push_back({argument, "d", axis});
  }
  return names;
}

std::vector<std::string> texts_of(const std::vector<SizeName>& names, const OperatorInfo& info) {
  std::vector<std::string> texts;
  for (const SizeName& each : names) {
    texts.push_back(fmt::format("{}.{}", info.arguments[each.argument].name, each.what));
    if (each.what == "d") texts.back() += fmt::format("{}", each.axis);
  }
  return texts;
}

// The names that occur in an expression.
std::vector<SizeName> names_in(const hal::Size& size, const std::vector<SizeName>& names) {
  std::vector<SizeName> used;
  for (const hal::Size::Step& step : size.steps())
    if (step.op == hal::Size::Op::Symbol)
      used.push_back(names[static_cast<std::size_t>(step.value)]);
  return used;
}

Status no_threads(std::int64_t count) {
  return invalid_argument(
      "is {}, so no thread would run; help: use an expression of at least 1, and round up where it "
      "divides: (n + 3) / 4",
      count);
}

std::string named(std::size_t axis, const SourceKernel& kernel) {
  return fmt::format("threads[{}] = \"{}\"", axis, kernel.threads[axis]);
}

// InvalidArgument if an argument lacks a size that the expression names (buffers have no texels),
// or if the expression is a constant below 1.
Status check_declared(const hal::Size& size, const OperatorInfo& info) {
  for (const SizeName& each : names_in(size, size_names(info.arguments.size()))) {
    const OperatorArgument& argument = info.arguments[each.argument];
    if ((each.what == "width" || each.what == "height") &&
        argument.storage == ArgumentStorage::Buffer)
      return invalid_argument("\"{0}\" is a buffer: it has no {1}; help: use {0}.places or {0}.d0",
                              argument.name, each.what);
  }
  if (size.symbol_count() > 0) return {};
  TL_ASSIGN_OR_RETURN(const std::int64_t count, size.at({}));
  if (count <= 0) return no_threads(count);
  return {};
}

// InvalidArgument if a tensor of the call lacks an axis that the expression names.
Status check_axes(const hal::Size& size, const OperatorInfo& info,
                  const std::vector<TensorSpec>& tensors) {
  for (const SizeName& each : names_in(size, size_names(info.arguments.size()))) {
    const std::size_t axes = tensors[each.argument].layout.shape.size();
    if (each.what != "d" || each.axis < axes) continue;
    const std::string& name = info.arguments[each.argument].name;
    const std::string known = axes == 0 ? fmt::format("{}.places", name)
                                        : fmt::format("{0}.d0 to {0}.d{1}", name, axes - 1);
    return invalid_argument("the shape of \"{}\" has {} extents, so it has no d{}; help: use {}",
                            name, axes, each.axis, known);
  }
  return {};
}

// The values of size_names(). Sizes that a tensor does not have are zero; other checks refuse them.
std::vector<std::int64_t> values_of(const std::vector<TensorSpec>& tensors) {
  std::vector<std::int64_t> values;
  for (const TensorSpec& tensor : tensors) {
    const auto* texture = std::get_if<TextureStorage>(&tensor.storage);
    values.push_back(texture == nullptr ? 0 : texture->extent.width);
    values.push_back(texture == nullptr ? 0 : texture->extent.height);
    values.push_back(tensor.layout.places());
    for (std::size_t axis = 0; axis < kMaxAxes; ++axis)
      values.push_back(axis < tensor.layout.shape.size() ? tensor.layout.shape[axis] : 0);
  }
  return values;
}

Result<hal::Constant> constant_of(const Attribute& attribute) {
  if (const auto* number = std::get_if<double>(&attribute.value))
    return hal::Constant(static_cast<float>(*number));
  const std::int64_t value = std::get<std::int64_t>(attribute.value);
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max())
    return invalid_argument("the attribute \"{}\" is {}, which 32 bits cannot hold", attribute.name,
                            value);
  return hal::Constant(static_cast<std::int32_t>(value));
}

// Adds help for the author of the body to an error of making the kernel.
Status advised(const Status& status, std::string_view kernel, std::string_view body,
               const hal::DeviceInfo& device) {
  const bool is_missing = status.code() == StatusCode::Unimplemented;
  if (is_missing && device.driver == "metal" && has_vector_literal(body))
    return make_error(
        status.code(),
        "the body has a vector literal of OpenCL C, such as (float4)(a, b, c, d), "
        "which has another meaning in Metal's language; help: write tl_four(x, a, b, c, d), or "
        "convert by tl_texel(x)");
  if (is_missing)
    return make_error(
        status.code(),
        "a source kernel is text for a compiler of OpenCL C or MSL, and devices of \"{}\" have "
        "none; help: load the program on a device of \"opencl\", or register a host operator with "
        "this name and version",
        device.driver);
  if (status.code() != StatusCode::BuildFailed) return status;
  const std::string& message = status.message();
  const std::string log = message.substr(0, message.find_last_not_of(" \n") + 1);
  if (log.find(fmt::format("{}:", kernel)) == std::string::npos)
    return make_error(status.code(),
                      "{}; help: correct the body if the log is about it; "
                      "docs/custom_operators.md lists the words that begin with \"tl_\"",
                      log);
  return make_error(status.code(),
                    "{}; help: correct the body: \"{}:N\" in the log is line N of the body, and "
                    "docs/custom_operators.md lists the words that begin with \"tl_\"",
                    log, kernel);
}

// A prepared call: its recording appends one dispatch of the kernel.
class PreparedKernel final : public PreparedCall {
 public:
  PreparedKernel(std::shared_ptr<hal::Executable> executable, std::array<std::uint32_t, 3> groups,
                 std::vector<bool> is_texture, std::vector<hal::Constant> numbers)
      : executable_(std::move(executable)),
        groups_(groups),
        is_texture_(std::move(is_texture)),
        numbers_(std::move(numbers)) {}

  Status encode(const EncodeContext& context) const override {
    std::vector<hal::Constant> constants;
    for (std::size_t i = 0; i < is_texture_.size(); ++i) {
      if (!is_texture_[i]) continue;
      constants.emplace_back(static_cast<std::int32_t>(context.origins[i].x));
      constants.emplace_back(static_cast<std::int32_t>(context.origins[i].y));
    }
    constants.insert(constants.end(), numbers_.begin(), numbers_.end());
    return context.commands.dispatch_with_table(executable_, 0, groups_, context.tensors,
                                                constants);
  }

 private:
  std::shared_ptr<hal::Executable> executable_;
  std::array<std::uint32_t, 3> groups_;
  std::vector<bool> is_texture_;  // by argument
  std::vector<hal::Constant> numbers_;
};

class SourceOperator final : public CustomOperator {
 public:
  SourceOperator(SourceKernel kernel, std::array<hal::Size, 3> threads)
      : kernel_(std::move(kernel)), threads_(std::move(threads)) {}

  const OperatorInfo& info() const override { return kernel_.info; }

  Result<std::vector<TensorType>> shapes(std::span<const TensorType> inputs,
                                         const Attributes& attributes) const override {
    static_cast<void>(attributes);
    return shapes_like(info(), kernel_.like, inputs);
  }

  Result<std::unique_ptr<PreparedCall>> prepare(PrepareContext& context) const override {
    TL_RETURN_IF_ERROR(check_outputs(context));
    KernelText text{.name = {},
                    .body = kernel_.body,
                    .arguments = info().arguments,
                    .tensors = context.tensors,
                    .numbers = {}};
    const std::string name = kernel_name(info().name);
    text.name = name;
    std::vector<hal::ConstantParam> params;
    std::vector<hal::Constant> numbers;
    for (const Attribute& each : context.attributes.values()) {
      TL_ASSIGN_OR_RETURN(const hal::Constant number, constant_of(each));
      params.push_back({each.name, number.type()});
      numbers.push_back(number);
    }
    text.numbers = params;
    TL_ASSIGN_OR_RETURN(const auto groups, groups_of(context.tensors, text.limits));
    TL_ASSIGN_OR_RETURN(auto codes, codes_of(text));
    auto built = context.device->create_executable(
        {.codes = std::move(codes),
         .entry_points = {
             {.name = name, .params = params_of(text), .workgroup_size = kernel_.workgroup}}});
    if (!built.ok()) return advised(built.status(), name, kernel_.body, context.device->info());
    std::shared_ptr<hal::Executable> executable = *std::move(built);
    std::vector<bool> is_texture;
    for (const TensorSpec& tensor : context.tensors)
      is_texture.push_back(std::holds_alternative<TextureStorage>(tensor.storage));
    return std::unique_ptr<PreparedCall>(std::make_unique<PreparedKernel>(
        std::move(executable), groups, std::move(is_texture), std::move(numbers)));
  }

 private:
  // Refuses outputs with another shape than the operator computes. The number of threads comes from
  // the computed shapes, so the body could write beyond the end of a smaller output.
  Status check_outputs(const PrepareContext& context) const {
    std::vector<TensorType> inputs;
    for (std::size_t i = 0; i < info().arguments.size(); ++i)
      if (hal::reads(info().arguments[i].access))
        inputs.push_back({context.tensors[i].element, context.tensors[i].layout.shape});
    if (inputs.empty()) return {};
    TL_ASSIGN_OR_RETURN(const auto computed, shapes(inputs, context.attributes));
    auto next = computed.begin();
    for (std::size_t i = 0; i < info().arguments.size(); ++i) {
      if (hal::reads(info().arguments[i].access)) continue;
      const auto& wanted = (next++)->shape;
      const auto& shape = context.tensors[i].layout.shape;
      if (shape != wanted)
        return invalid_argument(
            "argument \"{}\" has the shape ({}), but the operator computes ({}); help: give a "
            "tensor of the computed shape, or declare by like= the input whose shape it has",
            info().arguments[i].name, fmt::join(shape, ", "), fmt::join(wanted, ", "));
    }
    return {};
  }

  // The threads along an axis. No tensor is empty, so a kernel without threads is a mistake.
  Result<std::int64_t> count_of(std::size_t axis, const std::vector<TensorSpec>& tensors) const {
    TL_RETURN_IF_ERROR(check_axes(threads_[axis], info(), tensors));
    TL_ASSIGN_OR_RETURN(const std::int64_t count, threads_[axis].at(values_of(tensors)));
    if (count <= 0) return no_threads(count);
    if (count > std::numeric_limits<std::int32_t>::max())
      return invalid_argument("is {}, which 32 bits cannot hold", count);
    return count;
  }

  // Sets the limits of the axes along which the last group has too many threads.
  Result<std::array<std::uint32_t, 3>> groups_of(const std::vector<TensorSpec>& tensors,
                                                 std::array<std::int64_t, 3>& limits) const {
    std::array<std::uint32_t, 3> groups = {};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t size = kernel_.workgroup[axis];
      const Result<std::int64_t> count = count_of(axis, tensors);
      if (!count.ok()) return count.status().with_context(named(axis, kernel_));
      groups[axis] = static_cast<std::uint32_t>((*count + size - 1) / size);
      if (*count % size != 0) limits[axis] = *count;
    }
    return groups;
  }

  SourceKernel kernel_;
  std::array<hal::Size, 3> threads_;
};

// Refuses names that the kernel's text cannot have.
Status check_names(const OperatorInfo& info) {
  std::vector<std::string_view> names;
  for (const OperatorArgument& each : info.arguments) names.push_back(each.name);
  for (const AttributeSpec& each : info.attributes) names.push_back(each.name);
  for (const std::string_view name : names) {
    if (words_that_no_parameter_has().contains(name))
      return invalid_argument(
          "\"{0}\" is a reserved word of kernel languages, so it cannot name an argument or "
          "attribute; help: choose another name, such as \"{0}_value\"",
          name);
    if (name.find("_tl_") != std::string_view::npos)
      return invalid_argument(
          "\"{}\": \"_tl_\" is reserved for names of kernels; help: leave it out", name);
  }
  return {};
}

Status check(const SourceKernel& kernel) {
  TL_RETURN_IF_ERROR(check_names(kernel.info));
  for (const OperatorArgument& each : kernel.info.arguments) {
    if (each.storage == ArgumentStorage::Any)
      return invalid_argument(
          "argument \"{}\": a source kernel needs its storage; help: declare it as a buffer or "
          "texture",
          each.name);
    if (each.storage == ArgumentStorage::Texture && each.access == hal::Access::ReadWrite)
      return invalid_argument(
          "argument \"{}\": a kernel cannot read and write one texture; help: make it a buffer, or "
          "read one texture and write another",
          each.name);
  }
  for (const AttributeSpec& each : kernel.info.attributes) {
    if (each.type == AttributeType::Text)
      return invalid_argument("attribute \"{}\": a kernel takes numbers, not text", each.name);
  }
  if (kernel.info.device == OperatorDevice::Host)
    return invalid_argument(
        "a source kernel does not work on the host; help: use the program's "
        "device");
  TL_RETURN_IF_ERROR(check_like(kernel.info, kernel.like));
  if (kernel.body.empty()) return invalid_argument("the body is empty");
  TL_RETURN_IF_ERROR(check_body(kernel.body, kernel.info.arguments));
  for (const std::uint32_t size : kernel.workgroup)
    if (size == 0)
      return invalid_argument(
          "workgroup: a work group must have at least 1 thread along each axis");
  return {};
}

}  // namespace

Result<std::shared_ptr<const CustomOperator>> make_source_operator(SourceKernel kernel) {
  TL_RETURN_IF_ERROR(validate(kernel.info));
  const std::string context = fmt::format("operator \"{}\"", kernel.info.name);
  TL_RETURN_IF_ERROR(check(kernel).with_context(context));
  const std::vector<std::string> names =
      texts_of(size_names(kernel.info.arguments.size()), kernel.info);
  std::array<hal::Size, 3> threads = {1, 1, 1};
  for (std::size_t axis = 0; axis < threads.size(); ++axis) {
    const auto size = parse_size(kernel.threads[axis], names);
    if (!size.ok())
      return size.status().with_context(fmt::format("{}: threads[{}]", context, axis));
    TL_RETURN_IF_ERROR(check_declared(*size, kernel.info)
                           .with_context(fmt::format("{}: {}", context, named(axis, kernel))));
    threads[axis] = *size;
  }
  return std::shared_ptr<const CustomOperator>(
      std::make_shared<SourceOperator>(std::move(kernel), std::move(threads)));
}

}  // namespace texloom::runtime
