#include "support/status.h"

#include <cstdio>
#include <cstdlib>

namespace texloom {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::Ok:
      return "ok";
    case StatusCode::InvalidArgument:
      return "invalid argument";
    case StatusCode::NotFound:
      return "not found";
    case StatusCode::Unavailable:
      return "unavailable";
    case StatusCode::LimitExceeded:
      return "limit exceeded";
    case StatusCode::OutOfMemory:
      return "out of memory";
    case StatusCode::BuildFailed:
      return "build failed";
    case StatusCode::DeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::Cancelled:
      return "cancelled";
    case StatusCode::DeviceError:
      return "device error";
    case StatusCode::Unimplemented:
      return "unimplemented";
    case StatusCode::Internal:
      return "internal error";
  }
  return "unknown status";
}

Status::Status(StatusCode code, std::string message)
    : error_(code == StatusCode::Ok ? nullptr : new Error{code, std::move(message)}) {}

void Status::Release::operator()(Error* error) const { delete error; }

Status::Pointer Status::copy(const Error& error) { return Pointer(new Error(error)); }

const std::string& Status::message() const {
  static const std::string none;
  return ok() ? none : error_->message;
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return fmt::format("{}: {}", texloom::to_string(code()), message());
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return *this;
  return Status(code(), fmt::format("{}: {}", context, message()));
}

namespace internal {

void die_of_bad_result(const Status& status) {
  std::fprintf(stderr, "texloom: invalid use of a Result (%s)\n", status.to_string().c_str());
  std::abort();
}

}  // namespace internal
}  // namespace texloom
