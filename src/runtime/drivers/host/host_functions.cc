#include "runtime/drivers/host/host_functions.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/drivers/host/native_kernel.h"

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
  FunctionLoader(std::vector<FunctionLibrary> libraries,
                 std::vector<const texloom_linked_kernels*> linked)
      : libraries_(std::move(libraries)), linked_(std::move(linked)) {}

  KernelFormat format() const override { return KernelFormat::HostFunctions; }

  Result<std::vector<std::shared_ptr<const Kernel>>> load(
      std::string_view code, std::span<const EntryPoint> entries) const override {
    for (const texloom_linked_kernels* each : linked_) {
      if (each->name == code) return load(*each, entries);
    }
    const auto library =
        std::find_if(libraries_.begin(), libraries_.end(),
                     [&](const FunctionLibrary& each) { return each.name == code; });
    if (library == libraries_.end())
      return make_error(StatusCode::NotFound,
                        "the program has no library of functions \"{}\"; help: link the object "
                        "file that was written with this package, and open the device with its "
                        "kernels (texloom_device_open_linked); or write a package with code: "
                        "`texloom compile` without --emit",
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
  using Kernels = std::vector<std::shared_ptr<const Kernel>>;

  static Result<Kernels> load(const texloom_linked_kernels& library,
                              std::span<const EntryPoint> entries) {
    const std::span functions(library.kernels, library.count);
    Kernels kernels;
    for (const EntryPoint& entry : entries) {
      const auto found =
          std::ranges::find(functions, std::string_view(entry.name),
                            [](const auto& each) { return std::string_view(each.name); });
      if (found == functions.end())
        return make_error(StatusCode::NotFound, "library \"{}\" has no function \"{}\"",
                          library.name, entry.name);
      kernels.push_back(make_native_kernel(found->function, nullptr));
    }
    return kernels;
  }

  std::vector<FunctionLibrary> libraries_;
  std::vector<const texloom_linked_kernels*> linked_;
};

}  // namespace

std::shared_ptr<const KernelLoader> make_function_loader(
    std::vector<FunctionLibrary> libraries, std::vector<const texloom_linked_kernels*> linked) {
  return std::make_shared<FunctionLoader>(std::move(libraries), std::move(linked));
}

}  // namespace texloom::hal::host
