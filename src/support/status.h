// Status and Result: how the runtime reports failure without exceptions.
//
// A Status is a code for programs and a message for people. The message keeps the driver's own
// words (error name, failing call, build log), is lower case and has no final stop. Both types are
// plain values: copy and move them freely, share them between threads like any other value. Success
// is a null pointer, so that checks that pass cost next to nothing.
//
// Running out of host memory for small objects ends the process; only allocations whose size the
// caller chooses are reported as OutOfMemory.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace texloom {

enum class StatusCode : std::uint8_t {
  Ok,
  InvalidArgument,   // the caller broke a documented rule; nothing was done
  NotFound,          // the named thing does not exist
  Unavailable,       // a loader, a driver or a device is missing
  LimitExceeded,     // the request is too large; nothing was done
  OutOfMemory,       // the host or the device has too little memory left for the request
  BuildFailed,       // the device compiler refused a kernel; the message has its log
  DeadlineExceeded,  // the wait timed out
  Cancelled,         // the caller ended the work before it was complete
  DeviceError,       // a driver call failed, now or earlier in asynchronous work
  Unimplemented,     // this driver or this device cannot do it
  Internal,          // a broken invariant of Texloom itself, or an exception of an operator
};

// "invalid argument", "not found", …
std::string_view to_string(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  // A success if `code` is Ok, whatever the message.
  Status(StatusCode code, std::string message);
  Status(const Status& other) : error_(other.ok() ? nullptr : copy(*other.error_)) {}
  Status& operator=(const Status& other) { return *this = Status(other); }
  // A moved-from Status is a success.
  Status(Status&&) = default;
  Status& operator=(Status&&) = default;
  ~Status() = default;

  bool ok() const { return error_ == nullptr; }
  StatusCode code() const { return ok() ? StatusCode::Ok : error_->code; }
  const std::string& message() const;  // empty for a success

  // "ok", or "<code name>: <message>".
  std::string to_string() const;

  // The same error with "<context>: " in front of its message; success stays success.
  Status with_context(std::string_view context) const;

 private:
  struct Error {
    StatusCode code;
    std::string message;
  };
  // Both are out of line, since errors are rare and checks frequent.
  struct Release {
    void operator()(Error* error) const;
  };
  using Pointer = std::unique_ptr<Error, Release>;
  static Pointer copy(const Error& error);

  Pointer error_;
};
// [not public: it needs {fmt}; other programs write Status(code, "message")
template <typename... Args>
Status make_error(StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
Status invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}
// not public]
namespace internal {
[[noreturn]] void die_of_bad_result(const Status& status);
}  // namespace internal

// A value, or the error that took its place. Reading the value of a failed Result ends the process
// with the error's text: it is a bug in the caller, not a condition to handle.
template <typename T>
class [[nodiscard]] Result {
 public:
  template <typename U>
    requires std::convertible_to<U&&, T> && (!std::convertible_to<U &&, Status>)
  Result(U&& value) : value_(std::forward<U>(value)) {}

  Result(Status error) : status_(std::move(error)) {
    if (status_.ok()) internal::die_of_bad_result(status_);
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }

  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& checked() {
    if (!value_.has_value()) internal::die_of_bad_result(status_);
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace texloom

#define TL_STATUS_JOIN_(a, b) a##b
#define TL_STATUS_JOIN(a, b) TL_STATUS_JOIN_(a, b)

// If `expression` gives a Status with an error, returns this Status from the enclosing function.
#define TL_RETURN_IF_ERROR(expression)                                                 \
  do {                                                                                 \
    if (::texloom::Status tl_status = (expression); !tl_status.ok()) return tl_status; \
  } while (false)

// `TL_ASSIGN_OR_RETURN(auto x, f())`: x is the value of f's Result, or its error is returned.
#define TL_ASSIGN_OR_RETURN(target, expression)             \
  auto TL_STATUS_JOIN(tl_result_, __LINE__) = (expression); \
  if (!TL_STATUS_JOIN(tl_result_, __LINE__).ok())           \
    return TL_STATUS_JOIN(tl_result_, __LINE__).status();   \
  target = *std::move(TL_STATUS_JOIN(tl_result_, __LINE__))
