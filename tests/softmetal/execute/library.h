// Compiled programs: libraries and their functions.
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
  // On failure, returns null and sets `problem`.
  static std::shared_ptr<Module> load(const std::string& path, std::string& problem);
  // Loads the contents of a shared object's file.
  static std::shared_ptr<Module> load_bytes(std::string_view bytes, std::string& problem);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  void* symbol(const std::string& name) const;
  // The address range of the module's code and constants.
  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

 private:
  Module() = default;
  void find_range();
  void* handle_ = nullptr;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
};

// A program's access to a texture, numbered as `access` in include/softmetal/texture.h.
enum class TextureAccess { Sample, Read, Write, ReadWrite };
inline TextureAccess texture_access(const SmDescription& description) {
  return static_cast<TextureAccess>(description.type >> 16);
}

// A member of a struct that a kernel takes as an argument buffer.
struct MemberInfo {
  std::string name;
  int id = -1;  // [[id(n)]], or its position; an array takes one id per element
  SmDescription description{};
};

// A parameter of a kernel, with clang's description of its type.
struct ArgumentInfo {
  Parameter parameter;
  SmDescription description{};
  bool present = true;              // false if a function constant omits it
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

// A program after the first half of its compilation. The second half runs when the first function
// is requested, unless the caller supplies the module. Thread safe.
class Library {
 public:
  // Returns null if the program does not compile; `log` gets all messages, also warnings.
  static std::shared_ptr<Library> compile(const std::string& source, const CompileOptions& options,
                                          std::string& log);
  // Returns the library in a file of compile/metallib.h. On failure, returns null and sets
  // `problem`.
  static std::shared_ptr<Library> load(std::string_view metallib, std::string& problem);
  // Returns the program with other values of function constants: C++ expressions by index. If the
  // program does not compile with these values, returns null and puts the messages into `problem`.
  std::shared_ptr<Library> specialized(const std::map<int, std::string>& constants,
                                       std::string& problem) const;

  std::vector<std::string> function_names() const;
  // If there is no function of this name, `problem` names the existing functions.
  bool has_function(const std::string& name, std::string& problem) const {
    return find(name, problem) != nullptr;
  }
  // Whether all function constants that the kernel needs have values; `problem` names missing ones.
  bool has_constants(const std::string& name, std::string& problem) const;
  // Returns the names of the kernel's constants without values; none if there is no such kernel.
  std::vector<std::string> missing_constants(const std::string& name) const;
  const std::vector<FunctionConstant>& constants() const { return program().constants; }
  const IntermediateCode& code() const { return compiled_.compilation.code; }

  // Returns a function by name. If there is none, or no code can be generated, returns null and
  // sets `problem`.
  std::shared_ptr<Function> function(const std::string& name, std::string& problem) const;
  // Returns the function from a module that was generated from this code before.
  std::shared_ptr<Function> function(const std::string& name, std::shared_ptr<Module> module,
                                     std::string& problem) const;

 private:
  const Program& program() const { return compiled_.compilation.program; }
  static std::shared_ptr<Library> of(CompiledLibrary compiled, std::string& log);
  // Returns a kernel by name; if there is none, returns null and sets `problem`.
  const Kernel* find(const std::string& name, std::string& problem) const;
  // Like find(), but also fails if this system is too old or if the kernel lacks constants.
  const Kernel* find_runnable(const std::string& name, std::string& problem) const;

  CompiledLibrary compiled_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Module> module_;  // guarded by mutex_; null before it is needed
};

}  // namespace softmetal
