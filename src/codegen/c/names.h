// Makes identifiers of C-like languages from users' names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "support/identifiers.h"

namespace texloom::codegen {

// Assigns one identifier to each owner (a variable, a buffer, a kernel), close to the name that the
// user gave it: "X.texture" becomes X_texture, a second one X_texture_1, "float" becomes v_float.
// The identifiers depend only on the order of the calls.
class Names {
 public:
  // The words must outlive this object.
  explicit Names(const ReservedWords& reserved) : reserved_(reserved) {}

  // Returns the same identifier at each call for one owner.
  const std::string& of(const void* owner, std::string_view name);

  // Reserves the identifier: no owner gets it from now on.
  void keep_free(const std::string& identifier) { used_.insert(identifier); }

 private:
  std::string to_identifier(std::string_view name) const;
  std::string unused(const std::string& identifier);

  const ReservedWords& reserved_;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> counts_;  // by identifier: the last suffix
};

}  // namespace texloom::codegen
