// The programs of one device that are in use. Equal ones are built once.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/hal/binary_key.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// Thread safe.
class SharedPrograms {
 public:
  // Returns the program of this key, which is the same for all callers until the last of them
  // releases it. `make` builds it; a caller that asks meanwhile waits. After an error of `make`,
  // the next caller tries again.
  Result<std::shared_ptr<const ProgramHandle>> get(const BinaryDigest& key,
                                                   FunctionRef<Result<ProgramHandle>()> make);

 private:
  struct Slot {
    std::mutex building;
    ProgramHandle program;  // guarded by `building` until it is there
  };
  std::shared_ptr<Slot> slot_of(const BinaryDigest& key);

  std::mutex mutex_;
  std::map<BinaryDigest, std::weak_ptr<Slot>> slots_;  // guarded by mutex_
};

}  // namespace texloom::hal::opencl
