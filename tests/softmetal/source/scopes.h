// Namespaces and classes: finds functions, kernels, structs and program-scope variables.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/softmetal/source/declarations.h"
#include "tests/softmetal/source/pass.h"

namespace softmetal {

class Scopes {
 public:
  Scopes(Code& code, Program& program, const PassOptions& options)
      : code_(code), program_(program), options_(options) {}

  void run();

 private:
  // A kernel or a kernel template, by its qualified name.
  struct KernelDefinition {
    Kernel kernel;
    std::vector<Declaration::TemplateParameter> template_parameters;
  };
  // The token range of a function's parameters and body, or of a variable's value.
  struct Scope {
    std::string name;  // unqualified
    size_t begin, parameters_end, end;
  };

  void collect_templates();
  void namespace_scope(size_t begin, size_t end, const std::string& prefix);
  size_t namespace_declaration(size_t begin, size_t end, const std::string& prefix);
  const std::pair<const std::string, KernelDefinition>* find_kernel(
      const std::string& name, size_t arguments, std::optional<size_t> parameters) const;
  void explicit_instantiation(size_t begin, size_t end, const std::string& prefix);
  void function(const Declaration& d, const std::string& prefix);
  void kernel(const Declaration& d, size_t keyword, const std::string& prefix);
  void other_stage(const Declaration& d);
  void function_parameters(const Declaration& d);
  void update_by_temporary(const Declaration& d);
  void method_qualifiers(const Declaration& d, const std::string& class_name);
  bool define_assignment(const Declaration& d);
  void forward_from_temporary(const Declaration& d, const std::string& class_name);
  void pointers_of_spaces(const Declaration& d, size_t begin, size_t end);
  void class_scope(const Declaration& d, const std::string& prefix, bool is_nested = false);
  void class_member(const Declaration& d, const std::string& prefix, const std::string& class_name,
                    Struct& into);
  void variable(const Declaration& d, const std::string& prefix);
  void record_function_constant(const Declaration& d, const Attribute& attribute,
                                const std::string& prefix);
  std::optional<size_t> initialized(const Declaration& d) const;
  std::map<std::string, std::string, std::less<>> required_constants() const;
  void collect_uses(const Scope& scope, std::set<std::string>& uses) const;
  void find_missing_constants();
  void find_called_kernels();
  void find_recursion();
  void find_undefined();

  Code& code_;
  Program& program_;
  const PassOptions& options_;
  std::set<std::string, std::less<>> class_names_;
  std::set<std::string> static_members_;  // `class::name`
  std::set<std::string> constructors_;    // signatures of constructors, without address spaces
  std::set<std::string, std::less<>> of_spaces_;          // functions_of_spaces()
  std::multimap<std::string, KernelDefinition> kernels_;  // several templates may share a name
  std::vector<Scope> scopes_;
  std::set<std::string, std::less<>> declared_;  // functions without a body, by unqualified names
  std::set<size_t> named_;                       // positions of functions' names in declarations
  // The functions that each function calls, by unqualified names.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> calls_;
};

}  // namespace softmetal
