// Shows the contents of packages to Python, as values that JSON can represent.

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compile/packages.h"
#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "runtime/commit/device_policy.h"
#include "runtime/commit/invocations.h"
#include "runtime/package/package_file.h"

namespace texloom::python {

namespace {

using runtime::Package;
using runtime::PackageVariant;

template <class List, class Show>
py::list shown(const List& list, const Show& show) {
  py::list result;
  for (const auto& each : list) result.append(show(each));
  return result;
}

std::string name(std::string_view text) { return std::string(text); }

// A number, or an expression as text.
py::object size(const runtime::Size& size, const std::vector<std::string>& symbols) {
  if (const auto number = size.constant()) return py::int_(*number);
  return py::str(size.text(symbols));
}
template <class List>
py::list sizes(const List& list, const std::vector<std::string>& symbols) {
  return shown(list, [&](const runtime::Size& each) { return size(each, symbols); });
}

py::dict attributes(const std::vector<runtime::Attribute>& attributes) {
  py::dict result;
  for (const runtime::Attribute& each : attributes)
    result[py::str(each.name)] = std::visit([](const auto& v) { return py::cast(v); }, each.value);
  return result;
}

py::dict storage(const runtime::TensorStorage& storage) {
  py::dict result;
  if (const auto* texture = std::get_if<runtime::TextureStorage>(&storage)) {
    result["kind"] = "texture";
    result["width"] = texture->extent.width;
    result["height"] = texture->extent.height;
    result["format"] = name(hal::to_string(texture->format));
    result["exact"] = texture->exact_extent;
  } else {
    result["kind"] = "buffer";
  }
  result["bytes"] = runtime::bytes_of(storage);
  return result;
}

py::list tensor_specs(const std::vector<runtime::TensorSpec>& tensors,
                      const std::vector<std::string>& symbols) {
  return shown(tensors, [&](const runtime::TensorSpec& each) {
    py::dict result;
    result["name"] = each.name;
    result["dtype"] = name(hal::to_string(each.element));
    result["shape"] = sizes(each.shape, symbols);
    result["storage"] = storage(each.storage);
    return result;
  });
}

std::string reference(const runtime::LaunchPlan& plan, runtime::TensorRef ref) {
  return runtime::tensor_of(plan, ref).name;
}

// Converts an operand to text, for the list of steps.
struct OperandText {
  const runtime::LaunchPlan& plan;

  std::string operator()(runtime::TensorRef tensor) const { return reference(plan, tensor); }
  std::string operator()(const runtime::OriginOf& origin) const {
    return reference(plan, origin.tensor) +
           (origin.axis == runtime::OriginOf::Axis::X ? ".x" : ".y");
  }
  std::string operator()(runtime::Immediate number) const { return fmt::to_string(number.value); }
  std::string operator()(runtime::LoopVariable variable) const {
    return fmt::format("loop {}", variable.slot);
  }
  std::string operator()(runtime::SymbolValue value) const { return plan.symbols[value.symbol]; }
  std::string operator()(const runtime::SizeValue& value) const {
    return value.size.text(plan.symbols);
  }
  std::string operator()(runtime::ScalarValue value) const {
    return plan.scalars[value.scalar].name;
  }
};

py::list steps(const std::vector<runtime::Step>& list, const runtime::LaunchPlan& plan) {
  return shown(list, [&](const runtime::Step& step) {
    py::dict result;
    if (const auto* allocate = std::get_if<runtime::AllocateStep>(&step)) {
      result["step"] = "allocate";
      result["tensor"] = plan.temporaries[allocate->temporary].name;
    } else if (const auto* free = std::get_if<runtime::FreeStep>(&step)) {
      result["step"] = "free";
      result["tensor"] = plan.temporaries[free->temporary].name;
    } else if (const auto* launch = std::get_if<runtime::LaunchStep>(&step)) {
      result["step"] = "launch";
      result["kernel"] = plan.kernels[launch->kernel].entry.name;
      result["groups"] = sizes(launch->groups, plan.symbols);
      result["operands"] = shown(launch->operands, [&](const runtime::Operand& each) {
        return std::visit(OperandText{plan}, each);
      });
    } else if (const auto* call = std::get_if<runtime::CallStep>(&step)) {
      result["step"] = "call";
      result["op"] = plan.calls[call->call].op;
      result["operands"] = shown(call->tensors, OperandText{plan});
    } else if (const auto* loop = std::get_if<runtime::LoopStep>(&step)) {
      result["step"] = "loop";
      result["variable"] = fmt::format("loop {}", loop->slot);
      result["extent"] = size(loop->extent, plan.symbols);
      result["body"] = steps(loop->body, plan);
    } else {
      result["step"] = "barrier";
    }
    return result;
  });
}

py::list kernels(const runtime::LaunchPlan& plan) {
  return shown(plan.kernels, [&](const runtime::KernelSpec& kernel) {
    py::dict result;
    result["name"] = kernel.entry.name;
    result["module"] = kernel.module;
    result["block"] = kernel.entry.workgroup_size;
    result["params"] = shown(kernel.entry.params, [](const hal::KernelParam& param) {
      std::string text = fmt::format("{}: {}", hal::name_of(param), hal::describe(param));
      if (hal::is_bound(param)) text += fmt::format(", {}", to_string(hal::access_of(param)));
      return text;
    });
    return result;
  });
}

py::object origin(const std::optional<hal::BinaryOrigin>& origin) {
  if (!origin) return py::none();
  const hal::BinaryMaker& maker = origin->maker;
  py::dict result;
  result["driver"] = maker.driver;
  result["platform"] = maker.platform;
  result["vendor"] = maker.vendor;
  result["device"] = maker.device;
  result["driver_version"] = maker.driver_version;
  result["api_version"] = maker.api_version;
  result["language_version"] = maker.language_version;
  return result;
}

py::list modules(const runtime::LaunchPlan& plan) {
  return shown(plan.modules, [](const runtime::ModuleSpec& module) {
    return shown(module.codes, [](const hal::KernelCode& code) {
      py::dict result;
      result["format"] = name(hal::to_string(code.format));
      result["bytes"] = code.code.size();
      result["options"] = code.build_options;
      result["made_by"] = origin(code.origin);
      return result;
    });
  });
}

py::list calls(const runtime::LaunchPlan& plan) {
  return shown(plan.calls, [](const runtime::OperatorCall& call) {
    py::dict result;
    result["op"] = call.op;
    result["version"] = call.version;
    result["accesses"] =
        shown(call.accesses, [](hal::Access access) { return name(to_string(access)); });
    result["encoding"] = name(to_string(call.encoding));
    result["attributes"] = attributes(call.attributes);
    result["payload_bytes"] = call.payload.size();
    return result;
  });
}

py::object workspace(const runtime::LaunchPlan& plan) {
  if (!plan.workspace) return py::none();
  py::dict result;
  result["objects"] = shown(plan.workspace->objects, storage);
  py::list places;
  for (std::size_t i = 0; i < plan.workspace->places.size(); ++i) {
    const runtime::Placement& place = plan.workspace->places[i];
    py::dict shown_place;
    shown_place["tensor"] = plan.temporaries[i].name;
    shown_place["object"] = place.object;
    shown_place["offset"] = place.offset;
    shown_place["x"] = place.origin.x;
    shown_place["y"] = place.origin.y;
    places.append(shown_place);
  }
  result["places"] = places;
  return result;
}

py::dict needs(const runtime::VariantNeeds& needs) {
  py::dict result;
  for (const runtime::KnownNeed& known : runtime::known_needs()) {
    const std::uint64_t least = needs.of(known.name);
    result[py::str(name(known.name))] = known.is_feature ? py::cast(least != 0) : py::cast(least);
  }
  for (const auto& [extension, least] : needs.all()) {
    if (!result.contains(extension.c_str())) result[py::str(extension)] = true;
  }
  return result;
}

py::dict variant(const Package& package, const PackageVariant& variant) {
  const runtime::LaunchPlan& plan = variant.plan;
  py::dict result;
  result["target"] = variant.target;
  result["needs"] = needs(variant.needs);
  py::list stores;
  for (std::size_t i = 0; i < variant.stores.size(); ++i) {
    const runtime::TensorStore& store = variant.stores[i];
    py::dict each;
    each["tensor"] = package.tensors[i].name;
    each["storage_id"] = store.storage_id;
    each["storage_scope"] = store.storage_scope;
    each["layout"] = store.layout;
    each["place"] = store.tensor ? py::cast(name(to_string(store.tensor->kind))) : py::none();
    each["storage"] = store.tensor
                          ? py::object(storage(runtime::tensor_of(plan, *store.tensor).storage))
                          : py::none();
    stores.append(each);
  }
  result["stores"] = stores;
  result["scalars"] = shown(plan.scalars, [](const runtime::ScalarSpec& each) {
    return fmt::format("{}: {}", each.name, hal::to_string(each.element));
  });
  result["arguments"] = tensor_specs(plan.arguments, plan.symbols);
  result["temporaries"] = tensor_specs(plan.temporaries, plan.symbols);
  result["constants"] = tensor_specs(plan.constants, plan.symbols);
  result["workspace"] = workspace(plan);
  result["modules"] = modules(plan);
  result["kernels"] = kernels(plan);
  result["calls"] = calls(plan);
  result["steps"] = steps(plan.steps, plan);
  result["parts"] = shown(plan.parts, [&](const runtime::PartOfTemporary& part) {
    py::dict each;
    each["tensor"] = plan.temporaries[part.temporary].name;
    each["whole"] = plan.temporaries[part.whole].name;
    each["offset"] = part.offset;
    each["x"] = part.origin.x;
    each["y"] = part.origin.y;
    return each;
  });
  result["names_barriers"] = plan.names_barriers;
  result["nodes_of_steps"] = variant.nodes;
  result["program_bytes"] = variant.program.size();
  return result;
}

// The numbers that callers pass besides tensors: symbols, then scalars of the plans.
py::list numbers(const Package& package) {
  return shown(package.numbers, [&](const runtime::PackageNumber& number) {
    const std::size_t symbols = package.symbols.size();
    py::dict each;
    each["name"] = number.symbol < symbols
                       ? package.symbols[number.symbol]
                       : package.variants.front().plan.scalars[number.symbol - symbols].name;
    each["position"] = number.position;
    each["dtype"] = name(hal::to_string(number.element));
    return each;
  });
}

// `writer` is the version of Texloom that wrote the file.
py::dict package_view(const Package& package, const std::string& writer) {
  const auto names = [&](const std::vector<std::uint32_t>& tensors) {
    return shown(tensors, [&](std::uint32_t i) { return package.tensors[i].name; });
  };
  constexpr const char* kRoles[] = {"input", "output", "constant", "intermediate"};
  py::dict result;
  result["name"] = package.name;
  result["writer"] = writer;
  result["numbers"] = numbers(package);
  result["symbols"] = package.symbols;
  result["inputs"] = names(package.inputs);
  result["outputs"] = names(package.outputs);
  result["operations"] = package.operations;
  result["metadata"] = attributes(package.metadata);
  result["tensors"] = shown(package.tensors, [&](const runtime::PackageTensor& tensor) {
    py::dict each;
    each["name"] = tensor.name;
    each["dtype"] = name(hal::to_string(tensor.element));
    each["shape"] = sizes(tensor.shape, package.symbols);
    each["role"] = kRoles[static_cast<std::size_t>(tensor.role)];
    return each;
  });
  result["nodes"] = shown(package.nodes, [&](const runtime::PackageNode& node) {
    py::dict each;
    each["name"] = node.name;
    each["op"] = node.op;
    each["inputs"] = names(node.inputs);
    each["outputs"] = names(node.outputs);
    each["attributes"] = attributes(node.attributes);
    return each;
  });
  result["variants"] =
      shown(package.variants, [&](const PackageVariant& each) { return variant(package, each); });
  return result;
}

py::list view_packages(const py::bytes& path) {
  const auto opened = open_package(path, NativeKernels::Take);  // nothing runs
  return shown(opened->packages(),
               [&](const Package& package) { return package_view(package, opened->writer()); });
}

// Lists the invocations of a variant. `package` and `variant` are numbers, counted from 0. `device`
// determines the commit policy (runtime/commit/policy.h); None stands for the default policy.
py::list list_invocations(const py::bytes& path, std::size_t package, std::size_t variant,
                          const py::object& device, bool wait_each) {
  const auto opened = open_package(path, NativeKernels::Take);  // nothing runs
  runtime::CommitPolicy policy;
  if (!device.is_none())
    policy = runtime::commit_policy_for(open_device(device.cast<PyDevice>())->info());
  if (wait_each) policy.waits = runtime::Waits::AfterEach;
  const runtime::PackageVariant& shown_variant = opened->packages()[package].variants.at(variant);
  const auto list = runtime::list_invocations(shown_variant.plan, policy);
  return shown(list, [&](const runtime::Invocation& each) {
    py::dict result;
    result["step"] = each.step;
    const auto node = shown_variant.nodes[each.step];
    result["node"] = node ? py::object(py::str(opened->packages()[package].nodes[*node].name))
                          : py::object(py::none());
    result["name"] = each.name;
    result["encoding"] = name(to_string(each.encoding));
    result["launches"] = each.launches;
    result["bytes"] = each.bytes;
    result["transition"] = name(to_string(each.transition));
    result["reason"] = each.reason;
    return result;
  });
}

}  // namespace

void bind_package_view(py::module_& m) {
  m.def("view_packages", view_packages);
  m.def("list_invocations", list_invocations);
}

}  // namespace texloom::python
