// The significant tokens of a program, without directives and without Metal's attributes, which are
// removed and stored with their positions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/softmetal/source/program.h"
#include "tests/softmetal/source/tokens.h"

namespace softmetal {

// Positions count significant tokens; ranges are half-open.
class Code {
 public:
  // Blanks the attributes of Metal in `tokens`, which must outlive the object.
  Code(std::vector<Token>& tokens, std::vector<Message>& messages);

  size_t size() const { return at_.size(); }
  Token& operator[](size_t i) { return tokens_[at_[i]]; }
  const Token& operator[](size_t i) const { return tokens_[at_[i]]; }
  bool is(size_t i, std::string_view text) const { return i < size() && (*this)[i].is(text); }
  bool is_identifier(size_t i) const { return i < size() && (*this)[i].is_identifier(); }

  // Returns the position of the bracket that closes the one at i, or size().
  size_t closing(size_t i) const;
  // Returns the position after the template arguments whose `<` is at i, or i if these are none.
  // With `of_any`, the name before `<` need not be a known template.
  size_t behind_template_arguments(size_t i, bool of_any) const;
  bool names_template(size_t i) const;
  void add_template(std::string_view name) { templates_.emplace(name); }
  // Names of members of the program's classes.
  void add_member(std::string_view name) { members_.emplace(name); }
  bool is_member(std::string_view name) const { return members_.find(name) != members_.end(); }

  // The attributes between the tokens i - 1 and i.
  const std::vector<Attribute>& attributes_before(size_t i) const;
  // All attributes, by the token that follows.
  std::map<size_t, std::vector<Attribute>>& attributes() { return attributes_; }
  // Returns the program's text of the tokens, on one line.
  std::string text(size_t begin, size_t end) const;

  void error(size_t i, std::string text) { error_at((*this)[i].line, std::move(text)); }
  void error_at(int line, std::string text) {
    messages_.push_back({Message::Kind::Error, line, std::move(text)});
  }

 private:
  void take_attributes(size_t first, size_t last);
  void match_brackets();

  std::vector<Token>& tokens_;
  std::vector<Message>& messages_;
  std::vector<size_t> at_;
  std::vector<size_t> closing_;
  std::map<size_t, std::vector<Attribute>> attributes_;
  std::set<std::string, std::less<>> templates_, members_;
};

bool is_assignment(const Token& token);  // `=`, `+=`, …
bool is_address_space(const Token& token);
// Types such as `float`, `uint4`, `packed_half3`.
bool is_builtin_type(const Token& token);
// Returns the joined contents of string literals, without the quotes.
std::string unquoted(const std::string& literals);
// Whether a builtin of compute kernels has this name.
bool is_builtin_attribute(std::string_view name);

}  // namespace softmetal
