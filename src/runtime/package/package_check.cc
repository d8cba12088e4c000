#include "runtime/package/package_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/package/layout_check.h"
#include "runtime/package/package_format.h"
#include "runtime/plan/validation.h"
#include "support/utf8.h"

namespace texloom::runtime {
namespace {

using hal::ElementType;

// `what` is "the name of tensor 3".
Status check_text(std::string_view text, std::string_view what,
                  std::size_t max_bytes = kMaxTextBytes) {
  if (text.size() > max_bytes)
    return invalid_argument("{} has {} bytes; {} is the limit", what, text.size(), max_bytes);
  if (!is_plain_text(text))
    return invalid_argument("{} must be valid UTF-8 without control characters", what);
  return {};
}

Status check_name(std::string_view name, std::string_view what, std::size_t number) {
  const std::string whose = fmt::format("the name of {} {}", what, number);
  if (name.empty()) return invalid_argument("{} is empty", whose);
  return check_text(name, whose, kMaxNameBytes);
}

template <class List>
Status check_unique_names(const List& list, std::string_view what) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    TL_RETURN_IF_ERROR(check_name(list[i].name, what, i));
    if (!names.insert(list[i].name).second)
      return invalid_argument("two {}s are named \"{}\"", what, list[i].name);
  }
  return {};
}

Status check_indices(const std::vector<std::uint32_t>& indices, std::size_t count,
                     std::string_view what) {
  for (const std::uint32_t index : indices) {
    if (index >= count)
      return invalid_argument("{}: tensor {} is out of range: there are {}", what, index, count);
  }
  return {};
}

Status check_attributes(const std::vector<Attribute>& attributes) {
  TL_RETURN_IF_ERROR(check_unique_names(attributes, "attribute"));
  for (const Attribute& attribute : attributes) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    if (text != nullptr && !is_utf8(*text))
      return invalid_argument("the attribute \"{}\" must be valid UTF-8", attribute.name);
  }
  return {};
}

// Scalars that hal::Constant can hold.
bool is_scalar_type(ElementType type) {
  switch (type) {
    case ElementType::Int32:
    case ElementType::UInt32:
    case ElementType::Int64:
    case ElementType::UInt64:
    case ElementType::Float32:
    case ElementType::Float64:
      return true;
    default:
      return false;
  }
}

class VariantChecker {
 public:
  VariantChecker(const Package& package, const PackageVariant& variant)
      : package_(package), variant_(variant), plan_(variant.plan) {}

  Status check() const {
    TL_RETURN_IF_ERROR(check_text(variant_.target, "the target"));
    if (!is_utf8(variant_.program)) return invalid_argument("the program must be valid UTF-8");
    TL_RETURN_IF_ERROR(check_counts());
    TL_RETURN_IF_ERROR(check_plan_tensors(plan_.arguments, TensorRef::Kind::Argument));
    TL_RETURN_IF_ERROR(check_plan_tensors(plan_.temporaries, TensorRef::Kind::Temporary));
    TL_RETURN_IF_ERROR(check_plan_tensors(plan_.constants, TensorRef::Kind::Constant));
    TL_RETURN_IF_ERROR(check_scalars());
    TL_RETURN_IF_ERROR(check_modules());
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i)
      TL_RETURN_IF_ERROR(check_kernel(plan_.kernels[i].entry, i));
    for (const SizeCondition& condition : plan_.conditions) {
      TL_RETURN_IF_ERROR(check_text(condition.subject, "the subject of a condition"));
      TL_RETURN_IF_ERROR(check_size(condition.left));
      TL_RETURN_IF_ERROR(check_size(condition.right));
    }
    for (std::size_t i = 0; i < plan_.calls.size(); ++i) {
      TL_RETURN_IF_ERROR(check_name(plan_.calls[i].op, "the operator of call", i));
      TL_RETURN_IF_ERROR(check_attributes(plan_.calls[i].attributes)
                             .with_context(fmt::format("call of \"{}\"", plan_.calls[i].op)));
    }
    TL_RETURN_IF_ERROR(check_step_sizes(plan_.steps));
    TL_RETURN_IF_ERROR(validate(plan_));
    return check_stores();
  }

 private:
  Status check_counts() const {
    if (plan_.symbols != package_.symbols)
      return invalid_argument("its symbols are ({}), but those of the package are ({})",
                              fmt::join(plan_.symbols, ", "), fmt::join(package_.symbols, ", "));
    if (variant_.stores.size() != package_.tensors.size())
      return invalid_argument("it places {} tensors, but the package has {}",
                              variant_.stores.size(), package_.tensors.size());
    if (variant_.constants.size() != plan_.constants.size())
      return invalid_argument("it has the values of {} constants, but the plan has {}",
                              variant_.constants.size(), plan_.constants.size());
    if (plan_.temporaries.size() > kMaxTemporaries)
      return invalid_argument("it has {} temporaries; {} is the limit", plan_.temporaries.size(),
                              kMaxTemporaries);
    if (variant_.nodes.size() != plan_.steps.size())
      return invalid_argument("it has the nodes of {} steps, but the plan has {}",
                              variant_.nodes.size(), plan_.steps.size());
    for (const auto& node : variant_.nodes) {
      if (node && *node >= package_.nodes.size())
        return invalid_argument("a step belongs to node {}, but there are {} nodes", *node,
                                package_.nodes.size());
    }
    return {};
  }

  static Status check_size(const Size& size) {
    if (size.steps().size() <= kMaxSizeSteps) return {};
    return invalid_argument("a size has {} steps; {} is the limit", size.steps().size(),
                            kMaxSizeSteps);
  }

  Status check_plan_tensors(const std::vector<TensorSpec>& tensors, TensorRef::Kind kind) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorSpec& tensor = tensors[i];
      TL_RETURN_IF_ERROR(check_name(tensor.name, to_string(kind), i));
      bool is_constant = true;
      for (const Size& extent : tensor.shape) {
        TL_RETURN_IF_ERROR(check_size(extent));
        is_constant = is_constant && extent.constant();
      }
      Status status;
      if (tensor.layout != TensorLayout{}) {
        status = is_constant ? check_layout(tensor) : check_open_layout(tensor);
      } else if (kind == TensorRef::Kind::Argument && is_constant && !tensor.shape.empty()) {
        status = invalid_argument(
            "it has no layout; an argument whose extents are all constant needs one");
      }
      if (!status.ok())
        return status.with_context(fmt::format("{} \"{}\"", to_string(kind), tensor.name));
    }
    return {};
  }

  Status check_scalars() const {
    for (std::size_t i = 0; i < plan_.scalars.size(); ++i) {
      TL_RETURN_IF_ERROR(check_name(plan_.scalars[i].name, "scalar", i));
      if (!is_scalar_type(plan_.scalars[i].element))
        return invalid_argument("the scalar \"{}\" is {}; kernels take 32 or 64 bits",
                                plan_.scalars[i].name, hal::to_string(plan_.scalars[i].element));
    }
    for (const PackageNumber& number : package_.numbers) {
      if (number.symbol >= plan_.symbols.size() + plan_.scalars.size())
        return invalid_argument(
            "the number at position {} is the value of symbol {}, but there are {} symbols",
            number.position, number.symbol, plan_.symbols.size() + plan_.scalars.size());
      if (number.position >= plan_.arguments.size() + package_.numbers.size())
        return invalid_argument("a number is at position {}, but there are {} arguments",
                                number.position, plan_.arguments.size() + package_.numbers.size());
    }
    return {};
  }

  Status check_modules() const {
    for (std::size_t i = 0; i < plan_.modules.size(); ++i) {
      if (plan_.modules[i].codes.empty()) return invalid_argument("module {} has no code", i);
      for (const hal::KernelCode& code : plan_.modules[i].codes) {
        for (const std::string& option : code.build_options)
          TL_RETURN_IF_ERROR(check_text(option, fmt::format("a build option of module {}", i)));
        if (code.origin)
          TL_RETURN_IF_ERROR(check_origin(code).with_context(fmt::format("module {}", i)));
      }
    }
    return {};
  }

  static Status check_origin(const hal::KernelCode& code) {
    if (traits_of(code.format).is_text)
      return invalid_argument("{} names a driver as its maker, but only binaries have one",
                              hal::to_string(code.format));
    const auto& [driver, platform, vendor, device, driver_version, api_version, language_version] =
        code.origin->maker;
    for (const std::string* text :
         {&driver, &platform, &vendor, &device, &driver_version, &api_version, &language_version})
      TL_RETURN_IF_ERROR(check_text(*text, "a word of a binary's maker", kMaxNameBytes));
    return {};
  }

  static Status check_kernel(const hal::EntryPoint& entry, std::size_t number) {
    TL_RETURN_IF_ERROR(check_name(entry.name, "kernel", number));
    const auto wrong = [&](std::string_view problem) {
      return invalid_argument("kernel \"{}\" {}", entry.name, problem);
    };
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      const hal::KernelParam& param = entry.params[i];
      TL_RETURN_IF_ERROR(check_name(hal::name_of(param), "parameter", i)
                             .with_context(fmt::format("kernel \"{}\"", entry.name)));
      const auto* constant = std::get_if<hal::ConstantParam>(&param);
      if (constant != nullptr && !is_scalar_type(constant->type))
        return wrong("takes a constant that has neither 32 nor 64 bits");
    }
    for (const std::uint32_t threads : entry.workgroup_size) {
      if (threads == 0) return wrong("has a work group of zero threads");
    }
    if (!entry.grid) return {};
    for (const Size& groups : *entry.grid) TL_RETURN_IF_ERROR(check_size(groups));
    return {};
  }

  static Status check_step_sizes(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        for (const Size& groups : launch->groups) TL_RETURN_IF_ERROR(check_size(groups));
        for (const Operand& operand : launch->operands) {
          const auto* expression = std::get_if<SizeValue>(&operand);
          if (expression != nullptr) TL_RETURN_IF_ERROR(check_size(expression->size));
        }
      } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
        TL_RETURN_IF_ERROR(check_size(loop->extent));
        TL_RETURN_IF_ERROR(check_step_sizes(loop->body));
      }
    }
    return {};
  }

  Status check_stores() const {
    std::vector<bool> is_passed(plan_.arguments.size(), false);
    for (std::size_t i = 0; i < variant_.stores.size(); ++i) {
      const Status status = check_store(i, is_passed);
      if (!status.ok())
        return status.with_context(fmt::format("tensor \"{}\"", package_.tensors[i].name));
    }
    const auto left = std::find(is_passed.begin(), is_passed.end(), false);
    if (left == is_passed.end()) return {};
    return invalid_argument(
        "the plan's argument \"{}\" is neither an input nor an output",
        plan_.arguments[static_cast<std::size_t>(left - is_passed.begin())].name);
  }

  Status check_store(std::size_t number, std::vector<bool>& is_passed) const {
    const TensorStore& store = variant_.stores[number];
    const PackageTensor& tensor = package_.tensors[number];
    TL_RETURN_IF_ERROR(check_text(store.storage_scope, "its storage scope", kMaxNameBytes));
    TL_RETURN_IF_ERROR(check_text(store.layout, "its layout"));
    const bool is_passable = tensor.role == TensorRole::Input || tensor.role == TensorRole::Output;
    if (!store.tensor) {
      if (tensor.role == TensorRole::Output) return invalid_argument("no step writes it");
      return {};
    }
    const auto [kind, index] = *store.tensor;
    const std::vector<TensorSpec>& list = tensors_of(plan_, kind);
    if (index >= list.size())
      return invalid_argument("it is {} {}, but there are {}", to_string(kind), index, list.size());
    const TensorSpec& place = list[index];
    if ((kind == TensorRef::Kind::Argument) != is_passable)
      return invalid_argument("its role contradicts the plan, in which it is {} \"{}\"",
                              to_string(kind), place.name);
    if (place.element != tensor.element)
      return invalid_argument("it has elements of {}, but the plan has {}",
                              hal::to_string(tensor.element), hal::to_string(place.element));
    const bool is_texture = std::holds_alternative<TextureStorage>(place.storage);
    if (is_texture != store.storage_scope.starts_with("texture"))
      return invalid_argument("its storage scope is \"{}\", but it is {}", store.storage_scope,
                              describe(place.storage));
    if (!is_passable) return {};
    if (is_passed[index])
      return invalid_argument("it and another tensor are the same argument \"{}\"", place.name);
    is_passed[index] = true;
    return {};
  }

  const Package& package_;
  const PackageVariant& variant_;
  const LaunchPlan& plan_;
};

std::string_view role_text(TensorRole role) {
  constexpr std::array<std::string_view, 4> kNames = {"input", "output", "constant",
                                                      "intermediate"};
  return kNames[static_cast<std::size_t>(role)];
}

// Checks that the lists of inputs and outputs have each tensor of these roles once, and no others.
Status check_passed(const Package& package) {
  std::vector<bool> is_input(package.tensors.size(), false), is_output = is_input;
  for (const auto& [list, seen, what] : {std::tuple(&package.inputs, &is_input, "inputs"),
                                         std::tuple(&package.outputs, &is_output, "outputs")}) {
    TL_RETURN_IF_ERROR(check_indices(*list, package.tensors.size(), what));
    for (const std::uint32_t tensor : *list) {
      if ((*seen)[tensor])
        return invalid_argument("tensor \"{}\" occurs twice among the {}",
                                package.tensors[tensor].name, what);
      (*seen)[tensor] = true;
    }
  }
  for (std::size_t i = 0; i < package.tensors.size(); ++i) {
    const TensorRole role = package.tensors[i].role;
    const bool agrees = is_output[i]  ? role == TensorRole::Output
                        : is_input[i] ? role == TensorRole::Input
                                      : role != TensorRole::Input && role != TensorRole::Output;
    if (!agrees)
      return invalid_argument(
          "the role of tensor \"{}\" contradicts the lists of inputs and outputs: the role is {}, "
          "but the tensor is {}",
          package.tensors[i].name, role_text(role),
          is_output[i]  ? "an output"
          : is_input[i] ? "an input"
                        : "in neither list");
  }
  return {};
}

Status check_graph(const Package& package) {
  TL_RETURN_IF_ERROR(check_unique_names(package.tensors, "tensor"));
  TL_RETURN_IF_ERROR(check_unique_names(package.nodes, "node"));
  for (std::size_t i = 0; i < package.symbols.size(); ++i)
    TL_RETURN_IF_ERROR(check_name(package.symbols[i], "symbol", i));
  for (const PackageTensor& tensor : package.tensors) {
    for (const Size& extent : tensor.shape) {
      if (extent.steps().size() > kMaxSizeSteps || !extent.loop_slots().empty() ||
          extent.symbol_count() > package.symbols.size())
        return invalid_argument("the shape of tensor \"{}\" uses unknown symbols, or is too long",
                                tensor.name);
    }
  }
  for (const PackageNode& node : package.nodes) {
    const std::string what = fmt::format("node \"{}\"", node.name);
    TL_RETURN_IF_ERROR(check_text(node.op, "the operator of " + what, kMaxNameBytes));
    TL_RETURN_IF_ERROR(check_indices(node.inputs, package.tensors.size(), what));
    TL_RETURN_IF_ERROR(check_indices(node.outputs, package.tensors.size(), what));
    TL_RETURN_IF_ERROR(check_attributes(node.attributes).with_context(what));
  }
  for (std::size_t i = 1; i < package.numbers.size(); ++i) {
    if (package.numbers[i].position <= package.numbers[i - 1].position)
      return invalid_argument(
          "its numbers are not in the order of their positions: {} comes after {}",
          package.numbers[i].position, package.numbers[i - 1].position);
  }
  TL_RETURN_IF_ERROR(check_attributes(package.metadata).with_context("metadata"));
  return check_passed(package);
}

Status check_package(const Package& package) {
  TL_RETURN_IF_ERROR(check_graph(package));
  if (package.variants.empty())
    return invalid_argument("it has no variants; at least one is required");
  for (std::size_t i = 0; i < package.variants.size(); ++i) {
    const PackageVariant& variant = package.variants[i];
    const Status status = VariantChecker(package, variant).check();
    if (!status.ok()) return status.with_context(fmt::format("variant {}", i));
  }
  return {};
}

}  // namespace

Status check_packages(std::span<const Package> packages) {
  if (packages.empty()) return invalid_argument("there is no package");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    TL_RETURN_IF_ERROR(check_name(packages[i].name, "package", i));
    if (!names.insert(packages[i].name).second)
      return invalid_argument("two packages are named \"{}\"", packages[i].name);
    const Status status = check_package(packages[i]);
    if (!status.ok()) return status.with_context(fmt::format("package \"{}\"", packages[i].name));
  }
  return {};
}

}  // namespace texloom::runtime
