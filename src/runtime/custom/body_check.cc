#include "runtime/custom/body_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/hal/binding.h"
#include "support/identifiers.h"

namespace texloom::runtime {
namespace {

// A word of kernel bodies (source_kernel.h), such as tl_load, whose first operand is an argument of
// the operator.
struct Word {
  std::string_view name;
  ArgumentStorage storage;  // the storage that the word needs; Any: either one
  hal::Access access;       // Read or Write; ReadWrite: either
  std::string_view use;     // how the word is written, for messages; {0}: the argument
};

constexpr hal::Access kEither = hal::Access::ReadWrite;
constexpr Word kCheckedWords[] = {
    {"tl_load", ArgumentStorage::Texture, hal::Access::Read, "tl_load({0}, col, row)"},
    {"tl_store", ArgumentStorage::Texture, hal::Access::Write, "tl_store({0}, col, row, v)"},
    {"tl_get", ArgumentStorage::Buffer, hal::Access::Read, "tl_get({0}, i)"},
    {"tl_put", ArgumentStorage::Buffer, hal::Access::Write, "tl_put({0}, i, v)"},
    {"tl_width", ArgumentStorage::Texture, kEither, "tl_width({0})"},
    {"tl_height", ArgumentStorage::Texture, kEither, "tl_height({0})"},
    {"tl_extent", ArgumentStorage::Any, kEither, "tl_extent({0}, axis)"},
    {"tl_type", ArgumentStorage::Any, kEither, "tl_type({0})"},
    {"tl_texel", ArgumentStorage::Any, kEither, "tl_texel({0})"},
    {"tl_four", ArgumentStorage::Any, kEither, "tl_four({0}, a, b, c, d)"},
};

// The body with spaces in place of comments and quoted text; line breaks stay.
std::string without_comments(std::string_view body) {
  std::string text(body);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
    return std::min(end, text.size());
  };
  const auto after = [&](std::string_view what, std::size_t from) {
    const std::size_t found = body.find(what, from);
    return found == std::string_view::npos ? body.size() : found + what.size();
  };
  for (std::size_t i = 0; i < body.size();) {
    const std::string_view rest = body.substr(i);
    if (rest.starts_with("//")) {
      i = blank(i, std::min(body.find('\n', i), body.size()));
    } else if (rest.starts_with("/*")) {
      i = blank(i, after("*/", i + 2));
    } else if (rest.front() == '"' || rest.front() == '\'') {
      std::size_t end = i + 1;
      while (end < body.size() && body[end] != rest.front()) end += body[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return text;
}

// The identifier at `at`, after spaces; moves `at` past the identifier.
std::string_view take_name(std::string_view text, std::size_t& at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  const std::size_t begin = at;
  while (at < text.size() && is_identifier_character(text[at])) ++at;
  return text.substr(begin, at - begin);
}

// The word that fits the argument instead of `word`: tl_get for a buffer instead of tl_load.
std::string advice_for(const Word& word, const OperatorArgument& argument) {
  // The word is tl_width or tl_height, which only textures have.
  if (word.access == kEither) return fmt::format("use tl_extent({}, axis)", argument.name);
  for (const Word& each : kCheckedWords) {
    const bool fits = each.access == hal::Access::Read ? hal::reads(argument.access)
                                                       : hal::writes(argument.access);
    if (each.storage == argument.storage && each.access == word.access && fits)
      return "use " + fmt::format(fmt::runtime(each.use), argument.name);
  }
  return fmt::format("declare \"{}\" as \"{} {}\"", argument.name,
                     word.access == hal::Access::Read ? "read" : "write", to_string(word.storage));
}

Status check_use(const Word& word, std::string_view name,
                 std::span<const OperatorArgument> arguments) {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(),
                   [&](const OperatorArgument& argument) { return argument.name == name; });
  if (found == arguments.end()) {
    std::vector<std::string_view> names;
    for (const OperatorArgument& each : arguments) names.push_back(each.name);
    return invalid_argument("{}({}): \"{}\" is not an argument; help: the arguments are {}",
                            word.name, name, name, fmt::join(names, ", "));
  }
  if (word.storage != ArgumentStorage::Any && word.storage != found->storage)
    return invalid_argument("{}({}): \"{}\" is a {}, but the word is for {}s; help: {}", word.name,
                            name, name, to_string(found->storage), to_string(word.storage),
                            advice_for(word, *found));
  const bool reads = word.access == hal::Access::Read, writes = word.access == hal::Access::Write;
  if ((reads && !hal::reads(found->access)) || (writes && !hal::writes(found->access)))
    return invalid_argument("{}({}): \"{}\" is only {}; help: declare it as {}", word.name, name,
                            name, reads ? "written" : "read",
                            found->storage == ArgumentStorage::Buffer
                                ? "\"read_write buffer\""
                                : fmt::format("\"{} texture\"", reads ? "read" : "write"));
  return {};
}

}  // namespace

Status check_body(std::string_view body, std::span<const OperatorArgument> arguments) {
  const std::string text = without_comments(body);
  if (text.find('#') != std::string::npos) return {};
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view name = take_name(text, at);
    if (name.empty()) {
      ++at;
      continue;
    }
    const auto* const word = std::find_if(std::begin(kCheckedWords), std::end(kCheckedWords),
                                          [&](const Word& each) { return each.name == name; });
    std::size_t operand = text.find_first_not_of(" \t\r\n", at);
    if (word == std::end(kCheckedWords) || operand == std::string::npos || text[operand] != '(')
      continue;
    const std::string_view argument = take_name(text, ++operand);
    if (argument.empty()) continue;
    const auto line = 1 + std::count(text.data(), name.data(), '\n');
    TL_RETURN_IF_ERROR(check_use(*word, argument, arguments)
                           .with_context(fmt::format("line {} of the body", line)));
  }
  return {};
}

bool has_vector_literal(std::string_view body) {
  const std::string text = without_comments(body);
  for (std::size_t open = text.find('('); open != std::string::npos;
       open = text.find('(', open + 1)) {
    std::size_t at = open + 1;
    const std::string_view name = take_name(text, at);
    const std::size_t close = text.find_first_not_of(" \t\r\n", at);
    if (name.empty() || !is_digit(name.back()) || close == std::string::npos || text[close] != ')')
      continue;
    const std::size_t next = text.find_first_not_of(" \t\r\n", close + 1);
    if (next != std::string::npos && text[next] == '(') return true;
  }
  return false;
}

}  // namespace texloom::runtime
