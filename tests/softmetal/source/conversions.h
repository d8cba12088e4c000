// Conversions that Metal has, and clang does not in this language.
#pragma once

#include "tests/softmetal/source/code.h"

namespace softmetal {

// `static_cast<T>(x)` becomes a call in programs that name bfloat: clang casts no half to bfloat.
void rewrite_static_casts(Code& code);

// Names of functions that have a parameter `const device T&` or of another space that is not the
// thread's.
std::set<std::string, std::less<>> functions_of_spaces(const Code& code);

// Clang binds no temporary to `const thread T& x`, the parameter from `begin` to `end`. It becomes
// `const T x`, or `const __generic T& x`, after which overloads for other spaces come first.
enum class Temporaries { ByValue, ByReference };
void take_temporaries(Code& code, size_t begin, size_t end, Temporaries how);

}  // namespace softmetal
