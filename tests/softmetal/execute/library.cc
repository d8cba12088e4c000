#include "tests/softmetal/execute/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <map>

#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/scratch_folder.h"
#include "tests/softmetal/execute/calls.h"

namespace softmetal {
namespace {

std::string numbered(const char* symbol, size_t number) { return symbol + std::to_string(number); }

std::vector<MemberInfo> describe_members(const Program& program, const Module& module,
                                         const Parameter& p) {
  std::vector<MemberInfo> members;
  for (size_t i = 0; i < program.structs.size(); ++i) {
    const Struct& s = program.structs[i];
    if (p.binding != BindingKind::Buffer || !s.is_named(p.of_struct) || !members.empty()) continue;
    const auto* descriptions =
        static_cast<const SmDescription*>(module.symbol(numbered("__sm_members_", i)));
    if (descriptions == nullptr) continue;
    int next = 0;
    for (size_t k = 0; k < s.members.size(); ++k) {
      MemberInfo member{s.members[k].name, s.members[k].id.value_or(next), descriptions[k]};
      next = member.id + static_cast<int>(member.description.count);
      members.push_back(std::move(member));
    }
  }
  const bool resources = std::any_of(members.begin(), members.end(), [](const MemberInfo& m) {
    return m.description.category != 0;
  });
  return resources ? members : std::vector<MemberInfo>();
}

// Returns the bytes of a kernel's threadgroup variables, with the layout that threads give them.
size_t threadgroup_memory(const Module& module, const Kernel& kernel) {
  const auto* list =
      static_cast<const SmThreadgroupVariable* const*>(module.symbol("__sm_threadgroup_list"));
  if (list == nullptr) return 0;
  std::map<uint64_t, const SmThreadgroupVariable*> variables;  // by place
  for (const SmThreadgroupVariable* v = list[0]; v != list[1]; ++v) {
    if (v->id <= kernel.body_begin || v->id >= kernel.body_end) continue;
    const SmThreadgroupVariable*& known = variables[v->id];  // templates have several
    if (known == nullptr || known->size < v->size) known = v;
  }
  size_t bytes = 0;
  for (const auto& [id, v] : variables)
    bytes = (bytes + v->alignment - 1) / v->alignment * v->alignment + v->size;
  return bytes;
}

}  // namespace

std::shared_ptr<Module> Module::load(const std::string& path, std::string& problem) {
  std::shared_ptr<Module> module(new Module);
  module->handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module->handle_ == nullptr) {
    problem = ::dlerror();
    return nullptr;
  }
  auto* calls = static_cast<const SmCalls**>(module->symbol("__sm_calls"));
  if (calls == nullptr) {
    problem = path + " is not a program";
    return nullptr;
  }
  *calls = &program_calls();
  module->find_range();
  return module;
}

std::shared_ptr<Module> Module::load_bytes(std::string_view bytes, std::string& problem) {
  const ScratchFolder scratch;  // needed only until the file is loaded
  const std::string path = scratch.path() + "/program.so";
  if (scratch.path().empty() || !write_file(path, bytes)) {
    problem = "no temporary folder can be written";
    return nullptr;
  }
  return load(path, problem);
}

Module::~Module() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* Module::symbol(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }

void Module::find_range() {
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return;
  struct Search {
    const link_map* map;
    const char *begin, *end;
  } search{map, nullptr, nullptr};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        if (info->dlpi_addr != s->map->l_addr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          const auto* begin =
              reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
          const char* end = begin + info->dlpi_phdr[i].p_memsz;
          if (s->begin == nullptr || begin < s->begin) s->begin = begin;
          if (s->end == nullptr || end > s->end) s->end = end;
        }
        return 1;
      },
      &search);
  begin_ = search.begin;
  end_ = search.end;
}

std::shared_ptr<Library> Library::compile(const std::string& source, const CompileOptions& options,
                                          std::string& log) {
  return of({source, options, compile_source(source, options)}, log);
}

std::shared_ptr<Library> Library::load(std::string_view metallib, std::string& problem) {
  auto compiled = read_metallib(metallib, problem);
  return compiled ? of(*std::move(compiled), problem) : nullptr;
}

std::shared_ptr<Library> Library::specialized(const std::map<int, std::string>& constants,
                                              std::string& problem) const {
  CompileOptions options = compiled_.options;
  options.constants = constants;
  const std::string& source = compiled_.source;
  return of({source, options, specialize(compiled_.compilation.preprocessed, source, options),
             compiled_.needed_system},
            problem);
}

std::shared_ptr<Library> Library::of(CompiledLibrary compiled, std::string& log) {
  log = std::move(compiled.compilation.log);
  if (!compiled.compilation.ok) return nullptr;
  std::shared_ptr<Library> library(new Library);
  library->compiled_ = std::move(compiled);
  library->compiled_.compilation.program.text.clear();
  return library;
}

std::vector<std::string> Library::function_names() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : program().kernels) names.push_back(kernel.public_name);
  return names;
}

const Kernel* Library::find(const std::string& name, std::string& problem) const {
  for (const Kernel& kernel : program().kernels) {
    if (kernel.public_name == name) return &kernel;
  }
  problem = "there is no kernel \"" + name + "\"; the library has:";
  for (const std::string& known : function_names()) problem += " " + known;
  if (program().kernels.empty()) problem += " none";
  return nullptr;
}

bool Library::has_constants(const std::string& name, std::string& problem) const {
  const Kernel* const kernel = find(name, problem);
  if (kernel == nullptr || kernel->missing_constants.empty()) return kernel != nullptr;
  problem = "kernel \"" + name + "\" needs values of the function constants:";
  for (const std::string& constant : kernel->missing_constants) problem += " " + constant;
  return false;
}

std::vector<std::string> Library::missing_constants(const std::string& name) const {
  std::string ignored;
  const Kernel* const kernel = find(name, ignored);
  return kernel == nullptr ? std::vector<std::string>() : kernel->missing_constants;
}

const Kernel* Library::find_runnable(const std::string& name, std::string& problem) const {
  if (compiled_.needed_system <= kSystem) {
    return has_constants(name, problem) ? find(name, problem) : nullptr;
  }
  problem = "kernel \"" + name + "\" is for macOS " + std::to_string(compiled_.needed_system) +
            ", which is incompatible with this system, as macOS " + std::to_string(kSystem);
  return nullptr;
}

std::shared_ptr<Function> Library::function(const std::string& name, std::string& problem) const {
  if (find_runnable(name, problem) == nullptr) return nullptr;
  std::shared_ptr<Module> module;
  {
    const std::lock_guard lock(mutex_);
    if (module_ == nullptr) {
      const std::string path = generate_module(code(), problem);
      if (!path.empty()) module_ = Module::load(path, problem);
    }
    module = module_;
  }
  return module == nullptr ? nullptr : function(name, std::move(module), problem);
}

std::shared_ptr<Function> Library::function(const std::string& name, std::shared_ptr<Module> module,
                                            std::string& problem) const {
  const Kernel* const kernel = find_runnable(name, problem);
  if (kernel == nullptr) return nullptr;
  const auto i = static_cast<size_t>(kernel - program().kernels.data());
  auto made = std::make_shared<Function>();
  made->name = name;
  made->entry = reinterpret_cast<SmEntry*>(module->symbol(numbered("__sm_entry_", i)));
  const auto* threads = static_cast<const uint32_t*>(module->symbol(numbered("__sm_threads_", i)));
  const auto* present = static_cast<const bool*>(module->symbol(numbered("__sm_present_", i)));
  const auto* descriptions =
      static_cast<const SmDescription*>(module->symbol(numbered("__sm_parameters_", i)));
  if (made->entry == nullptr || threads == nullptr || present == nullptr ||
      descriptions == nullptr) {
    problem = "the compiled program lacks symbols of \"" + name + "\"";
    return nullptr;
  }
  made->max_threads = *threads;
  made->threadgroup_memory = threadgroup_memory(*module, *kernel);
  for (size_t k = 0; k < kernel->parameters.size(); ++k) {
    const Parameter& p = kernel->parameters[k];
    made->arguments.push_back(
        {p, descriptions[k], present[k], describe_members(program(), *module, p)});
  }
  made->module = std::move(module);
  return made;
}

}  // namespace softmetal
