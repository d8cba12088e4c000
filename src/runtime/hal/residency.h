// Keeping objects in a device's memory.
//
// A driver makes everything that a submission uses resident before it runs: callers need not do
// anything. They may keep an object resident between submissions, so that the first use of weights
// or the first dispatch of a kernel does not pay for it (MTLResidencySet, D3D12's MakeResident).
#pragma once

#include <cstdint>
#include <mutex>

#include "support/status.h"

namespace texloom::hal {

// A base of Buffer, Texture and Executable. A part of a buffer and a view over one stand for the
// whole buffer, which has the memory.
class Resident {
 public:
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  // Keeps the object in the device's memory until evict() has been called as often. OutOfMemory, or
  // for an executable the errors of Executable::prepare. Thread safe.
  Status make_resident();
  // Takes back one make_resident(); does nothing without one. Thread safe.
  void evict();

 protected:
  Resident() = default;
  ~Resident() = default;

 private:
  virtual Resident& owner() { return *this; }
  // For drivers, called in turns: by the first make_resident() and the last evict(). By default
  // the driver has nothing to do. An object may be destroyed while it is resident.
  virtual Status bring_in() { return {}; }
  virtual void let_go() {}

  std::mutex mutex_;
  std::uint32_t count_ = 0;  // guarded by mutex_
};

}  // namespace texloom::hal
