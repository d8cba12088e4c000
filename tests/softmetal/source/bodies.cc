#include "tests/softmetal/source/bodies.h"

#include <algorithm>
#include <array>

namespace softmetal {
namespace {

bool begins_statement(const Code& code, size_t i) {
  return code.is(i - 1, ";") || code.is(i - 1, "{") || code.is(i - 1, "}") || code.is(i - 1, ":");
}

// --- operands of ?: ---

bool is_literal(const Code& code, size_t begin, size_t end) {
  if (end == begin + 2 && (code.is(begin, "-") || code.is(begin, "+"))) ++begin;
  return end == begin + 1 && (code[begin].kind == TokenKind::Number || code.is(begin, "true") ||
                              code.is(begin, "false") || code.is(begin, "nullptr"));
}

// Returns whether the `?` at i belongs to an expression whose value is discarded: its operands may
// be void.
bool is_discarded(const Code& code, size_t i) {
  while (i-- > 0) {
    const Token& token = code[i];
    if (token.is(";") || token.is("{") || token.is("}")) return true;
    if (token.is("(") || token.is(",") || token.is("[") || token.is("return") ||
        is_assignment(token)) {
      return false;
    }
    if (token.is(")")) {  // skip the group
      int depth = 1;
      while (depth != 0 && i-- > 0) depth += code.is(i, ")") ? 1 : (code.is(i, "(") ? -1 : 0);
    }
  }
  return true;
}

// Returns the end of the operand that begins at i.
size_t end_of_operand(const Code& code, size_t i, size_t limit, bool first) {
  int nested = 0;
  for (; i < limit; ++i) {
    const Token& token = code[i];
    if (token.is("(") || token.is("[") || token.is("{")) {
      i = code.closing(i);
      continue;
    }
    const size_t behind = code.behind_template_arguments(i, false);
    if (behind > i) {
      i = behind - 1;
      continue;
    }
    if (token.is("?")) ++nested;
    if (token.is(":")) {
      if (nested == 0) return i;
      --nested;
    }
    if (token.is(";") || token.is(")") || token.is("]") || token.is("}")) return i;
    if (token.is(",") && !first) return i;
  }
  return limit;
}

void wrap(Code& code, size_t begin, size_t end) {
  if (begin >= end || is_literal(code, begin, end)) return;
  code[begin].before += " ::metal::__sm_value(";
  code[end - 1].after = ")" + code[end - 1].after;
}

void wrap_operands(Code& code, size_t open, size_t close) {
  for (size_t i = open; i < close; ++i) {
    // Template arguments are constants, which need no wrapping.
    const size_t behind = code.behind_template_arguments(i, false);
    if (behind > i) i = behind - 1;
    if (!code.is(i, "?") || code[i].replaced || is_discarded(code, i)) continue;
    const size_t colon = end_of_operand(code, i + 1, close, true);
    if (!code.is(colon, ":")) continue;
    wrap(code, i + 1, colon);
    wrap(code, colon + 1, end_of_operand(code, colon + 1, close, false));
  }
}

// --- threadgroup variables ---

bool is_cv(const Code& code, size_t i) {
  return code.is(i, "const") || code.is(i, "volatile") || code.is(i, "static") ||
         code.is(i, "constexpr");
}

// Returns the position after the type that begins at i: words of a builtin type, or a name with its
// template arguments.
size_t behind_type(const Code& code, size_t i) {
  while (is_cv(code, i)) ++i;
  if (code.is(i, "unsigned") || code.is(i, "signed")) {
    ++i;
    while (code.is(i, "int") || code.is(i, "char") || code.is(i, "short") || code.is(i, "long"))
      ++i;
    return i;
  }
  if (code.is(i, "typename") || code.is(i, "struct") || code.is(i, "class")) ++i;
  if (code.is(i, "decltype")) return code.closing(i + 1) + 1;
  if (code.is(i, "::")) ++i;
  while (code.is_identifier(i)) {
    ++i;
    i = std::max(i, code.behind_template_arguments(i, true));
    if (!code.is(i, "::")) break;
    ++i;
    if (code.is(i, "template")) ++i;
  }
  while (is_cv(code, i)) ++i;
  return i;
}

// Returns whether an initializer is zero: `= {}`, `= {0}`, `= 0`, `= {(T)0, 0.0f}`, or `=
// float4(0)` for a float4.
bool is_zero(const Code& code, size_t begin, size_t end, std::string_view type) {
  static constexpr std::array<std::string_view, 6> kOthers = {"=", "{", "}", "(", ")", ","};
  for (size_t i = begin; i < end; ++i) {
    const bool is_number = code[i].kind == TokenKind::Number &&
                           code[i].text.find_first_not_of("0.fFhHuUlL") == std::string_view::npos;
    const bool is_cast =
        code[i].kind == TokenKind::Identifier && code.is(i - 1, "(") && code.is(i + 1, ")");
    const bool is_other = std::any_of(kOthers.begin(), kOthers.end(),
                                      [&](std::string_view s) { return code.is(i, s); });
    if (!is_number && !is_cast && !is_other && !code.is(i, type)) return false;
  }
  return true;
}

// Returns the position after `alignas(16)` or `__attribute__((aligned(16)))` at i, and takes the
// argument; returns i if there is neither.
size_t behind_alignment(const Code& code, size_t i, std::string& alignment) {
  if (!code.is(i, "alignas") && !code.is(i, "__attribute__")) return i;
  const size_t end = code.closing(i + 1);
  for (size_t k = i; k < end; ++k) {
    if ((code.is(k, "alignas") || code.is(k, "aligned")) && code.is(k + 1, "(")) {
      alignment = code.text(k + 2, code.closing(k + 1));
    }
  }
  return end + 1;
}

// The tokens of a declaration such as `threadgroup T a[2], b;`.
struct ThreadgroupVariables {
  size_t first;  // of all
  size_t type, behind_type;
  size_t names;           // the first name
  std::string alignment;  // of all names; a name may have its own, too
};

// Replaces the variables by references to storage that all threads of a group share.
void rewrite_variables(Code& code, const ThreadgroupVariables& v) {
  size_t end = v.names;
  while (end < code.size() && !code.is(end, ";")) ++end;
  const std::string type_text = code.text(v.type, v.behind_type);
  std::string out;
  for (const auto& [begin, stop] : split_at_commas(code, v.names, end)) {
    size_t dims = begin + 1;
    while (dims < stop && code.is(dims, "[")) dims = code.closing(dims) + 1;
    std::string alignment = v.alignment;
    const size_t value = behind_alignment(code, dims, alignment);
    if (!is_zero(code, value, stop, type_text)) {
      code.error(value, "a variable in threadgroup memory cannot be initialized");
    }
    const std::string name(code[begin].text), id = std::to_string(begin);
    out += "typedef " + type_text + " __sm_type_" + id + code.text(begin + 1, dims) +
           "; threadgroup __sm_type_" + id + "& " + name + " = *::metal::__sm_" +
           (value < stop ? "zero_" : "") + "threadgroup<__sm_type_" + id + ", " + id + "u" +
           (alignment.empty() ? "" : ", (" + alignment + ")") + ">(); ";
  }
  for (size_t i = v.first; i < end; ++i) code[i].replace("");
  code[v.first].replace(out);
}

void rewrite_threadgroup_variables(Code& code, size_t open, size_t close, bool of_kernel) {
  for (size_t i = open + 1; i < close; ++i) {
    if (!code.is(i, "threadgroup")) continue;
    ThreadgroupVariables v{i, i + 1, 0, 0, {}};
    while (is_cv(code, v.first - 1)) --v.first;
    // An alignment before or after `threadgroup` becomes an argument of the storage.
    for (size_t k = v.first; k-- > open && v.first - k < 12;) {
      std::string alignment;
      if (behind_alignment(code, k, alignment) != v.first) continue;
      v.alignment = alignment;
      v.first = k;
    }
    if (!begins_statement(code, v.first)) continue;
    v.type = behind_alignment(code, v.type, v.alignment);
    v.behind_type = behind_type(code, v.type);
    v.names = behind_alignment(code, v.behind_type, v.alignment);
    // Without a name, this is a pointer or reference to threadgroup memory, or a cast.
    if (!code.is_identifier(v.names)) continue;
    if (!of_kernel) {
      code.error(i, "a variable in threadgroup memory can only be declared in a kernel");
    }
    rewrite_variables(code, v);
  }
}

// --- pointers without an address space ---

// Reports declarations `T* p = ...` and casts `(T*)p` of builtin types.
void check_pointers(Code& code, size_t open, size_t close) {
  for (size_t i = open + 1; i < close; ++i) {
    if (!is_builtin_type(code[i])) continue;
    size_t first = i;
    while (is_cv(code, first - 1)) --first;
    const bool cast = code.is(first - 1, "(");
    if (!cast && !begins_statement(code, first)) continue;
    size_t k = i + 1;
    while (is_cv(code, k) || is_builtin_type(code[k])) ++k;
    if (!code.is(k, "*") && !code.is(k, "&")) continue;
    const bool declares =
        !cast && code.is_identifier(k + 1) && (code.is(k + 2, "=") || code.is(k + 2, ";"));
    const bool casts = cast && code.is(k + 1, ")");
    if (declares || casts) {
      code.error(k, std::string(code.is(k, "*") ? "pointer" : "reference") +
                        " type must have an explicit address space: device, constant, threadgroup "
                        "or thread");
    }
  }
}

void rewrite_returns(Code& code, size_t open, size_t close) {
  for (size_t i = open + 1; i < close; ++i) {
    if (!code.is(i, "return") || code.is(i + 1, ";")) continue;
    size_t end = i;
    while (end < close && !code.is(end, ";")) {
      end = code.is(end, "(") || code.is(end, "[") || code.is(end, "{") ? code.closing(end) + 1
                                                                        : end + 1;
    }
    code[i].after += " ::metal::__sm_device(";
    code[end - 1].after += ")";
  }
}

void collect_calls(Code& code, size_t open, size_t close,
                   std::set<std::string, std::less<>>& calls) {
  for (size_t i = open + 1; i < close; ++i) {
    if (!code.is_identifier(i)) continue;
    const size_t behind = std::max(i + 1, code.behind_template_arguments(i + 1, false));
    if (code.is(behind, "(")) calls.emplace(code[i].text);
  }
}

// Completes lists that are too short: `uint4 v = {a, b};` sets the other components to zero.
void complete_lists(Code& code, size_t open, size_t close) {
  for (size_t i = open + 1; i + 3 < close; ++i) {
    const std::string_view type = code[i].text;
    const bool vector = is_builtin_type(code[i]) && type.back() >= '2' && type.back() <= '4';
    if (!vector || !code.is_identifier(i + 1) || !code.is(i + 2, "=") || !code.is(i + 3, "{"))
      continue;
    const size_t end = code.closing(i + 3);
    const size_t count = split_at_commas(code, i + 4, end).size();
    if (count == 0 || count >= static_cast<size_t>(type.back() - '0')) continue;
    code[i + 3].replace("::metal::__sm_list<" + std::string(type) + ">(");
    code[end].replace(")");
  }
}

bool is_swizzle(std::string_view s) {
  if (s.size() < 2 || s.size() > 4) return false;
  return s.find_first_not_of("xyzw") == std::string_view::npos ||
         s.find_first_not_of("rgba") == std::string_view::npos;
}

// In a template, turns swizzles that are only read into calls of their getters, since clang drops a
// property if the other operand is template-dependent.
void rewrite_swizzles(Code& code, size_t open, size_t close) {
  for (size_t i = open + 1; i < close; ++i) {
    if (!code.is_identifier(i) || !is_swizzle(code[i].text) || code.is_member(code[i].text))
      continue;
    if (!code.is(i - 1, ".") && !code.is(i - 1, "->")) continue;
    if (code.is(i + 1, "(") || code.is(i + 1, "++") || code.is(i + 1, "--") ||
        is_assignment(code[i + 1])) {
      continue;
    }
    std::string name(code[i].text);
    for (char& c : name)
      c = c == 'r' ? 'x' : (c == 'g' ? 'y' : (c == 'b' ? 'z' : (c == 'a' ? 'w' : c)));
    code[i].replace("__get_" + name + "()");
  }
}

// Replaces `is_function_constant_defined(name)` by the variable from record_function_constant().
void rewrite_questions(Code& code, size_t open, size_t close) {
  for (size_t i = open; i < close; ++i) {
    if (code.is(i, "is_function_constant_defined") && code.is(i + 1, "(")) {
      const size_t name = code.closing(i + 1) - 1;
      code[i].replace("");
      code[name].before += "__sm_defined_";
    }
  }
}

// Reports static variables that are not constants.
void check_statics(Code& code, size_t open, size_t close) {
  for (size_t i = open + 1; i < close; ++i) {
    if (!code.is(i, "static") || !code[i].of_user) continue;
    bool is_constant = false;
    size_t end = i + 1;
    for (; end < close && !code.is(end, "=") && !code.is(end, ";") && !code.is(end, "("); ++end)
      is_constant |= code.is(end, "const") || code.is(end, "constexpr") || code.is(end, "constant");
    if (!is_constant && !code.is(end, "("))
      code.error(i, "a static variable must be in the constant address space");
  }
}

// Atomic operations take only memory_order_relaxed; only fences order other memory.
void check_memory_orders(Code& code, size_t call) {
  const std::string_view name = code[call].text;
  if (!name.starts_with("atomic_") || !name.ends_with("_explicit") || !code.is(call + 1, "("))
    return;
  for (size_t i = call + 2; i < code.closing(call + 1); ++i) {
    if (code[i].text.starts_with("memory_order_") && !code.is(i, "memory_order_relaxed"))
      code.error(i, std::string(name) + "() takes memory_order_relaxed alone");
  }
}

}  // namespace

void rewrite_body(Code& code, size_t open, const BodyContext& context) {
  const size_t close = code.closing(open);
  rewrite_threadgroup_variables(code, open, close, context.of_kernel);
  if (context.of_device_method) rewrite_returns(code, open, close);
  wrap_operands(code, open, close);
  complete_lists(code, open, close);
  if (context.of_template) rewrite_swizzles(code, open, close);
  check_pointers(code, open, close);
  check_statics(code, open, close);
  if (context.calls != nullptr) collect_calls(code, open, close, *context.calls);
}

void check_words(Code& code, int version) {
  struct Word {
    std::string_view word;
    const char* why;
  };
  static constexpr std::array<Word, 14> kMissing = {{
      {"double", "type \"double\" is not supported in Metal"},
      {"goto", "\"goto\" is not supported in Metal"},
      {"try", "exceptions are not supported in Metal"},
      {"catch", "exceptions are not supported in Metal"},
      {"throw", "exceptions are not supported in Metal"},
      {"new", "\"new\" is not supported in Metal"},
      {"delete", "\"delete\" is not supported in Metal"},
      {"dynamic_cast", "\"dynamic_cast\" is not supported in Metal"},
      {"typeid", "\"typeid\" is not supported in Metal"},
      {"thread_local", "\"thread_local\" is not supported in Metal"},
      {"virtual", "virtual functions are not supported in Metal"},
      {"asm", "\"asm\" is not supported in Metal"},
      {"__asm", "\"__asm\" is not supported in Metal"},
      {"__asm__", "\"__asm__\" is not supported in Metal"},
  }};
  struct Feature {
    std::string_view prefix;
    bool whole;
    int version;
  };
  static constexpr std::array<Feature, 14> kFeatures = {{{"bfloat", true, 310},
                                                         {"bfloat2", true, 310},
                                                         {"bfloat3", true, 310},
                                                         {"bfloat4", true, 310},
                                                         {"packed_bfloat", false, 310},
                                                         {"simdgroup_bfloat8x8", true, 310},
                                                         {"atomic_float", true, 300},
                                                         {"memory_order_acquire", true, 320},
                                                         {"memory_order_release", true, 320},
                                                         {"memory_order_acq_rel", true, 320},
                                                         {"memory_order_seq_cst", true, 320},
                                                         {"simdgroup_matrix", true, 230},
                                                         {"simdgroup_float8x8", true, 230},
                                                         {"simd_shuffle_and_fill", false, 240}}};
  for (size_t i = 0; i < code.size(); ++i) {
    const Token& token = code[i];
    // With C linkage, the linker would use the host's functions.
    if (token.is("extern") && i + 1 < code.size() && code[i + 1].text == "\"C\"")
      code[i + 1].replace("\"C++\"");
    if (!token.is_identifier() || !token.of_user) continue;
    // `coherent device` affects only caching, which the software Metal does not simulate.
    if (token.is("coherent") && (code.is(i + 1, "device") || code.is(i + 1, "("))) {
      for (size_t k = i; k <= (code.is(i + 1, "(") ? code.closing(i + 1) : i); ++k)
        code[k].replace("");
      continue;
    }
    check_memory_orders(code, i);
    for (const Word& word : kMissing) {
      const bool deleted = word.word == "delete" && code.is(i - 1, "=");
      if (token.text == word.word && !deleted) code.error(i, word.why);
    }
    for (const Feature& feature : kFeatures) {
      const bool named = feature.whole
                             ? token.text == feature.prefix
                             : token.text.substr(0, feature.prefix.size()) == feature.prefix;
      if (named && version < feature.version) {
        code.error(i, "\"" + std::string(token.text) + "\" needs Metal language version " +
                          std::to_string(feature.version / 100) + "." +
                          std::to_string(feature.version / 10 % 10) +
                          " or later; the program is of " + std::to_string(version / 100) + "." +
                          std::to_string(version / 10 % 10));
      }
    }
  }
  rewrite_questions(code, 0, code.size());
}

}  // namespace softmetal
