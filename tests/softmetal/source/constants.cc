// Function constants: their values, and the kernels that need them.
#include <algorithm>

#include "tests/softmetal/source/scopes.h"

namespace softmetal {
namespace {

// Returns whether the identifier at i is a name in a declaration, which follows a type.
bool is_declared_at(const Code& code, size_t i) {
  static constexpr std::string_view kNoTypes[] = {"return", "else", "case", "sizeof", "do"};
  return code.is_identifier(i - 1) && std::find(std::begin(kNoTypes), std::end(kNoTypes),
                                                code[i - 1].text) == std::end(kNoTypes);
}

std::string unqualified(const std::string& name) {
  const std::string plain = name.substr(0, name.find('<'));
  const size_t colon = plain.rfind(':');
  return colon == std::string::npos ? plain : plain.substr(colon + 1);
}

}  // namespace

// A constant gets its value when a function is created from the library, and the program is
// compiled for this value. Without a value, the constant is zero and not defined, and kernels that
// need it do not run.
void Scopes::record_function_constant(const Declaration& d, const Attribute& attribute,
                                      const std::string& prefix) {
  FunctionConstant constant;
  const size_t name = d.end - 2;
  constant.name = prefix + std::string(code_[name].text);
  constant.index = std::atoi(attribute.argument.c_str());
  constant.line = code_[name].line;
  size_t type = d.begin;
  while (type < name && (is_address_space(code_[type]) || code_.is(type, "const") ||
                         code_.is(type, "static") || code_.is(type, "constexpr"))) {
    ++type;
  }
  constant.type = code_.text(type, name);
  for (const FunctionConstant& other : program_.constants) {
    if (other.index == constant.index) {
      code_.error(name, "function constant " + std::to_string(constant.index) +
                            " is declared twice: also as \"" + other.name + "\"");
    }
  }
  if (!d.has(code_, "constant", d.end)) {
    code_.error(d.begin, "a function constant must be in the constant address space");
  }
  const auto value = options_.constants.find(constant.index);
  const bool defined = value != options_.constants.end();
  code_[name].after +=
      " = " + (defined ? "(" + constant.type + ")(" + value->second + ")" : constant.type + "(0)");
  // Behind the semicolon.
  code_[d.end - 1].after += " static constexpr constant bool __sm_defined_" +
                            std::string(code_[name].text) + " = " + (defined ? "true" : "false") +
                            ";";
  program_.constants.push_back(std::move(constant));
}

// Returns the constants without values, by unqualified names, except those that the program tests
// with is_function_constant_defined().
std::map<std::string, std::string, std::less<>> Scopes::required_constants() const {
  std::map<std::string, std::string, std::less<>> required;
  for (const FunctionConstant& constant : program_.constants) {
    if (options_.constants.count(constant.index) == 0)
      required.emplace(unqualified(constant.name), constant.name);
  }
  for (size_t i = 0; i < code_.size() && !required.empty(); ++i) {
    if (code_.is(i, "is_function_constant_defined") && code_.is(i + 1, "("))
      required.erase(std::string(code_[code_.closing(i + 1) - 1].text));
  }
  return required;
}

// Collects the names that a function or a variable uses, except those that it declares itself.
void Scopes::collect_uses(const Scope& scope, std::set<std::string>& uses) const {
  std::set<std::string_view> own;
  for (size_t i = scope.begin; i < scope.end; ++i) {
    const bool parameter =
        i < scope.parameters_end && (code_.is(i + 1, ",") || code_.is(i + 1, ")"));
    if (code_.is_identifier(i) && (parameter || is_declared_at(code_, i)))
      own.insert(code_[i].text);
  }
  for (size_t i = scope.begin; i < scope.end; ++i) {
    if (!code_.is_identifier(i) || code_.is(i - 1, ".") || code_.is(i - 1, "->")) continue;
    if (own.count(code_[i].text) == 0) uses.emplace(code_[i].text);
  }
}

// A kernel needs the constants that it uses, directly or through functions and variables.
void Scopes::find_missing_constants() {
  const auto required = required_constants();
  if (required.empty()) return;
  std::map<std::string, std::set<std::string>> uses;
  for (const Scope& scope : scopes_) collect_uses(scope, uses[scope.name]);
  for (Kernel& kernel : program_.kernels) {
    std::vector<std::string> open = {unqualified(kernel.name)};
    for (const Parameter& p : kernel.parameters) open.push_back(p.condition);
    std::set<std::string> reached;
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      if (!reached.insert(name).second) continue;
      const auto constant = required.find(name);
      if (constant != required.end()) kernel.missing_constants.push_back(constant->second);
      const auto named = uses.find(name);
      if (named != uses.end()) open.insert(open.end(), named->second.begin(), named->second.end());
    }
    std::sort(kernel.missing_constants.begin(), kernel.missing_constants.end());
  }
}

}  // namespace softmetal
