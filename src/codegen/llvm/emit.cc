#include "codegen/llvm/emit.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

#include "codegen/llvm/plugin_api.h"
#include "support/diagnostic.h"

namespace texloom::codegen::native {

namespace {

struct Plugin {
  decltype(&texloom_llvm_compile) compile = nullptr;
  decltype(&texloom_llvm_free) free = nullptr;
  std::string problem;  // why it cannot be used
};

// The folder of the library or program that this function is in.
std::string own_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : path.substr(0, slash + 1);
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

Plugin load_plugin() {
  constexpr std::string_view kName = "texloom_llvm.so";
  Plugin plugin;
  const char* named = std::getenv("TEXLOOM_LLVM_PLUGIN");
  const std::array paths = {named == nullptr ? std::string() : std::string(named),
                            own_folder() + std::string(kName), std::string(TEXLOOM_LLVM_PLUGIN)};
  void* library = nullptr;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    if (plugin.problem.empty()) plugin.problem = dlerror();
  }
  if (library == nullptr) return plugin;
  decltype(&texloom_llvm_version) version = nullptr;
  if (!find(library, "texloom_llvm_version", version) || version() != TEXLOOM_LLVM_VERSION ||
      !find(library, "texloom_llvm_compile", plugin.compile) ||
      !find(library, "texloom_llvm_free", plugin.free)) {
    plugin.compile = nullptr;
    plugin.problem = "it is of another version";
  }
  return plugin;
}

// Loaded once, and never unloaded.
const Plugin& plugin() {
  static const Plugin kPlugin = load_plugin();
  return kPlugin;
}

std::string text_of(const char* bytes, size_t count) {
  return bytes == nullptr ? std::string() : std::string(bytes, count);
}

}  // namespace

std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption) {
  const Plugin& llvm = plugin();
  if (llvm.compile == nullptr) {
    fail({}, Code::UnknownTarget,
         "install the package with LLVM, or build with -DTEXLOOM_LLVM=ON; or build for \"opencl\"",
         "this installation has no LLVM: {}", llvm.problem);
  }
  interruption();
  // The plan and its memory stay here.
  ir::Program kernels;
  kernels.name = program.name;
  kernels.stage = program.stage;
  kernels.symbols = program.symbols;
  kernels.body = ir::make_empty();
  kernels.kernels = program.kernels;
  CompiledCode code;
  code.format = KernelFormat::NativeObject;
  for (size_t i = 0; i < kernels.kernels.size(); ++i) {
    std::string& name = kernels.kernels[i].name;
    name = fmt::format("{}_{}", name, i);  // names of kernels may be equal
    code.entries.push_back({i, name});
  }
  const std::string text = ir::to_string(kernels, {.locations = true});
  const texloom_llvm_machine machine = {.triple = target.machine.triple.c_str(),
                                        .cpu = target.machine.cpu.c_str(),
                                        .features = target.machine.features.c_str()};
  texloom_llvm_result made = {};
  llvm.compile(text.data(), text.size(), &machine, &made);
  code.bytes = text_of(made.object, made.object_bytes);
  code.text = text_of(made.listing, made.listing_bytes);
  const std::string error = text_of(made.error, made.error_bytes);
  const bool failed = made.error != nullptr;
  llvm.free(&made);
  if (failed) {
    fail({}, Code::UnknownTarget, "name a processor that LLVM knows: -mcpu=native",
         "LLVM cannot compile for the target '{}': {}", to_string(target), error);
  }
  return {std::move(code)};
}

}  // namespace texloom::codegen::native
