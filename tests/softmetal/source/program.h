// The results of the token pass: kernels, their parameters, structs with resources.
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
  std::string file = {};  // an included file; empty for the program's own
};

struct Attribute {
  std::string name;
  std::string argument;  // the text between the parentheses
  int line;
};

// The kind of a parameter's argument.
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
  std::string expression;   // names the function, with template arguments
  std::string public_name;  // the API's name: host_name, or the function's name
  int line = 0;
  bool is_template = false;
  std::string max_threads;              // an expression; empty: not limited
  size_t body_begin = 0, body_end = 0;  // token positions, to find threadgroup variables
  std::vector<Parameter> parameters;
  std::vector<std::string> missing_constants;  // required function constants without values
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
  // Returns whether `type`, of a kernel's parameter, names this struct, perhaps without namespaces.
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
  std::string text;  // the program for clang
};

}  // namespace softmetal
