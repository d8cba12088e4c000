// Turns exceptions of the user's code into errors.
#pragma once

#include <exception>
#include <utility>

#include "support/status.h"

namespace texloom::runtime {

// Calls a function that returns a Status or a Result; returns Internal if the function throws,
// which its contract forbids.
template <class Function>
auto without_exceptions(Function&& function) -> decltype(function()) {
#ifdef __cpp_exceptions
  try {
    return std::forward<Function>(function)();
  } catch (const std::exception& error) {
    return make_error(StatusCode::Internal,
                      "threw \"{}\"; help: an operator returns a Status instead", error.what());
  } catch (...) {
    return make_error(StatusCode::Internal,
                      "threw an object; help: an operator returns a Status instead");
  }
#else
  return std::forward<Function>(function)();
#endif
}

}  // namespace texloom::runtime
