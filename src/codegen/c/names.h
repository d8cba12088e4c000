// Identifiers of C-like languages for the names of users.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace texloom::codegen {

// Words that a language keeps for itself, as data. A list is one text with a space before and
// after each word.
struct ReservedWords {
  std::span<const std::string_view> prefixes;  // everything that begins with one is reserved
  std::string_view vector_types;               // a list: each alone, and with digits after it
  std::span<const std::string_view> lists;

  bool contains(std::string_view identifier) const;
};

// A list of the words of C, C++ and their compilers.
extern const std::string_view kReservedInC;

// One identifier for each owner (a variable, a buffer, a kernel), close to the name that the user
// gave it: "X.texture" becomes X_texture, a second one X_texture_1, "float" becomes v_float. The
// identifiers depend only on the order of the calls.
class Names {
 public:
  // The words outlive it.
  explicit Names(const ReservedWords& reserved) : reserved_(reserved) {}

  // The same identifier at each call for one owner.
  const std::string& of(const void* owner, std::string_view name);

  // Nobody gets this one from now on.
  void keep_free(const std::string& identifier) { used_.insert(identifier); }

 private:
  std::string to_identifier(std::string_view name) const;
  std::string unused(const std::string& identifier);

  const ReservedWords& reserved_;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> counts_;  // the last number after each
};

}  // namespace texloom::codegen
