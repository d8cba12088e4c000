// Conversions that Metal has and clang lacks in this language.
#pragma once

#include "tests/softmetal/source/code.h"

namespace softmetal {

// Replaces `static_cast<T>(x)` by a call in programs that name bfloat: clang cannot cast half to
// bfloat.
void rewrite_static_casts(Code& code);

// Returns the names of functions with a parameter such as `const device T&`, in any space other
// than `thread`.
std::set<std::string, std::less<>> functions_of_spaces(const Code& code);

// Clang binds no temporary to the parameter `const thread T& x`, from `begin` to `end`. The
// parameter becomes `const T x`, or `const __generic T& x`, to which clang prefers overloads for
// other spaces.
enum class Temporaries { ByValue, ByReference };
void take_temporaries(Code& code, size_t begin, size_t end, Temporaries how);

}  // namespace softmetal
