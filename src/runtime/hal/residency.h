// Keeps objects in a device's memory.
//
// A driver makes everything that a submission uses resident before it runs, so callers need not do
// anything. Callers may keep an object resident between submissions, so that the first use of
// weights or the first dispatch of a kernel is not delayed (MTLResidencySet, D3D12's MakeResident).
#pragma once

#include <cstdint>
#include <mutex>

#include "support/status.h"

namespace texloom::hal {

// The base class of Buffer, Texture and Executable. A subspan of a buffer, or a view over one,
// stands for the whole buffer that owns the memory.
class Resident {
 public:
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  // Keeps the object in the device's memory until evict() has been called as many times.
  // OutOfMemory, or for an executable the errors of Executable::prepare. Thread safe.
  Status make_resident();
  // Undoes one make_resident(); does nothing without one. Thread safe.
  void evict();

 protected:
  Resident() = default;
  ~Resident() = default;

 private:
  virtual Resident& owner() { return *this; }
  // Implemented by drivers; called alternately, by the first make_resident() and the last evict().
  // The defaults do nothing. An object may be destroyed while it is resident.
  virtual Status bring_in() { return {}; }
  virtual void let_go() {}

  std::mutex mutex_;
  std::uint32_t count_ = 0;  // guarded by mutex_
};

}  // namespace texloom::hal
