#include "runtime/custom/source_kernel.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/custom/kernel_language.h"
#include "runtime/custom/shapes_like.h"
#include "runtime/custom/size_text.h"

namespace texloom::runtime {
namespace {

std::string kernel_name(std::string_view op) {
  std::string name(op);
  name.replace(name.find("::"), 2, "_");
  return name;
}

constexpr int kMaxAxes = 8;  // of shapes that expressions can name

// The names in expressions: kMaxAxes + 3 for each argument.
std::vector<std::string> names_of(const OperatorInfo& info) {
  std::vector<std::string> names;
  for (const OperatorArgument& argument : info.arguments) {
    for (const char* what : {"width", "height", "places"})
      names.push_back(fmt::format("{}.{}", argument.name, what));
    for (int axis = 0; axis < kMaxAxes; ++axis)
      names.push_back(fmt::format("{}.d{}", argument.name, axis));
  }
  return names;
}

// The values of these names; zero for those that a tensor does not have.
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

// What a recording appends.
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
    TL_ASSIGN_OR_RETURN(
        auto executable,
        context.device->create_executable(
            {.codes = std::move(codes),
             .entry_points = {
                 {.name = name, .params = params_of(text), .workgroup_size = kernel_.workgroup}}}));
    std::vector<bool> is_texture;
    for (const TensorSpec& tensor : context.tensors)
      is_texture.push_back(std::holds_alternative<TextureStorage>(tensor.storage));
    return std::unique_ptr<PreparedCall>(std::make_unique<PreparedKernel>(
        std::move(executable), groups, std::move(is_texture), std::move(numbers)));
  }

 private:
  // Sets the limits of the axes along which the last group has threads too many.
  Result<std::array<std::uint32_t, 3>> groups_of(const std::vector<TensorSpec>& tensors,
                                                 std::array<std::int64_t, 3>& limits) const {
    const std::vector<std::int64_t> values = values_of(tensors);
    std::array<std::uint32_t, 3> groups = {};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t size = kernel_.workgroup[axis];
      const auto threads = threads_[axis].at(values);
      if (!threads.ok())
        return threads.status().with_context(
            fmt::format("threads[{}] = \"{}\"", axis, kernel_.threads[axis]));
      const std::int64_t count = std::max<std::int64_t>(*threads, 0);
      if (count > std::numeric_limits<std::int32_t>::max())
        return invalid_argument("threads[{}] = \"{}\" is {}, beyond 32 bits", axis,
                                kernel_.threads[axis], count);
      groups[axis] = static_cast<std::uint32_t>((count + size - 1) / size);
      if (count % size != 0) limits[axis] = count;
    }
    return groups;
  }

  SourceKernel kernel_;
  std::array<hal::Size, 3> threads_;
};

Status check(const SourceKernel& kernel) {
  for (const OperatorArgument& each : kernel.info.arguments) {
    if (each.storage == ArgumentStorage::Any)
      return invalid_argument(
          "argument \"{}\": a source kernel needs its storage; help: say buffer or texture",
          each.name);
    if (each.storage == ArgumentStorage::Texture && each.access == hal::Access::ReadWrite)
      return invalid_argument(
          "argument \"{}\": no kernel reads and writes one texture; help: make it a buffer, or "
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
  for (const std::uint32_t size : kernel.workgroup)
    if (size == 0) return invalid_argument("workgroup: a work group has at least 1 thread");
  return {};
}

}  // namespace

Result<std::shared_ptr<const CustomOperator>> make_source_operator(SourceKernel kernel) {
  TL_RETURN_IF_ERROR(validate(kernel.info));
  const std::string context = fmt::format("operator \"{}\"", kernel.info.name);
  TL_RETURN_IF_ERROR(check(kernel).with_context(context));
  const std::vector<std::string> names = names_of(kernel.info);
  std::array<hal::Size, 3> threads = {1, 1, 1};
  for (std::size_t axis = 0; axis < threads.size(); ++axis) {
    const auto size = parse_size(kernel.threads[axis], names);
    if (!size.ok())
      return size.status().with_context(fmt::format("{}: threads[{}]", context, axis));
    threads[axis] = *size;
  }
  return std::shared_ptr<const CustomOperator>(
      std::make_shared<SourceOperator>(std::move(kernel), std::move(threads)));
}

}  // namespace texloom::runtime
