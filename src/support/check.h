// Checks Texloom's own invariants. A failed check is a bug in Texloom; mistakes of users are
// diagnostics (support/diagnostic.h).
#pragma once

#include <stdexcept>
#include <string>

namespace texloom {

// Reports a bug in Texloom. Thrown by TL_CHECK and TL_UNREACHABLE.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message = {});

}  // namespace texloom

#define TL_CHECK(condition, ...)                                                          \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::texloom::check_failed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

#define TL_UNREACHABLE(...) \
  ::texloom::check_failed(__FILE__, __LINE__, "unreachable" __VA_OPT__(, ) __VA_ARGS__)
