#include "runtime/package/metallibs.h"

#include <algorithm>
#include <utility>

#include "runtime/package/package_writer.h"

namespace texloom::runtime {
namespace {

using hal::KernelCode;

std::vector<ModuleSpec*> modules_of(std::vector<Package>& packages) {
  std::vector<ModuleSpec*> modules;
  for (Package& package : packages) {
    for (PackageVariant& variant : package.variants) {
      for (ModuleSpec& module : variant.plan.modules) modules.push_back(&module);
    }
  }
  return modules;
}

const KernelCode* msl_of(const ModuleSpec& module) {
  const auto found = std::ranges::find(module.codes, KernelFormat::Msl, &KernelCode::format);
  return found == module.codes.end() ? nullptr : &*found;
}

void put_metallib(ModuleSpec& module, const MetalSource& source, const std::string& metallib) {
  std::erase_if(module.codes,
                [](const KernelCode& code) { return code.format == KernelFormat::Metallib; });
  module.codes.push_back({KernelFormat::Metallib, metallib, source.build_options});
}

}  // namespace

Result<std::size_t> add_metallibs(const PackageFile& file, const std::filesystem::path& output,
                                  MetalCompiler compile) {
  TL_ASSIGN_OR_RETURN(std::vector<Package> packages, file.whole_packages());
  std::vector<ModuleSpec*> modules = modules_of(packages);
  const bool has_kernels = !modules.empty();
  std::erase_if(modules, [](const ModuleSpec* module) { return msl_of(*module) == nullptr; });
  if (has_kernels && modules.empty())
    return make_error(StatusCode::NotFound,
                      "package \"{}\" has no kernel in Metal's language to make a metallib from; "
                      "help: compile it for Metal: --target metal",
                      packages.front().name);
  std::vector<MetalSource> sources;
  std::vector<std::size_t> places;  // by module: the index of its source
  for (const ModuleSpec* module : modules) {
    const KernelCode& msl = *msl_of(*module);
    MetalSource source{msl.code, msl.build_options, allows(module->math, hal::MathMode::Fast)};
    const auto found = std::ranges::find(sources, source);
    places.push_back(static_cast<std::size_t>(found - sources.begin()));
    if (found == sources.end()) sources.push_back(std::move(source));
  }
  std::vector<std::string> metallibs;
  if (!sources.empty()) {
    TL_ASSIGN_OR_RETURN(metallibs, compile(sources));
  }
  if (metallibs.size() != sources.size())
    return invalid_argument("{} metallibs were made of {} sources", metallibs.size(),
                            sources.size());
  for (std::size_t i = 0; i < modules.size(); ++i)
    put_metallib(*modules[i], sources[places[i]], metallibs[places[i]]);
  TL_RETURN_IF_ERROR(write_packages(packages, output));
  return sources.size();
}

}  // namespace texloom::runtime
