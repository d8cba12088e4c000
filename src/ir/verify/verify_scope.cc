#include "ir/verify/verify_scope.h"

namespace texloom::ir {

bool VerifyScope::define(const void* what, bool varying) {
  const auto slot = static_cast<int>(definitions_.size());
  if (!slots_.try_emplace(what, slot).second) return false;
  definitions_.push_back({what, ++serial_, varying});
  return true;
}

void VerifyScope::leave(size_t depth) {
  for (; definitions_.size() > depth; definitions_.pop_back()) {
    slots_.erase(definitions_.back().what);
  }
}

bool VerifyScope::use(const void* what) {
  const auto found = slots_.find(what);
  if (found == slots_.end()) return false;
  const Definition& definition = definitions_[static_cast<size_t>(found->second)];
  depend({found->second, definition.serial, definition.varying, false});
  return true;
}

void VerifyScope::depend(const Fact& fact) {
  if (fact.slot > fact_.slot) {
    fact_.slot = fact.slot;
    fact_.serial = fact.serial;
  }
  fact_.varying |= fact.varying;
}

Fact VerifyScope::end(const Expr& e, const Fact& outer) {
  const Fact result = std::exchange(fact_, outer);
  // Checking a leaf is faster than a lookup.
  if (e->size > 1) facts_[e.get()] = result;
  return result;
}

const Fact* VerifyScope::known(const Expr& e, bool guarded) const {
  if (e->size <= 1) return nullptr;
  const auto found = facts_.find(e.get());
  if (found == facts_.end()) return nullptr;
  const Fact& fact = found->second;
  const auto slot = static_cast<size_t>(fact.slot);
  const bool in_force =
      fact.slot < 0 || (slot < definitions_.size() && definitions_[slot].serial == fact.serial);
  return in_force && (!fact.guarded || guarded) ? &fact : nullptr;
}

}  // namespace texloom::ir
