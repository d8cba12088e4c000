#include "runtime/drivers/host/host_functions.h"

#include <algorithm>
#include <utility>

namespace texloom::hal::host {

namespace {

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(HostFunction function) : function_(function) {}

  bool is_divisible() const override { return true; }

  Status run(const Launch& launch, GroupRange groups, std::span<std::byte> scratch) const override {
    const auto [width, height, depth] = launch.groups;
    WorkGroup group{.arguments = launch.arguments,
                    .groups = launch.groups,
                    .size = launch.entry.workgroup_size,
                    .scratch = scratch};
    for (std::uint64_t number = groups.begin; number < groups.end; ++number) {
      group.id = {static_cast<std::uint32_t>(number % width),
                  static_cast<std::uint32_t>(number / width % height),
                  static_cast<std::uint32_t>(number / width / height)};
      TL_RETURN_IF_ERROR(function_(group));
    }
    return {};
  }

 private:
  HostFunction function_;
};

class FunctionLoader final : public KernelLoader {
 public:
  explicit FunctionLoader(std::vector<FunctionLibrary> libraries)
      : libraries_(std::move(libraries)) {}

  KernelFormat format() const override { return KernelFormat::HostFunctions; }

  Result<std::vector<std::shared_ptr<const Kernel>>> load(
      std::string_view code, std::span<const EntryPoint> entries) const override {
    const auto library =
        std::find_if(libraries_.begin(), libraries_.end(),
                     [&](const FunctionLibrary& each) { return each.name == code; });
    if (library == libraries_.end())
      return make_error(StatusCode::NotFound, "the program has no library of functions \"{}\"",
                        code);
    std::vector<std::shared_ptr<const Kernel>> kernels;
    for (const EntryPoint& entry : entries) {
      const auto function = library->functions.find(entry.name);
      if (function == library->functions.end())
        return make_error(StatusCode::NotFound, "library \"{}\" has no function \"{}\"", code,
                          entry.name);
      kernels.push_back(std::make_shared<FunctionKernel>(function->second));
    }
    return kernels;
  }

 private:
  std::vector<FunctionLibrary> libraries_;
};

}  // namespace

std::shared_ptr<const KernelLoader> make_function_loader(std::vector<FunctionLibrary> libraries) {
  return std::make_shared<FunctionLoader>(std::move(libraries));
}

}  // namespace texloom::hal::host
