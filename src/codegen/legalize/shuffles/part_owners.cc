#include "codegen/legalize/shuffles/part_owners.h"

#include <utility>

namespace texloom::codegen {

bool PartIndex::is_own(const std::vector<bool>& threads) const {
  for (size_t n = 0; n < threads.size(); ++n) {
    if (threads[n] && owners[n] != static_cast<int64_t>(n)) return false;
  }
  return true;
}

PartOwners::PartOwners(const BlockThreads& threads, ThreadIndex own)
    : threads_(threads), own_(std::move(own)) {
  for (size_t n = 0; n < threads.count(); ++n) {
    owners_.emplace(own_.of_thread[n], static_cast<int64_t>(n));
  }
}

std::optional<PartOwners> PartOwners::of(const std::vector<const ir::Store*>& parts,
                                         const BlockThreads& threads) {
  std::optional<ThreadIndex> own = threads.index(parts.front()->indices.front());
  if (!own) return std::nullopt;
  PartOwners result(threads, std::move(*own));
  if (result.owners_.size() != threads.count()) return std::nullopt;
  const std::vector<bool> all(threads.count(), true);
  for (const ir::Store* part : parts) {
    result.buffers_.insert(part->buffer.get());
    const std::optional<PartIndex> index =
        result.at(part->buffer, part->value->type, part->indices.front());
    if (!index || !index->is_own(all)) return std::nullopt;
  }
  return result;
}

std::optional<PartIndex> PartOwners::at(const ir::Buffer& buffer, ir::Type type,
                                        const ir::Expr& index) const {
  if (!has(buffer) || type != buffer->type) return std::nullopt;
  const std::optional<ThreadIndex> elements = threads_.index(index);
  if (!elements || !equal(elements->of_block, own_.of_block)) return std::nullopt;
  PartIndex result{{}, elements->factors};
  for (const int64_t element : elements->of_thread) {
    const auto owner = owners_.find(element);
    result.owners.push_back(owner == owners_.end() ? std::nullopt : std::optional(owner->second));
  }
  return result;
}

}  // namespace texloom::codegen
