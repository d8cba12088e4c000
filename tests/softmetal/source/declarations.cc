#include "tests/softmetal/source/declarations.h"

namespace softmetal {
namespace {

bool is_class_key(const Token& token) {
  return token.is("struct") || token.is("class") || token.is("union");
}

void read_template_parameters(const Code& code, size_t open, size_t behind, Declaration& out) {
  for (const auto& [begin, end] : split_at_commas(code, open + 1, behind - 1)) {
    for (size_t i = begin; i < end; ++i) {
      const bool last = i + 1 == end || code.is(i + 1, "=");
      if (last && code.is_identifier(i)) {
        out.template_parameters.push_back(
            {std::string(code[i].text), code.is(i + 1, "=") ? code.text(i + 2, end) : ""});
      }
      if (code.is(i, "=")) break;
    }
  }
}

// Returns the begin of the name before the parameters at `open`: `f`, `A<T>::f`, `operator+`.
size_t begin_of_name(const Code& code, size_t begin, size_t open) {
  size_t i = open;
  for (size_t k = open; k-- > begin && k + 4 > open;) {
    if (code.is(k, "operator")) i = k + 1;
  }
  if (i == open && code.is(open - 1, ">")) {  // template arguments of an explicit instantiation
    int depth = 0;
    for (i = open - 1; i > begin; --i) {
      if (code.is(i, ">")) ++depth;
      if (code.is(i, "<") && --depth == 0) break;
    }
  }
  if (i > begin) --i;
  if (i > begin && code.is(i - 1, "~")) --i;
  while (i >= begin + 2 && code.is(i - 1, "::")) {
    i -= 2;
    if (code.is(i, ">")) {
      int depth = 0;
      for (; i > begin; --i) {
        if (code.is(i, ">")) ++depth;
        if (code.is(i, "<") && --depth == 0) break;
      }
      if (i > begin) --i;
    }
  }
  return i;
}

// Returns whether the parenthesis at `open` begins a function's parameters.
bool opens_parameters(const Code& code, size_t begin, size_t open) {
  if (open == begin) return false;
  const Token& last = code[open - 1];
  if (last.is("decltype") || last.is("alignas") || last.is("__attribute__") ||
      last.is("explicit") || last.is("sizeof") || last.is("operator")) {
    return false;
  }
  if (last.is_identifier() || (last.is(">") && !code.is(open - 2, "operator"))) return true;
  for (size_t k = open; k-- > begin && k + 4 > open;) {
    if (code.is(k, "operator")) return true;
  }
  return false;
}

}  // namespace

std::optional<size_t> class_of_member(const Code& code, const Declaration& d) {
  std::optional<size_t> found;
  if (code.is(d.name - 1, "operator")) return found;  // to a type
  for (size_t i = d.name; i < d.open && code.is_identifier(i);) {
    const size_t behind = code.behind_template_arguments(i + 1, true);
    if (!code.is(behind, "::")) break;
    found = i;
    i = behind + 1;
  }
  return found;
}

std::vector<std::pair<size_t, size_t>> split_at_commas(const Code& code, size_t begin, size_t end) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t first = begin;
  for (size_t i = begin; i < end; ++i) {
    if (code.is(i, "(") || code.is(i, "[") || code.is(i, "{")) i = code.closing(i);
    const size_t behind = i < end ? code.behind_template_arguments(i, true) : i;
    if (behind > i && behind <= end) i = behind - 1;
    if (i < end && code.is(i, ",")) {
      parts.emplace_back(first, i);
      first = i + 1;
    }
  }
  if (first < end) parts.emplace_back(first, end);
  return parts;
}

Declaration read_declaration(const Code& code, size_t begin, size_t limit) {
  Declaration out;
  out.first = begin;
  while (code.is(begin, "template") && code.is(begin + 1, "<")) {
    const size_t behind = code.behind_template_arguments(begin + 1, true);
    if (behind == begin + 1) break;
    out.is_template = true;
    read_template_parameters(code, begin + 1, behind, out);
    begin = behind;
  }
  out.begin = begin;
  bool assigned = false;
  size_t class_key = limit;
  size_t i = begin;
  for (; i < limit; ++i) {
    const Token& token = code[i];
    if (token.is(";")) break;
    const size_t behind = out.is_function || assigned ? i : code.behind_template_arguments(i, true);
    if (behind > i && behind <= limit && !code.is(i - 1, "operator")) {
      i = behind - 1;
      continue;
    }
    if (token.is("enum")) out.is_enum = true;
    if (is_class_key(token) && class_key == limit) class_key = i;
    if (token.is("=") && !out.is_function && !code.is(i - 1, "operator")) assigned = true;
    if (token.is("(")) {
      if (!out.is_function && !assigned && opens_parameters(code, begin, i)) {
        out.is_function = true;
        out.open = i;
        out.close = code.closing(i);
        out.name = begin_of_name(code, begin, i);
      }
      i = code.closing(i);
    } else if (token.is("[")) {
      i = code.closing(i);
    } else if (token.is("{")) {
      const size_t close = code.closing(i);
      if (out.is_function && !assigned) {
        // A constructor's initializers may have braces: `: a{1} {`.
        if (code.is(close + 1, ",") || code.is(close + 1, "{")) {
          i = close;
          continue;
        }
        out.body = i;
        i = close;
        break;
      }
      if (class_key != limit && !assigned && !out.is_enum) {
        out.is_class = true;
        out.body = i;
        out.class_name = class_key + 1;
        while (code.is(out.class_name, "alignas") || code.is(out.class_name, "__attribute__"))
          out.class_name = code.closing(out.class_name + 1) + 1;
      }
      i = close;
    }
  }
  out.end = std::min(i + 1, limit);
  return out;
}

}  // namespace softmetal
