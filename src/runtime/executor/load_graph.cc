#include "runtime/executor/load_graph.h"

#include <fmt/ranges.h>

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

std::vector<std::string> unmet_needs(const VariantNeeds& needs, const hal::DeviceInfo& device) {
  std::vector<std::string> unmet;
  const hal::DeviceLimits& limits = device.limits;
  if (needs.images && !device.features.images) {
    unmet.emplace_back("images");
  } else if (needs.max_image_width > limits.max_image_width ||
             needs.max_image_height > limits.max_image_height) {
    unmet.push_back(fmt::format("images of up to {} x {} texels (it allows {} x {})",
                                needs.max_image_width, needs.max_image_height,
                                limits.max_image_width, limits.max_image_height));
  }
  if (needs.float64 && !device.features.float64) unmet.emplace_back("float64");
  if (needs.float16_arithmetic && !device.features.float16_arithmetic)
    unmet.emplace_back("float16 arithmetic");
  if (needs.max_work_group_size > limits.max_workgroup_size)
    unmet.push_back(fmt::format("work groups of {} threads (it allows {})",
                                needs.max_work_group_size, limits.max_workgroup_size));
  if (needs.local_bytes > limits.local_memory_bytes)
    unmet.push_back(fmt::format("{} bytes of local memory (it has {})", needs.local_bytes,
                                limits.local_memory_bytes));
  if (needs.buffer_bytes > limits.max_allocation_bytes)
    unmet.push_back(fmt::format("buffers of {} bytes (it allows {})", needs.buffer_bytes,
                                limits.max_allocation_bytes));
  return unmet;
}

Result<std::size_t> choose_variant(const Package& package, const hal::DeviceInfo& device) {
  std::string lacks;
  for (std::size_t i = 0; i < package.variants.size(); ++i) {
    const PackageVariant& variant = package.variants[i];
    const std::vector<std::string> unmet = unmet_needs(variant.needs, device);
    if (unmet.empty()) return i;
    lacks +=
        fmt::format("\n  the variant for \"{}\" needs {}", variant.target, fmt::join(unmet, ", "));
  }
  return make_error(
      StatusCode::Unimplemented,
      "package \"{}\" has no variant that {} can run:{}\nhelp: add a variant for this "
      "device to the package, or choose another device",
      package.name, device.name, lacks.empty() ? " it has none at all" : lacks);
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
  TL_ASSIGN_OR_RETURN(graph.program, DeviceProgram::create(device, variant.plan, program));
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
