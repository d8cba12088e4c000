// What the token pass finds in a program: kernels, their parameters, structs with resources.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace softmetal {

// A message about the user's source. Notes follow the error or warning that they belong to.
struct Message {
  enum class Kind { Error, Warning, Note };
  Kind kind;
  int line;  // 0 if about the whole program
  std::string text;
  std::string file = {};  // if it is not the program's own, but one that it includes
};

struct Attribute {
  std::string name;
  std::string argument;  // the text between its parentheses
  int line;
};

// What a kernel's parameter is bound to.
enum class BindingKind { Buffer, Texture, Sampler, Threadgroup, Builtin };

struct Parameter {
  std::string name;
  std::string type;  // as written
  int line = 0;
  std::optional<BindingKind> binding;
  int index = -1;         // of buffers, textures, samplers, threadgroup memory
  std::string builtin;    // the attribute's name
  std::string condition;  // the function constant without which the parameter is absent
  std::string of_struct;  // the struct that it points to, if the program defines it
};

struct Kernel {
  std::string name;         // with namespaces
  std::string expression;   // of its function, with template arguments
  std::string public_name;  // by which it is found: host_name, or its name
  int line = 0;
  bool is_template = false;
  std::string max_threads;              // an expression; empty: not limited
  size_t body_begin = 0, body_end = 0;  // in tokens: those of its threadgroup variables name them
  std::vector<Parameter> parameters;
  std::vector<std::string> missing_constants;  // function constants that it needs a value of
};

struct Member {
  std::string name;
  std::optional<int> id;  // of [[id(n)]]
  int line = 0;
};
struct Struct {
  std::string name;  // with namespaces
  int line = 0;
  bool is_template = false;
  bool is_nested = false;  // in another class
  bool has_ids = false;
  std::vector<Member> members;
  // Whether a parameter of a kernel is of this struct, which it may name without its namespaces.
  bool is_named(const std::string& type) const;
};

struct FunctionConstant {
  std::string name;  // with namespaces
  std::string type;
  int index = 0;
  int line = 0;
};

struct Program {
  std::vector<Kernel>
      kernels;  // entry points: kernels that are no templates, and named instantiations
  std::vector<Struct> structs;
  std::vector<FunctionConstant> constants;
  std::vector<std::string> recursion_candidates;  // functions that may call themselves, by name
  std::map<std::string, int> function_lines;  // where functions are defined, by unqualified name
  std::vector<Message> messages;
  std::string text;  // the program as clang takes it
};

}  // namespace softmetal
