// Identifiers of OpenCL C for the names of users.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace texloom::codegen::opencl {

// True of the keywords, types, built-in functions and macros of OpenCL C, and of the names that
// the printer itself uses (those that begin with "tl_").
bool is_reserved(std::string_view identifier);

// One identifier for each owner (a variable, a buffer, a kernel), close to the name that the user
// gave it: "X.texture" becomes X_texture, a second one X_texture_1, "float" becomes v_float. The
// identifiers depend on nothing but the order of the calls.
class Names {
 public:
  // The same identifier at each call for one owner.
  const std::string& of(const void* owner, std::string_view name);

  // Nobody gets this one from now on.
  void keep_free(const std::string& identifier) { used_.insert(identifier); }

 private:
  std::string unused(const std::string& identifier);

  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> counts_;  // the last number behind each
};

}  // namespace texloom::codegen::opencl
