#include "tests/softmetal/execute/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <map>

#include "tests/softmetal/execute/calls.h"

namespace softmetal {
namespace {

std::string numbered(const char* symbol, size_t number) { return symbol + std::to_string(number); }

std::vector<MemberInfo> describe_members(const Program& program, const Module& module,
                                         const Parameter& p) {
  std::vector<MemberInfo> members;
  for (size_t i = 0; i < program.structs.size(); ++i) {
    const Struct& s = program.structs[i];
    if (p.binding != BindingKind::Buffer || (s.name != p.of_struct && s.name != "::" + p.of_struct))
      continue;
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

// What the variables of a kernel take, as they are laid out when threads reach them.
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
    problem = path + " is no program";
    return nullptr;
  }
  *calls = &program_calls();
  module->find_range();
  return module;
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
  Compilation compilation = compile_source(source, options);
  log = std::move(compilation.log);
  if (!compilation.ok) return nullptr;
  std::shared_ptr<Library> library(new Library);
  std::string problem;
  library->module_ = Module::load(compilation.module, problem);
  if (library->module_ == nullptr) {
    log += options.file + ": error: " + problem + "\n";
    return nullptr;
  }
  library->source_ = source;
  library->options_ = options;
  library->program_ = std::move(compilation.program);
  library->program_.text.clear();
  return library;
}

std::vector<std::string> Library::function_names() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : program_.kernels) names.push_back(kernel.public_name);
  return names;
}

std::shared_ptr<Function> Library::function(const std::string& name, std::string& problem) const {
  for (size_t i = 0; i < program_.kernels.size(); ++i) {
    const Kernel& kernel = program_.kernels[i];
    if (kernel.public_name != name) continue;
    auto function = std::make_shared<Function>();
    function->module = module_;
    function->name = name;
    function->entry = reinterpret_cast<SmEntry*>(module_->symbol(numbered("__sm_entry_", i)));
    const auto* threads =
        static_cast<const uint32_t*>(module_->symbol(numbered("__sm_threads_", i)));
    const auto* present = static_cast<const bool*>(module_->symbol(numbered("__sm_present_", i)));
    const auto* descriptions =
        static_cast<const SmDescription*>(module_->symbol(numbered("__sm_parameters_", i)));
    if (function->entry == nullptr || threads == nullptr || present == nullptr ||
        descriptions == nullptr) {
      problem = "the compiled program lacks symbols of \"" + name + "\"";
      return nullptr;
    }
    function->max_threads = *threads;
    function->threadgroup_memory = threadgroup_memory(*module_, kernel);
    for (size_t k = 0; k < kernel.parameters.size(); ++k) {
      const Parameter& p = kernel.parameters[k];
      function->arguments.push_back(
          {p, descriptions[k], present[k], describe_members(program_, *module_, p)});
    }
    return function;
  }
  problem = "there is no kernel \"" + name + "\"; the library has:";
  for (const std::string& known : function_names()) problem += " " + known;
  if (program_.kernels.empty()) problem += " none";
  return nullptr;
}

std::shared_ptr<Function> Library::function(const std::string& name,
                                            const std::map<int, std::string>& constants,
                                            std::string& problem) const {
  CompileOptions options = options_;
  options.constants = constants;
  std::string log;
  const std::shared_ptr<Library> specialized = compile(source_, options, log);
  if (specialized == nullptr) {
    problem = log;
    return nullptr;
  }
  return specialized->function(name, problem);
}

}  // namespace softmetal
