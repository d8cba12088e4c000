#include "runtime/hal/internal/recording/retained.h"

#include <algorithm>

namespace texloom::hal {

void RetainedObjects::insert(const void* object) {
  std::size_t i = hash_place(object, table_.size());
  while (table_[i] != nullptr) i = (i + 1) & (table_.size() - 1);
  table_[i] = object;
}

void RetainedObjects::add(std::shared_ptr<const void> object) {
  objects_.push_back(std::move(object));
  if (2 * objects_.size() <= table_.size()) return insert(objects_.back().get());
  table_.assign(std::max<std::size_t>(16, 2 * table_.size()), nullptr);
  for (const std::shared_ptr<const void>& each : objects_) insert(each.get());
}

}  // namespace texloom::hal
