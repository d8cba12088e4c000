#include "runtime/drivers/opencl/platform/shared_programs.h"

namespace texloom::hal::opencl {

std::shared_ptr<SharedPrograms::Slot> SharedPrograms::slot_of(const BinaryDigest& key) {
  const std::scoped_lock lock(mutex_);
  const auto known = slots_.find(key);
  std::shared_ptr<Slot> slot = known == slots_.end() ? nullptr : known->second.lock();
  if (slot != nullptr) return slot;
  std::erase_if(slots_, [](const auto& each) { return each.second.expired(); });
  slot = std::make_shared<Slot>();
  slots_[key] = slot;
  return slot;
}

Result<std::shared_ptr<const ProgramHandle>> SharedPrograms::get(
    const BinaryDigest& key, FunctionRef<Result<ProgramHandle>()> make) {
  const std::shared_ptr<Slot> slot = slot_of(key);
  const std::scoped_lock lock(slot->building);
  if (!slot->program) {
    TL_ASSIGN_OR_RETURN(slot->program, make());
  }
  return std::shared_ptr<const ProgramHandle>(slot, &slot->program);
}

}  // namespace texloom::hal::opencl
