// Compiled programs: libraries, and the functions made from them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/softmetal/abi.h"
#include "tests/softmetal/compile/metallib.h"

namespace softmetal {

// A loaded shared object. Several functions share it.
class Module {
 public:
  // Null with `problem` if it cannot be loaded.
  static std::shared_ptr<Module> load(const std::string& path, std::string& problem);
  // The same for the content of such a file.
  static std::shared_ptr<Module> load_bytes(std::string_view bytes, std::string& problem);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  void* symbol(const std::string& name) const;
  // Where the module is in memory: its code and its constants.
  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

 private:
  Module() = default;
  void find_range();
  void* handle_ = nullptr;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
};

// How a program may use a texture, numbered as `access` in include/softmetal/texture.h.
enum class TextureAccess { Sample, Read, Write, ReadWrite };
inline TextureAccess texture_access(const SmDescription& description) {
  return static_cast<TextureAccess>(description.type >> 16);
}

// A member of a struct that a kernel takes as an argument buffer.
struct MemberInfo {
  std::string name;
  int id = -1;  // [[id(n)]], or its place; arrays take as many as they have elements
  SmDescription description{};
};

// A parameter of a kernel with what clang knows of its type.
struct ArgumentInfo {
  Parameter parameter;
  SmDescription description{};
  bool present = true;              // false if a function constant leaves it out
  std::vector<MemberInfo> members;  // of a buffer whose struct has resources
};

struct Function {
  std::shared_ptr<Module> module;
  std::string name;
  SmEntry* entry = nullptr;
  uint32_t max_threads = 0;       // [[max_total_threads_per_threadgroup]], or 0
  size_t threadgroup_memory = 0;  // of its variables, in bytes
  std::vector<ArgumentInfo> arguments;
};

// A program after the first half of its compilation. The second half is made for the first
// function, as by a pipeline, unless whoever wants it has the module already. Thread safe.
class Library {
 public:
  // Null if the program does not compile; `log` has all messages, also warnings.
  static std::shared_ptr<Library> compile(const std::string& source, const CompileOptions& options,
                                          std::string& log);
  // The library in a file of compile/metallib.h. Null with `problem` if it is none.
  static std::shared_ptr<Library> load(std::string_view metallib, std::string& problem);
  // The same program for other values of function constants, by index, as C++ expressions. Null
  // with the messages in `problem` if it does not compile so.
  std::shared_ptr<Library> specialized(const std::map<int, std::string>& constants,
                                       std::string& problem) const;

  std::vector<std::string> function_names() const;
  // Else `problem` names those that are there.
  bool has_function(const std::string& name, std::string& problem) const {
    return find(name, problem) != nullptr;
  }
  // Whether the function constants that the kernel needs have values; else `problem` names them.
  bool has_constants(const std::string& name, std::string& problem) const;
  // Those that lack one, by name; none if there is no such kernel.
  std::vector<std::string> missing_constants(const std::string& name) const;
  const std::vector<FunctionConstant>& constants() const { return program().constants; }
  const IntermediateCode& code() const { return compiled_.compilation.code; }

  // The function of a name. Null with `problem` if there is none, or if no code can be generated.
  std::shared_ptr<Function> function(const std::string& name, std::string& problem) const;
  // The same, in a module that was generated of this code before.
  std::shared_ptr<Function> function(const std::string& name, std::shared_ptr<Module> module,
                                     std::string& problem) const;

 private:
  const Program& program() const { return compiled_.compilation.program; }
  static std::shared_ptr<Library> of(CompiledLibrary compiled, std::string& log);
  // The kernel of a name, or null with `problem`.
  const Kernel* find(const std::string& name, std::string& problem) const;
  // The same, if this system can run the library, and if the kernel has its constants.
  const Kernel* find_runnable(const std::string& name, std::string& problem) const;

  CompiledLibrary compiled_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Module> module_;  // guarded by mutex_; null before it is needed
};

}  // namespace softmetal
