#include "tests/softmetal/source/scopes.h"

#include <algorithm>

#include "tests/softmetal/source/bodies.h"
#include "tests/softmetal/source/conversions.h"
#include "tests/softmetal/source/kernels.h"

namespace softmetal {
void Scopes::run() {
  collect_templates();
  of_spaces_ = functions_of_spaces(code_);
  rewrite_static_casts(code_);
  namespace_scope(0, code_.size(), "");
  find_called_kernels();
  find_recursion();
  find_undefined();
  find_missing_constants();
}

// Collects the names of the program's templates, to distinguish their `<` from a comparison.
void Scopes::collect_templates() {
  for (size_t i = 0; i + 1 < code_.size(); ++i) {
    if (!code_.is(i, "template") || !code_.is(i + 1, "<")) continue;
    const size_t behind = code_.behind_template_arguments(i + 1, true);
    // Function pointers as template parameters become references, since clang gives a function's
    // pointer another address space.
    for (size_t k = i; k + 4 < behind; ++k) {
      if (code_.is(k, "(") && code_.is(k + 1, "*") && code_.is_identifier(k + 2) &&
          code_.is(k + 3, ")") && code_.is(k + 4, "(")) {
        code_[k + 1].replace("&");
      }
    }
    for (size_t k = behind; k < code_.size(); ++k) {
      if (code_.is(k, "(") || code_.is(k, "{") || code_.is(k, "=") || code_.is(k, ";") ||
          code_.is(k, ":")) {
        if (code_.is_identifier(k - 1)) code_.add_template(code_[k - 1].text);
        break;
      }
      const size_t past = code_.behind_template_arguments(k, true);
      if (past > k) {
        if (code_.is_identifier(k - 1)) code_.add_template(code_[k - 1].text);
        k = past - 1;
      }
    }
  }
}

void Scopes::namespace_scope(size_t begin, size_t end, const std::string& prefix) {
  for (size_t i = begin; i < end;) {
    if (code_.is(i, ";")) {
      ++i;
    } else if (code_.is(i, "namespace") ||
               (code_.is(i, "inline") && code_.is(i + 1, "namespace"))) {
      i = namespace_declaration(i, end, prefix);
    } else if (code_.is(i, "extern") && code_.is(i + 2, "{")) {
      namespace_scope(i + 3, code_.closing(i + 2), prefix);
      i = code_.closing(i + 2) + 1;
    } else if (code_.is(i, "template") && !code_.is(i + 1, "<")) {
      size_t stop = i;
      while (stop < end && !code_.is(stop, ";")) ++stop;
      explicit_instantiation(i, stop, prefix);
      i = stop + 1;
    } else {
      const Declaration d = read_declaration(code_, i, end);
      if (d.is_class) {
        class_scope(d, prefix);
      } else if (code_.is(d.begin, "using") || code_.is(d.begin, "typedef") ||
                 code_.is(d.begin, "static_assert") || d.is_enum) {
        // Left to clang.
      } else if (d.is_function) {
        function(d, prefix);
      } else {
        variable(d, prefix);
      }
      i = std::max(d.end, i + 1);
    }
  }
}

size_t Scopes::namespace_declaration(size_t begin, size_t end, const std::string& prefix) {
  size_t i = begin + (code_.is(begin, "inline") ? 2 : 1);
  std::string name;
  while (i < end && !code_.is(i, "{") && !code_.is(i, ";")) name += code_[i++].text;
  if (!code_.is(i, "{")) return i + 1;
  namespace_scope(i + 1, code_.closing(i), name.empty() ? prefix : prefix + name + "::");
  return code_.closing(i) + 1;
}

void Scopes::function(const Declaration& d, const std::string& prefix) {
  size_t keyword = d.name;
  bool by_attribute = false;
  for (size_t i = d.begin; i < d.name; ++i) {
    if (code_.is(i, "kernel")) keyword = i;
  }
  for (size_t i = d.begin; i <= d.name; ++i) {
    for (const Attribute& a : code_.attributes_before(i)) by_attribute |= a.name == "kernel";
  }
  const bool is_kernel = keyword != d.name || by_attribute;
  if (is_kernel) {
    kernel(d, keyword, prefix);
  } else {
    other_stage(d);
    function_parameters(d);
  }
  std::string name(code_[d.open - 1].text);
  const std::optional<size_t> of_class = class_of_member(code_, d);
  const bool out_of_class = of_class && class_names_.count(code_[*of_class].text) != 0;
  if (out_of_class) method_qualifiers(d, std::string(code_[*of_class].text));
  named_.insert(d.open - 1);
  if (d.body == 0) {
    const bool is_object = d.has(code_, "constant", d.name) && !d.has(code_, "*", d.name) &&
                           !d.has(code_, "&", d.name);
    if (!d.is_template && !out_of_class && !is_object) declared_.insert(name);
    return;
  }
  scopes_.push_back({name, d.open + 1, d.close, code_.closing(d.body)});
  program_.function_lines[name] = code_[d.name].line;
  BodyContext context;
  context.of_kernel = is_kernel;
  context.calls = &calls_[name];
  context.of_template = d.is_template || out_of_class;
  context.of_device_method =
      out_of_class && d.has(code_, "device", d.name) &&
      (code_.is(d.close + 1, "__generic") ||
       (code_[d.close + 1].replaced || code_[std::min(d.close + 2, d.body)].replaced));
  rewrite_body(code_, d.body, context);
}

void Scopes::kernel(const Declaration& d, size_t keyword, const std::string& prefix) {
  if (keyword != d.name) code_[keyword].replace("");
  Kernel kernel;
  kernel.name = prefix + std::string(code_[d.name].text);
  kernel.expression = kernel.name;
  kernel.public_name = kernel.name;
  kernel.line = code_[d.name].line;
  kernel.is_template = d.is_template;
  for (size_t i = d.begin; i <= d.body; ++i) {
    if (i > d.open && i <= d.close) continue;
    for (const Attribute& a : code_.attributes_before(i)) {
      if (a.name == "max_total_threads_per_threadgroup") kernel.max_threads = a.argument;
      if (a.name == "required_threads_per_threadgroup") kernel.max_threads = a.argument;
      if (a.name == "host_name") kernel.public_name = unquoted(a.argument);
    }
  }
  read_parameters(code_, d, kernel);
  if (d.body == 0) return;
  kernel.body_begin = d.body;
  kernel.body_end = code_.closing(d.body);
  check_kernel(code_, d, kernel);
  const auto known = kernels_.find(kernel.name);
  if (known != kernels_.end() && !(d.is_template && known->second.kernel.is_template)) {
    code_.error(d.name, "kernel \"" + kernel.name +
                            "\" is defined twice; only templates of kernels are overloaded");
    return;
  }
  kernels_.insert({kernel.name, {kernel, d.template_parameters}});
  if (!d.is_template) program_.kernels.push_back(std::move(kernel));
}

// `vertex` and `fragment` functions compile, but are not entry points here.
void Scopes::other_stage(const Declaration& d) {
  for (size_t i = d.begin; i < d.name; ++i) {
    if (code_.is(i, "vertex") || code_.is(i, "fragment")) code_[i].replace("");
  }
}

void Scopes::function_parameters(const Declaration& d) {
  const std::string_view name = code_[d.open - 1].text;
  const bool of_spaces = of_spaces_.count(name) != 0;
  // Parameters stay references if a result or a constructed object may refer to them.
  bool kept = class_names_.count(name) != 0;
  for (size_t i = d.begin; i < d.name; ++i) kept |= code_.is(i, "&") || code_.is(i, "*");
  for (const auto& [begin, end] : split_at_commas(code_, d.open + 1, d.close)) {
    pointers_of_spaces(d, begin, end);
    bool builtin = false;
    for (size_t i = begin; i < end; ++i) builtin |= is_builtin_type(code_[i]);
    // Parameters of class type stay references, since their methods need an address space.
    if (kept || (of_spaces && !builtin)) continue;
    take_temporaries(code_, begin, end,
                     of_spaces ? Temporaries::ByReference : Temporaries::ByValue);
  }
  if (kept) update_by_temporary(d);
  // A returned pointer needs an address space, too.
  for (size_t i = d.begin; i < d.name; ++i) {
    if (code_.is(i, "*") && !code_.is(i - 1, "operator")) {
      pointers_of_spaces(d, d.begin, d.name);
      break;
    }
  }
}

// For `thread T& operator+=(thread const T& x)`, x stays a reference, because x may be the object
// itself. Adds a template with x by value, which clang chooses for temporaries. The template also
// accepts values that convert to T, if the program has no other `+=`.
void Scopes::update_by_temporary(const Declaration& d) {
  const bool updates = code_.is(d.name, "operator") && is_assignment(code_[d.open - 1]) &&
                       !code_.is(d.open - 1, "=");
  if (!updates || d.is_template || class_of_member(code_, d)) return;
  for (size_t i = d.close + 1; i < (d.body != 0 ? d.body : d.end); ++i) {
    if (is_address_space(code_[i]) && !code_.is(i, "thread")) return;
  }
  const auto parameters = split_at_commas(code_, d.open + 1, d.close);
  const auto [begin, end] = parameters.back();
  std::string type;
  bool is_const = false, is_thread = false;
  size_t i = begin;
  for (; i < end && !code_.is(i, "&"); ++i) {
    is_const |= code_.is(i, "const");
    is_thread |= code_.is(i, "thread");
    if (!code_.is(i, "thread")) type += std::string(code_[i].text) + " ";
  }
  if (i == end || !is_const || !is_thread) return;
  const std::string operation(code_[d.open - 1].text);
  size_t count = 0;
  for (size_t k = 1; k < code_.size(); ++k)
    count += code_.is(k - 1, "operator") && code_.is(k, operation) ? 1 : 0;
  const auto [left, left_end] = parameters.front();
  const bool is_member = parameters.size() == 1;
  const std::string object = is_member ? "*this" : std::string(code_[left_end - 1].text);
  code_[d.end - 1].after +=
      std::string(count == 1 ? " template <class __sm_X> " : " template <int = 0> ") +
      code_.text(d.begin, d.open) + "(" + (is_member ? "" : code_.text(left, left_end) + ", ") +
      (count == 1 ? "__sm_X " : type) + "__sm_x)" + (is_member ? " thread" : "") + " { " + type +
      "__sm_y = __sm_x; return " + object + " " + operation + " __sm_y; }";
}

// Reports parameters and results that are pointers or references without an address space, unless a
// template parameter may contain the space.
void Scopes::pointers_of_spaces(const Declaration& d, size_t begin, size_t end) {
  size_t pointer = end;
  for (size_t i = begin; i < end && !code_.is(i, "="); ++i) {
    if (is_address_space(code_[i]) || code_.is(i, "auto") || code_.is(i, "__generic")) return;
    if (code_.is(i, "(") && code_.is(i + 1, "*")) return;  // to a function
    if (code_.is(i, "[")) {
      i = code_.closing(i);
      continue;
    }
    const size_t behind = code_.behind_template_arguments(i, true);
    if (behind > i && behind <= end) {
      i = behind - 1;
      continue;
    }
    for (const Declaration::TemplateParameter& parameter : d.template_parameters) {
      if (code_[i].is(parameter.name)) return;
    }
    if (code_.is(i, "&&")) return;
    if (pointer == end && (code_.is(i, "*") || code_.is(i, "&"))) pointer = i;
  }
  if (pointer == end) return;
  code_.error(pointer, std::string(code_.is(pointer, "*") ? "pointer" : "reference") +
                           " type must have an explicit address space: device, constant, "
                           "threadgroup or thread");
}

// Reports calls of kernels, which only the API may call. Other functions and variables may have a
// kernel's name.
void Scopes::find_called_kernels() {
  std::map<std::string, int> others;  // number of functions and variables per name
  for (const Scope& scope : scopes_) ++others[scope.name];
  std::set<std::string, std::less<>> names;
  for (const auto& [name, known] : kernels_) {
    const std::string unqualified = name.substr(name.rfind(':') + 1);
    if (--others[unqualified] == 0) names.insert(unqualified);
  }
  for (const auto& [name, called] : calls_) {
    const size_t colon = name.rfind(':');
    if (colon != std::string::npos) names.erase(name.substr(colon + 1));  // a method
  }
  for (const Scope& scope : scopes_) {
    for (size_t i = std::max(scope.begin, scope.parameters_end); i < scope.end; ++i) {
      if (names.find(code_[i].text) == names.end()) continue;
      if (code_.is(i - 1, ".") || code_.is(i - 1, "->") || code_.is(i - 1, "::")) continue;
      if (code_.is(code_.behind_template_arguments(i + 1, true), "("))
        code_.error(i,
                    "kernel \"" + std::string(code_[i].text) + "\" cannot be called by a function");
    }
  }
}

void Scopes::find_recursion() {
  for (const auto& [name, called] : calls_) {
    std::set<std::string> reached;
    std::vector<std::string> open(called.begin(), called.end());
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      if (calls_.find(next) == calls_.end() || !reached.insert(next).second) continue;
      open.insert(open.end(), calls_[next].begin(), calls_[next].end());
    }
    if (reached.count(name) != 0) program_.recursion_candidates.push_back(name);
  }
}

// Reports calls of functions that the program does not define: the linker would use the host's
// functions.
void Scopes::find_undefined() {
  for (const auto& [name, called] : calls_) {  // calls may be of a method with that name
    if (name.rfind(':') != std::string::npos) declared_.erase(name.substr(name.rfind(':') + 1));
  }
  for (size_t i = 1; i < code_.size(); ++i) {
    if (!code_.is(i + 1, "(") || code_.is(i - 1, ".") || code_.is(i - 1, "->")) continue;
    const std::string name(code_[i].text);
    if (declared_.count(name) == 0 || named_.count(i) != 0) continue;
    if (program_.function_lines.count(name) != 0) continue;
    code_.error(i, "function \"" + name + "\" is declared, but not defined");
    declared_.erase(name);
  }
}

// Returns the position of the name of a variable with an initializer.
std::optional<size_t> Scopes::initialized(const Declaration& d) const {
  for (size_t i = d.begin + 1; i < d.end; ++i) {
    if (!code_.is(i, "=") && !code_.is(i, "{") && !code_.is(i, "[")) continue;
    return code_.is_identifier(i - 1) ? std::optional(i - 1) : std::nullopt;
  }
  return std::nullopt;
}

void Scopes::variable(const Declaration& d, const std::string& prefix) {
  for (size_t i = d.begin; i <= d.end && i < code_.size(); ++i) {
    for (const Attribute& a : code_.attributes_before(i)) {
      if (a.name == "function_constant" && i > d.begin) {
        record_function_constant(d, a, prefix);
        return;
      }
    }
  }
  if (!code_[d.begin].of_user || code_.is(d.begin, "friend") || code_.is(d.begin, "extern")) return;
  for (std::string_view key : {"struct", "class", "union", "enum"}) {
    if (code_.is(d.begin, key) && code_.is(d.begin + 2, ";")) return;  // declared, not defined
  }
  if (const auto name = initialized(d)) {
    scopes_.push_back({std::string(code_[*name].text), *name + 1, 0, d.end});
  }
  const bool named = d.end > d.begin + 2 && code_.is_identifier(d.begin);
  const bool constant = d.has(code_, "constant", d.end);
  const bool sampler = d.has(code_, "sampler", d.end);
  if (named && !constant && !sampler) {
    code_.error(d.begin, "a variable of program scope must be in the constant address space");
  } else if (d.has(code_, "::", d.end) && code_.is(d.end - 1, ";")) {
    // This defines a static member that its class initializes, or it has a qualified type.
  } else if (named && constant && !sampler && !d.has(code_, "=", d.end) &&
             !d.has(code_, "{", d.end) && !d.has(code_, "(", d.end)) {
    code_.error(d.begin, "a variable in the constant address space must be initialized");
  }
}

}  // namespace softmetal
