#include "codegen/llvm/emit.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "codegen/llvm/foreign_symbols.h"
#include "codegen/llvm/plugin_api.h"
#include "support/check.h"
#include "support/diagnostic.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace texloom::codegen::native {

namespace {

struct Plugin {
  decltype(&texloom_llvm_compile) compile = nullptr;
  decltype(&texloom_llvm_link) link = nullptr;
  decltype(&texloom_llvm_describe) describe = nullptr;
  decltype(&texloom_llvm_free) free = nullptr;
  std::string path;
  std::string problem, help;  // why it cannot be used, and what to do
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
  const char* named = std::getenv("TEXLOOM_LLVM_PLUGIN");  // no other is taken instead
  plugin.help = named != nullptr
                    ? "correct TEXLOOM_LLVM_PLUGIN, which names this file, or unset it: the "
                      "installation's own plug-in is used then"
                    : "in a clone, ./dev build builds it; or build for \"opencl\"";
  const std::vector<std::string> paths =
      named != nullptr
          ? std::vector{std::string(named)}
          : std::vector{own_folder() + std::string(kName), std::string(TEXLOOM_LLVM_PLUGIN)};
  void* library = nullptr;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      plugin.path = path;
      plugin.problem.clear();
      break;
    }
    const char* reason = dlerror();
    std::error_code unknown;
    if (plugin.problem.empty() || std::filesystem::exists(path, unknown))
      plugin.problem = reason == nullptr ? path : reason;
  }
  if (library == nullptr) return plugin;
  decltype(&texloom_llvm_version) version = nullptr;
  if (!find(library, "texloom_llvm_version", version) || version() != TEXLOOM_LLVM_VERSION ||
      !find(library, "texloom_llvm_compile", plugin.compile) ||
      !find(library, "texloom_llvm_link", plugin.link) ||
      !find(library, "texloom_llvm_describe", plugin.describe) ||
      !find(library, "texloom_llvm_free", plugin.free)) {
    plugin.compile = nullptr;
    plugin.problem = fmt::format("{} is of another version of Texloom", plugin.path);
  }
  return plugin;
}

// Loaded once, and never unloaded.
const Plugin& loaded_plugin() {
  static const Plugin kPlugin = load_plugin();
  return kPlugin;
}

// Fails without a plug-in.
const Plugin& plugin() {
  const Plugin& loaded = loaded_plugin();
  if (loaded.compile == nullptr) {
    fail({}, Code::UnknownTarget, loaded.help, "this installation has no LLVM: {}", loaded.problem);
  }
  return loaded;
}

texloom_llvm_machine machine_of(const ir::Target& target) {
  return {.triple = target.machine.triple.c_str(),
          .cpu = target.machine.cpu.c_str(),
          .features = target.machine.features.c_str()};
}

std::string text_of(const char* bytes, size_t count) {
  return bytes == nullptr ? std::string() : std::string(bytes, count);
}

struct Made {
  std::string object, listing;
};

// What the plug-in made; its result is freed. Fails with `code`, naming `what`, if a user can mend
// the error.
Made taken(texloom_llvm_result& result, Code code, const std::string& what) {
  Made made{text_of(result.object, result.object_bytes),
            text_of(result.listing, result.listing_bytes)};
  const std::string error = text_of(result.error, result.error_bytes);
  const std::string help = text_of(result.help, result.help_bytes);
  const bool failed = result.error != nullptr, is_bug = result.help == nullptr;
  plugin().free(&result);
  if (failed && is_bug) check_failed(__FILE__, __LINE__, "LLVM's plug-in", error);
  if (failed) fail({}, code, help, "{}: {}", what, error);
  if (made.object.empty() && made.listing.empty()) throw std::bad_alloc();
  return made;
}

std::string cannot_compile(const ir::Target& target) {
  return fmt::format("LLVM cannot compile for the target '{}'", to_string(target));
}

// The program without its plan and memory. Objects are linked together, so functions of kernels
// that differ get names that differ.
ir::Program kernels_of(const ir::Program& program, const ir::Target& target) {
  ir::Program kernels = kernels_alone(program, program.kernels);
  const std::uint64_t own =
      digest({ir::to_string(kernels, {.locations = true}), to_string(target)});
  for (size_t i = 0; i < kernels.kernels.size(); ++i) {
    std::string& name = kernels.kernels[i].name;
    name = fmt::format("{}_{}_{:012x}", name, i, own);
  }
  return kernels;
}

}  // namespace

std::uint64_t digest(std::initializer_list<std::string_view> texts) {
  XXH64_hash_t hash = 0;
  for (const std::string_view text : texts)
    hash = XXH3_64bits_withSeed(text.data(), text.size(), hash);
  return hash >> 16;
}

std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption) {
  check_symbols(program, target);
  interruption();
  const ir::Program kernels = kernels_of(program, target);
  CompiledCode code;
  code.format = KernelFormat::NativeObject;
  for (size_t i = 0; i < kernels.kernels.size(); ++i)
    code.entries.push_back({i, kernels.kernels[i].name});
  const std::string text = ir::to_string(kernels, {.locations = true});
  const texloom_llvm_machine machine = machine_of(target);
  texloom_llvm_result result = {};
  plugin().compile(text.data(), text.size(), &machine, target.math.fast ? 1 : 0, &result);
  Made made = taken(result, Code::UnknownTarget, cannot_compile(target));
  code.bytes = std::move(made.object);
  code.text = std::move(made.listing);
  return {std::move(code)};
}

std::string link(std::span<const std::string_view> objects, Linked kind) {
  std::vector<texloom_llvm_object> given;
  for (const std::string_view each : objects) given.push_back({each.data(), each.size()});
  texloom_llvm_result result = {};
  plugin().link(given.data(), given.size(),
                kind == Linked::Shared ? TEXLOOM_LLVM_SHARED : TEXLOOM_LLVM_RELOCATABLE, &result);
  return taken(result, Code::FileError, "cannot link native code").object;
}

PluginState plugin_state() {
  const Plugin& loaded = loaded_plugin();
  if (loaded.compile != nullptr) return {.path = loaded.path, .problem = {}, .help = {}};
  return {.path = loaded.path, .problem = loaded.problem, .help = loaded.help};
}

MachineDescription describe_machine(const ir::Target& target) {
  const texloom_llvm_machine machine = machine_of(target);
  texloom_llvm_result result = {};
  plugin().describe(&machine, &result);
  std::istringstream lines(taken(result, Code::UnknownTarget, cannot_compile(target)).listing);
  MachineDescription description;
  std::string line;
  std::getline(lines, line);
  for (std::string* each :
       {&description.named.triple, &description.named.cpu, &description.named.features})
    std::getline(lines, *each);
  std::istringstream words(line);
  words >> description.architecture;
  for (std::string feature; words >> feature;) description.features.push_back(std::move(feature));
  return description;
}

ir::Target with_named_processor(ir::Target target) {
  const bool is_native = target.machine.cpu == "native" || target.machine.triple.empty();
  if (target.kind == ir::TargetKind::Llvm && is_native)
    target.machine = describe_machine(target).named;
  return target;
}

}  // namespace texloom::codegen::native
