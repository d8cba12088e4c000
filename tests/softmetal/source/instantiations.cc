// Explicit instantiations of kernels.
#include <algorithm>
#include <optional>

#include "tests/softmetal/source/kernels.h"
#include "tests/softmetal/source/scopes.h"

namespace softmetal {
namespace {

// Returns `text` with whole words replaced.
std::string substitute(const std::string& text, const std::string& word, const std::string& by) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
      ++end;
    }
    end = std::max(end, i + 1);
    const std::string part = text.substr(i, end - i);
    out += part == word ? "(" + by + ")" : part;
    i = end;
  }
  return out;
}

// Substitutes a template's arguments, or else its defaults, for its parameters in an expression.
// Defaults may name earlier parameters. Returns "" if a parameter would have to be deduced.
std::string with_arguments(std::string expression,
                           const std::vector<Declaration::TemplateParameter>& parameters,
                           const std::vector<std::string>& arguments) {
  for (size_t i = parameters.size(); i-- > 0;) {
    const auto& [name, otherwise] = parameters[i];
    const std::string& value = i < arguments.size() ? arguments[i] : otherwise;
    const std::string given = substitute(expression, name, value);
    if (value.empty() && given != expression) return {};
    expression = given;
  }
  return expression;
}

// Returns the begin of the template arguments that end at `stop`, or `stop` if there are none.
size_t begin_of_arguments(const Code& code, size_t begin, size_t stop) {
  if (stop <= begin || !code.is(stop - 1, ">")) return stop;
  int depth = 0;
  size_t first = stop - 1;
  for (; first > begin; --first) {
    if (code.is(first, ">")) ++depth;
    if (code.is(first, "<") && --depth == 0) break;
  }
  return first;
}

}  // namespace

// Returns the kernel of a name, or null. Among several templates, prefers the one that fits these
// numbers of arguments and parameters.
const std::pair<const std::string, Scopes::KernelDefinition>* Scopes::find_kernel(
    const std::string& name, size_t arguments, std::optional<size_t> parameters) const {
  const auto [begin, end] = kernels_.equal_range(name);
  const auto fits = std::find_if(begin, end, [&](const auto& each) {
    const KernelDefinition& known = each.second;
    return arguments <= known.template_parameters.size() &&
           (!parameters || *parameters == known.kernel.parameters.size());
  });
  // If none fits, clang reports the error.
  return begin == end ? nullptr : &*(fits == end ? begin : fits);
}

// Reads `template [[host_name("x")]] kernel void f<float>(...)`, or the form with a function's
// type: `template [[host_name("x")]] kernel decltype(f<float>) f<float>`.
void Scopes::explicit_instantiation(size_t begin, size_t end, const std::string& prefix) {
  std::string host_name;
  bool is_kernel = false;
  for (size_t i = begin + 1; i < end; ++i) {
    for (const Attribute& attribute : code_.attributes_before(i)) {
      if (attribute.name == "kernel") is_kernel = true;
      if (attribute.name == "host_name") host_name = unquoted(attribute.argument);
    }
    if (code_.is(i, "kernel")) {
      is_kernel = true;
      code_[i].replace("");
    }
  }
  if (!is_kernel) return;
  // The name is the last template-id before the parameters, or before the end.
  size_t stop = end;
  const Declaration d = read_declaration(code_, begin + 1, end);
  if (d.is_function && !code_.is(d.name, "decltype")) stop = d.open;
  const size_t first = begin_of_arguments(code_, begin, stop);
  size_t name = first - 1;
  while (name >= begin + 2 && code_.is(name - 1, "::")) name -= 2;
  const std::string base = code_.text(name, first);
  std::vector<std::string> arguments;
  for (const auto& [from, to] :
       split_at_commas(code_, std::min(first + 1, stop), std::max(stop, first + 1) - 1)) {
    arguments.push_back(code_.text(from, to));
  }
  std::optional<size_t> parameters;
  if (stop != end) parameters = split_at_commas(code_, d.open + 1, d.close).size();
  const auto* found = find_kernel(prefix + base, arguments.size(), parameters);
  if (found == nullptr) found = find_kernel(base, arguments.size(), parameters);
  if (found == nullptr) {
    code_.error(name, "there is no kernel template \"" + base + "\" to instantiate");
    return;
  }
  Kernel kernel = found->second.kernel;
  kernel.is_template = false;
  kernel.expression = found->first + code_.text(first, stop);
  if (first == stop && d.is_function) {
    // The template arguments are deduced: a new function with these parameters calls the template.
    const std::string instance = "__sm_instance_" + std::to_string(begin);
    std::string values;
    Kernel declared;
    read_parameters(code_, d, declared);
    for (const Parameter& p : declared.parameters) values += (values.empty() ? "" : ", ") + p.name;
    code_[end].after += " inline void " + instance + code_.text(d.open, d.close + 1) + " { " +
                        "::" + found->first + "(" + values + "); }";
    kernel.expression = prefix + instance;
    kernel.public_name = host_name.empty() ? found->first : host_name;
  }
  if (first != stop) kernel.public_name = host_name.empty() ? kernel.expression : host_name;
  kernel.line = code_[begin].line;
  kernel.max_threads =
      with_arguments(kernel.max_threads, found->second.template_parameters, arguments);
  program_.kernels.push_back(std::move(kernel));
  // The entry point instantiates the template. The form with a function's type is removed, because
  // clang does not accept it.
  if (stop == end) {
    for (size_t i = begin; i < end; ++i) code_[i].replace("");
  }
}

}  // namespace softmetal
