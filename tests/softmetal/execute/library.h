// Compiled programs: libraries, and the functions made from them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/softmetal/abi.h"
#include "tests/softmetal/compile/compiler.h"

namespace softmetal {

// A loaded shared object. Several libraries of one text share it.
class Module {
 public:
  // Null with `problem` if it cannot be loaded.
  static std::shared_ptr<Module> load(const std::string& path, std::string& problem);
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

// A compiled program. Values of function constants are given when a function is made, for which the
// program is compiled again.
class Library {
 public:
  // Null if the program does not compile; `log` has all messages, also warnings.
  static std::shared_ptr<Library> compile(const std::string& source, const CompileOptions& options,
                                          std::string& log);

  std::vector<std::string> function_names() const;
  const std::vector<FunctionConstant>& constants() const { return program_.constants; }
  // The function of a name, by the constants that the library was compiled with. Null with
  // `problem` if there is none.
  std::shared_ptr<Function> function(const std::string& name, std::string& problem) const;
  // The same for other values of constants, by index, as C++ expressions.
  std::shared_ptr<Function> function(const std::string& name,
                                     const std::map<int, std::string>& constants,
                                     std::string& problem) const;

 private:
  std::string source_;
  CompileOptions options_;
  Program program_;
  std::shared_ptr<Module> module_;
};

}  // namespace softmetal
