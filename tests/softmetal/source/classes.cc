// Classes of a program: their members, and methods that are of one space.
#include <algorithm>

#include "tests/softmetal/source/bodies.h"
#include "tests/softmetal/source/scopes.h"

namespace softmetal {
namespace {

bool is_access_specifier(const Code& code, size_t i) {
  return (code.is(i, "public") || code.is(i, "private") || code.is(i, "protected")) &&
         code.is(i + 1, ":");
}

}  // namespace

void Scopes::class_scope(const Declaration& d, const std::string& prefix) {
  Struct s;
  const std::string name(code_.is_identifier(d.class_name) ? code_[d.class_name].text : "");
  s.name = prefix + name;
  s.line = code_[d.begin].line;
  s.is_template = d.is_template;
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
        class_scope(member, s.name + "::");
      } else if (!code_.is(member.begin, "using") && !code_.is(member.begin, "typedef") &&
                 !code_.is(member.begin, "friend") && !code_.is(member.begin, "static_assert") &&
                 !member.is_enum) {
        class_member(member, prefix, name, s);
      }
      i = std::max(member.end, i + 1);
    }
  }
  std::swap(outer, constructors_);
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
    if (id) into.has_ids = true;
    into.members.push_back({std::string(code_[name].text), id, code_[name].line});
  }
  (void)prefix;
}

// A method is of the space that follows its parameters, or of `thread`. Constructors make objects
// of any space here; what only says how to copy within one is left out, because clang's own does it
// for all.
void Scopes::method_qualifiers(const Declaration& d, const std::string& class_name) {
  const bool is_static = d.has(code_, "static", d.name) || d.has(code_, "friend", d.name);
  const bool is_constructor = code_[d.open - 1].is(class_name);
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
    // A temporary fits this one and that of the thread, which comes first if this is a template.
    const bool other = code_.is(i, "device") || code_.is(i, "threadgroup");
    if (other && !d.is_template && d.body != 0) code_[d.first].before += "template <int = 0> ";
    if (code_.is(i, "device")) code_[i].replace("__generic");
  }
  const bool defaulted = code_.is(d.end - 2, "default") && code_.is(d.end - 3, "=");
  // Constructors that differ in the space of the new object are one here.
  const std::string signature = code_.text(d.open, d.close);
  const bool repeated = is_constructor && has_space && !constructors_.insert(signature).second;
  if (defaulted && code_.is(d.name, "operator") && code_.is(d.name + 1, "=") && has_space &&
      define_assignment(d))
    return;
  if ((defaulted && d.open + 1 < d.close) || repeated) {
    for (size_t i = d.first; i < d.end; ++i) code_[i].replace("");
    return;
  }
  if (is_static || is_constructor || is_destructor || has_space) return;
  code_[place].after += " thread";
}

// `thread T& operator=(const device T& x) thread = default`: one definition for each space of the
// object takes values of all spaces. Without it, other assignments of that space would fit as well
// as clang's.
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
                           (space == "device" ? "metal::__sm_device(*this); }" : "*this; }"));
  code_[d.end - 2].replace("");
  return true;
}

}  // namespace softmetal
