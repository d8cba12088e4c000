// Declares the built-in functions that a program calls, in place of OpenCL's header with all of
// them.
//
// The header of PoCL's compiler has 18,000 lines, and each build parses them: 0.15 to 0.2 s for a
// kernel that takes 0.02 s without it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace texloom::hal::opencl {

// The build option that makes clang's opencl-c.h empty: it defines the header's include guard.
// Types, constants and macros are in another header, which stays.
inline constexpr std::string_view kNoBuiltinHeader = "-D_OPENCL_H_";

// Returns declarations in OpenCL C of the built-in functions that the program `source` calls, to be
// placed before it. The table has the functions of generated code and the most common ones of other
// sources. Nullopt if the program calls a built-in function outside of the table. A function is
// declared for all types that it accepts, so that no call converts its arguments for the lack of
// the right overload. Calls in macros and in included files are not seen, so a program with them
// may need the header.
std::optional<std::string> builtin_declarations(std::string_view source);

}  // namespace texloom::hal::opencl
