#include "runtime/executor/load_graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace texloom::runtime {
namespace {

class VariantConstants final : public ConstantSource {
 public:
  VariantConstants(PackageConstants constants, std::size_t variant)
      : constants_(std::move(constants)), variant_(variant) {}
  Result<std::span<const std::byte>> bytes(std::uint32_t constant) override {
    return constants_(variant_, constant);
  }

 private:
  PackageConstants constants_;
  std::size_t variant_;
};

Result<std::vector<GraphPort>> ports_of(const Package& package, const PackageVariant& variant,
                                        std::span<const std::uint32_t> tensors, bool outputs) {
  std::vector<GraphPort> ports;
  for (const std::uint32_t tensor : tensors) {
    GraphPort port{.name = package.tensors[tensor].name};
    const std::optional<TensorRef> place = variant.stores[tensor].tensor;
    if (place && place->kind == TensorRef::Kind::Argument) port.argument = place->index;
    if (!port.argument && (outputs || place))
      return invalid_argument("package \"{}\": {} \"{}\" is not an argument of the plan for {}",
                              package.name, outputs ? "output" : "input", port.name,
                              variant.target);
    ports.push_back(std::move(port));
  }
  return ports;
}

std::string names_of(std::span<const KernelFormat> formats) {
  std::vector<std::string_view> names;
  for (const KernelFormat format : formats) names.push_back(hal::to_string(format));
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

// The first thing that the device lacks to run the variant's kernels, in words; nullopt if the
// device can run them.
std::optional<std::string> unprepared_kernels(const PackageVariant& variant,
                                              const hal::DeviceInfo& device) {
  for (const ModuleSpec& module : variant.plan.modules) {
    const auto is_prepared = [&device](const hal::KernelCode& code) {
      return hal::is_prepared(code, device);
    };
    if (std::ranges::any_of(module.codes, is_prepared)) continue;
    std::vector<std::string> given;
    for (const hal::KernelCode& code : module.codes) given.push_back(hal::describe(code));
    if (given.empty()) return "kernels whose code the program does not take from files";
    return fmt::format("a driver of {} (it takes {})", fmt::join(given, ", "),
                       names_of(device.formats));
  }
  return std::nullopt;
}

// Whether every device that can run `later` can run `earlier`.
bool is_as_general(const PackageVariant& earlier, const PackageVariant& later) {
  const auto is_covered = [](const ModuleSpec& module, const ModuleSpec& by) {
    return std::ranges::all_of(module.codes, [&by](const hal::KernelCode& code) {
      return std::ranges::find(by.codes, code.format, &hal::KernelCode::format) != by.codes.end();
    });
  };
  return std::ranges::all_of(
             earlier.needs.all(),
             [&later](const auto& need) { return need.second <= later.needs.of(need.first); }) &&
         std::ranges::all_of(earlier.plan.modules, [&](const ModuleSpec& by) {
           return std::ranges::any_of(later.plan.modules, [&](const ModuleSpec& module) {
             return is_covered(module, by);
           });
         });
}

Result<std::size_t> find_package(const PackageFile& file, std::string_view name) {
  if (name.empty()) return std::size_t{0};
  std::vector<std::string_view> names;
  for (const Package& package : file.packages()) {
    if (package.name == name) return names.size();
    names.push_back(package.name);
  }
  return make_error(StatusCode::NotFound, "no package \"{}\" in the file; there are: {}", name,
                    fmt::join(names, ", "));
}

}  // namespace

Result<std::size_t> choose_variant(const Package& package, const hal::DeviceInfo& device) {
  std::string lacks;
  for (std::size_t i = 0; i < package.variants.size(); ++i) {
    const PackageVariant& variant = package.variants[i];
    // Needs name features of the devices of a driver, so they say nothing of another driver's.
    const auto kernels = unprepared_kernels(variant, device);
    const std::vector<std::string> unmet =
        kernels ? std::vector{*kernels} : unmet_needs(variant.needs, device);
    if (unmet.empty()) return i;
    lacks +=
        fmt::format("\n  the variant for \"{}\" needs {}", variant.target, fmt::join(unmet, ", "));
  }
  return make_error(
      StatusCode::Unimplemented,
      "package \"{}\" has no variant that {} can run:{}; help: compile it for this device, too "
      "(target=\"{}:0\", or the device's number), or choose another device",
      package.name, device.name, lacks.empty() ? " it has none at all" : lacks, device.driver);
}

std::vector<std::string> shadowed_variants(const Package& package) {
  std::vector<std::string> shadowed;
  for (std::size_t i = 1; i < package.variants.size(); ++i) {
    const PackageVariant& later = package.variants[i];
    const auto before = std::span(package.variants).first(i);
    const auto by = std::ranges::find_if(
        before, [&later](const PackageVariant& earlier) { return is_as_general(earlier, later); });
    if (by == before.end()) continue;
    shadowed.push_back(
        fmt::format("no device gets the variant for \"{}\": those that could run it get the one "
                    "for \"{}\", which comes first and needs no more",
                    later.target, by->target));
  }
  return shadowed;
}

Result<LoadedGraph> load_graph(const std::shared_ptr<hal::Device>& device, const Package& package,
                               PackageConstants constants, const GraphOptions& options) {
  if (device == nullptr) return invalid_argument("the device is null");
  LoadedGraph graph;
  TL_ASSIGN_OR_RETURN(graph.variant, choose_variant(package, device->info()));
  const PackageVariant& variant = package.variants[graph.variant];
  TL_ASSIGN_OR_RETURN(graph.interface.inputs, ports_of(package, variant, package.inputs, false));
  TL_ASSIGN_OR_RETURN(graph.interface.outputs, ports_of(package, variant, package.outputs, true));
  ProgramOptions program{.policy = options.policy, .checks_barriers = options.checks_barriers};
  program.constants = std::make_shared<VariantConstants>(std::move(constants), graph.variant);
  if (!variant.plan.calls.empty()) {
    if (!options.prepare_calls)
      return make_error(StatusCode::Unimplemented,
                        "operator \"{}\" is not provided; help: give load_graph() "
                        "GraphOptions::prepare_calls; the C API cannot provide operators",
                        variant.plan.calls.front().op);
    TL_ASSIGN_OR_RETURN(program.calls, options.prepare_calls(device, variant.plan));
  }
  const auto goes_on = [&](const KernelProgress& at) {
    return !options.goes_on || options.goes_on(at, variant.plan);
  };
  TL_ASSIGN_OR_RETURN(graph.program, DeviceProgram::create(device, variant.plan, goes_on, program));
  return graph;
}

Result<LoadedGraph> load_graph(const std::shared_ptr<hal::Device>& device,
                               std::shared_ptr<const PackageFile> file, const GraphOptions& options,
                               std::string_view name) {
  if (file == nullptr) return invalid_argument("the file is null");
  TL_ASSIGN_OR_RETURN(const std::size_t number, find_package(*file, name));
  const Package& package = file->packages()[number];
  return load_graph(
      device, package,
      [file = std::move(file), number](std::size_t variant, std::uint32_t constant) {
        return file->constant(variant, constant, number);
      },
      options);
}

}  // namespace texloom::runtime
