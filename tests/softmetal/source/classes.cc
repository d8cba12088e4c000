// Classes of a program: their members, and the address spaces of methods.
#include <algorithm>

#include "tests/softmetal/source/bodies.h"
#include "tests/softmetal/source/scopes.h"

namespace softmetal {
namespace {

bool is_access_specifier(const Code& code, size_t i) {
  return (code.is(i, "public") || code.is(i, "private") || code.is(i, "protected")) &&
         code.is(i + 1, ":");
}

// Returns the position of a method's ref-qualifier, `&` or `&&`, or `stop`.
size_t reference_qualifier(const Code& code, const Declaration& d, size_t stop) {
  size_t i = d.close + 1;
  while (i < stop && (code.is(i, "const") || code.is(i, "volatile") || is_address_space(code[i]))) {
    ++i;
  }
  return i < stop && (code.is(i, "&") || code.is(i, "&&")) ? i : stop;
}

}  // namespace

void Scopes::class_scope(const Declaration& d, const std::string& prefix, bool is_nested) {
  Struct s;
  const std::string name(code_.is_identifier(d.class_name) ? code_[d.class_name].text : "");
  s.name = prefix + name;
  s.line = code_[d.begin].line;
  s.is_template = d.is_template;
  s.is_nested = is_nested;
  if (!name.empty()) class_names_.insert(name);
  const size_t end = code_.closing(d.body);
  std::set<std::string> outer;
  std::swap(outer, constructors_);
  for (size_t i = d.body + 1; i < end;) {
    if (code_.is(i, ";")) {
      ++i;
    } else if (is_access_specifier(code_, i)) {
      i += 2;
    } else {
      const Declaration member = read_declaration(code_, i, end);
      if (member.is_class) {
        class_scope(member, s.name + "::", true);
      } else if (!code_.is(member.begin, "using") && !code_.is(member.begin, "typedef") &&
                 !code_.is(member.begin, "friend") && !code_.is(member.begin, "static_assert") &&
                 !member.is_enum) {
        class_member(member, prefix, name, s);
      }
      i = std::max(member.end, i + 1);
    }
  }
  std::swap(outer, constructors_);
  // `typedef struct { ... } Name;`
  if (code_.is(d.begin, "typedef") && code_.is_identifier(end + 1)) {
    program_.structs.push_back(s);
    program_.structs.back().name = prefix + std::string(code_[end + 1].text);
  }
  if (!name.empty()) program_.structs.push_back(std::move(s));
}

void Scopes::class_member(const Declaration& d, const std::string& prefix,
                          const std::string& class_name, Struct& into) {
  if (d.is_function) {
    function_parameters(d);
    method_qualifiers(d, class_name);
    if (d.body != 0 && !(code_[d.body].replaced && code_[d.body].instead.empty())) {
      BodyContext context;
      context.of_template = d.is_template || into.is_template;
      context.calls = &calls_[class_name + "::" + std::string(code_[d.open - 1].text)];
      const size_t stop = d.body;
      bool generic = false;
      for (size_t i = d.close; i < stop; ++i) generic |= code_[i].instead == "__generic";
      context.of_device_method = generic && d.has(code_, "device", d.name);
      rewrite_body(code_, d.body, context);
    }
    return;
  }
  if (d.has(code_, "static", d.end)) return;
  // Fields: `T a, b[2];` where [[id(n)]] follows a name.
  for (const auto& [begin, end] : split_at_commas(code_, d.begin, d.end)) {
    size_t name = begin;
    std::optional<int> id;
    bool named = false;
    for (size_t i = begin; i <= end; ++i) {
      for (const Attribute& a : code_.attributes_before(i)) {
        if (a.name == "id") id = std::atoi(a.argument.c_str());
      }
      if (i == end || code_.is(i, "[") || code_.is(i, "=") || code_.is(i, ";") ||
          code_.is(i, "{")) {
        break;
      }
      if (code_.is_identifier(i)) {
        name = i;
        named = true;
      }
      const size_t behind = code_.behind_template_arguments(i + 1, true);
      if (behind > i + 1 && behind <= end) i = behind - 1;
    }
    for (size_t i = name + 1; i <= end; ++i) {
      for (const Attribute& a : code_.attributes_before(i)) {
        if (a.name == "id") id = std::atoi(a.argument.c_str());
      }
    }
    if (!named) continue;
    if (begin == d.begin) pointers_of_spaces(d, begin, end);
    code_.add_member(code_[name].text);
    for (const Member& other : into.members) {
      if (id && other.id == id)
        code_.error(name, "member \"" + std::string(code_[name].text) + "\" has the [[id(" +
                              std::to_string(*id) + ")]] of member \"" + other.name + "\"");
    }
    if (id) into.has_ids = true;
    into.members.push_back({std::string(code_[name].text), id, code_[name].line});
  }
  (void)prefix;
}

// A method is for objects in the space that follows its parameters, by default `thread`.
// Constructors work for objects in any space. Defaulted copies within one space are removed,
// because clang's own copies serve all spaces.
void Scopes::method_qualifiers(const Declaration& d, const std::string& class_name) {
  const bool in_class = !class_of_member(code_, d);
  const std::string member = class_name + "::" + std::string(code_[d.open - 1].text);
  if (d.has(code_, "static", d.name)) static_members_.insert(member);
  const bool is_static = d.has(code_, "friend", d.name) || static_members_.count(member) != 0;
  // A constructor's name may include the template's arguments.
  const bool with_arguments =
      code_[d.name].is(class_name) && code_.behind_template_arguments(d.name + 1, true) == d.open;
  const bool is_constructor = code_[d.open - 1].is(class_name) || with_arguments;
  const bool is_destructor = d.name + 1 < code_.size() && d.open >= 2 && code_.is(d.open - 2, "~");
  size_t place = d.close;
  bool has_space = false;
  const size_t stop = d.body != 0 ? d.body : d.end;
  for (size_t i = d.close + 1; i < stop; ++i) {
    if (code_.is(i, ":") || code_.is(i, "->") || code_.is(i, "=")) break;
    if (code_.is(i, "const") || code_.is(i, "volatile")) place = i;
    if (!is_address_space(code_[i])) continue;
    has_space = true;
    place = i;
    if (is_constructor || is_destructor) {
      code_[i].replace("");
      continue;
    }
    // A temporary fits this overload and the one for `thread`. The latter is preferred if this
    // overload is a template.
    const bool other = code_.is(i, "device") || code_.is(i, "threadgroup");
    if (other && !d.is_template && d.body != 0 && in_class)
      code_[d.first].before += "template <int = 0> ";
    if (code_.is(i, "device")) code_[i].replace("__generic");
  }
  const bool defaulted = code_.is(d.end - 2, "default") && code_.is(d.end - 3, "=");
  // Constructors that differ only in the new object's space become one constructor.
  const std::string signature = class_name + code_.text(d.open, d.close);
  const bool repeated = is_constructor && !constructors_.insert(signature).second && has_space;
  if (defaulted && code_.is(d.name, "operator") && code_.is(d.name + 1, "=") && has_space &&
      define_assignment(d))
    return;
  if ((defaulted && d.open + 1 < d.close) || repeated) {
    for (size_t i = d.first; i < d.end; ++i) code_[i].replace("");
    return;
  }
  if (is_static || is_constructor || is_destructor) return;
  const bool assigns = code_.is(d.name, "operator") && is_assignment(code_[d.open - 1]);
  const bool of_thread = !has_space || code_.is(place, "thread");
  const size_t reference = reference_qualifier(code_, d, stop);
  if (code_.is(reference, "&&")) {  // a temporary has no space
    if (has_space && of_thread) code_[place].replace("");
    return;
  }
  if (!has_space) code_[place].after += " thread";
  // C++ requires ref-qualifiers on all overloads or on none.
  if (assigns || class_name.empty()) return;
  if (reference == stop) code_[place].after += "&";
  bool takes_temporaries = reference == stop;
  for (size_t i = d.close; i < reference; ++i) takes_temporaries |= code_.is(i, "const");
  if (of_thread && takes_temporaries) forward_from_temporary(d, class_name);
}

// In clang, temporaries have no address space, so methods for `thread` do not accept them. An
// additional overload for temporaries calls the method. One overload serves all methods of a name.
void Scopes::forward_from_temporary(const Declaration& d, const std::string& class_name) {
  // read_declaration() takes a conversion to `vec<T, 2>` for a function of this name.
  const size_t first = code_.is(d.name - 1, "operator") ? d.name - 1 : d.name;
  const bool converts = code_.is(first, "operator") && code_.is_identifier(first + 1);
  const std::string name = code_.text(first, d.open);
  const size_t count = split_at_commas(code_, d.open + 1, d.close).size();
  const bool fixed = code_.is(d.name, "operator") && !code_.is(d.open - 1, ")");
  bool is_const = false, is_reference = false;
  for (size_t i = d.close; i < (d.body != 0 ? d.body : d.end); ++i)
    is_const |= code_.is(i, "const");
  for (size_t i = d.begin; i < d.name; ++i) is_reference |= code_.is(i, "&") || code_.is(i, "*");
  const std::string key = name + (fixed ? std::to_string(count) : "") + (is_const ? " const" : "");
  if (class_of_member(code_, d) || !constructors_.insert("&&" + key).second) return;
  const std::string object = is_const ? "const thread __sm_C" : "thread __sm_C";
  const std::string cv = is_const ? " const" : "";
  std::string types, parameters, values;
  for (size_t i = 0; fixed && i < count; ++i) {
    const std::string n = std::to_string(i), comma = i == 0 ? "" : ", ";
    types += ", class __sm_A" + n;
    parameters += comma + "__sm_A" + n + "&& __sm_a" + n;
    values += comma + "static_cast<__sm_A" + n + "&&>(__sm_a" + n + ")";
  }
  if (!fixed) {
    types = ", class... __sm_A";
    parameters = "__sm_A&&... __sm_a";
    values = "static_cast<__sm_A&&>(__sm_a)...";
  }
  std::string out;
  if (converts) {
    out = " " + code_.text(d.first, d.begin) +
          (d.has(code_, "explicit", d.name) ? " explicit " : " ") + name + "()" + cv +
          "&& { return (*(" + (is_const ? "const " : "") + "thread " + class_name + "*)this)." +
          name + "(); }";
  } else {
    const std::string call = "." + name + "(" + values + ")";
    const bool is_constexpr = d.has(code_, "constexpr", d.name) && !is_reference;
    out =
        " template <class __sm_C = " + class_name + types + "> " +
        (is_constexpr ? "constexpr " : "") + "auto " + name + "(" + parameters + ")" + cv +
        "&& -> decltype(::metal::__sm_object<" + object + ">()" + call + ") { " +
        (is_constexpr ? "__sm_C __sm_o(*this); return __sm_o" : "return (*(" + object + "*)this)") +
        call + "; }";
  }
  code_[d.end - 1].after += out;
}

// For `thread T& operator=(const device T& x) thread = default`: defines one assignment for each
// space of the object, for values in all spaces. Otherwise, the space's other assignments would be
// ambiguous with clang's.
bool Scopes::define_assignment(const Declaration& d) {
  std::string space;
  for (size_t i = d.close + 1; i < d.end; ++i) {
    if (is_address_space(code_[i])) space = std::string(code_[i].text);
  }
  if (!constructors_.insert("=" + space).second || !code_.is_identifier(d.close - 1)) return false;
  for (size_t i = d.open; i < d.close; ++i) {
    if (is_address_space(code_[i])) code_[i].replace("__generic");
  }
  code_[d.end - 3].replace("{ __builtin_memcpy(this, &" + std::string(code_[d.close - 1].text) +
                           ", sizeof(*this)); return " +
                           (space == "device" ? "::metal::__sm_device(*this); }" : "*this; }"));
  code_[d.end - 2].replace("");
  return true;
}

}  // namespace softmetal
