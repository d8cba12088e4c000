#include "runtime/hal/residency.h"

namespace texloom::hal {

Status Resident::make_resident() {
  Resident& memory = owner();
  if (&memory != this) return memory.make_resident();
  const std::scoped_lock lock(mutex_);
  if (count_ == 0) TL_RETURN_IF_ERROR(bring_in());
  ++count_;
  return {};
}

void Resident::evict() {
  Resident& memory = owner();
  if (&memory != this) return memory.evict();
  const std::scoped_lock lock(mutex_);
  if (count_ > 0 && --count_ == 0) let_go();
}

}  // namespace texloom::hal
