#include "codegen/legalize/shuffles/combination_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ir/accesses.h"
#include "ir/visit.h"

namespace texloom::codegen {

using namespace ir;  // the whole file works on IR nodes

namespace {

class StepReader {
 public:
  StepReader(const BlockThreads& threads, const PartOwners& owners)
      : threads_(threads), owners_(owners) {}

  std::optional<CombinationStep> read(const If& guard) {
    if (accesses_memory(guard.condition)) return std::nullopt;
    std::optional<std::vector<bool>> threads = threads_.where(guard.condition);
    if (!threads) return std::nullopt;
    step_.threads = std::move(*threads);
    if (!read_update(guard.then) || stored_.size() != owners_.buffers()) return std::nullopt;
    if (distances_.size() == 1 && *distances_.begin() > 0) step_.offset = *distances_.begin();
    return std::move(step_);
  }

 private:
  bool read_update(const Stmt& s) {
    if (const auto* seq = as<Seq>(s)) {
      return std::ranges::all_of(seq->statements,
                                 [&](const Stmt& each) { return read_update(each); });
    }
    if (const auto* let = as<Let>(s)) return read_value(let->value) && read_update(let->body);
    const auto* store = as<Store>(s);
    return store != nullptr && read_value(store->value) && read_store(*store);
  }

  bool read_store(const Store& store) {
    const std::optional<PartIndex> index =
        owners_.at(store.buffer, store.value->type, store.indices.front());
    const bool first = stored_.insert(store.buffer.get()).second;
    return first && index && index->is_own(step_.threads);
  }

  // Only parts may be read, because other elements could change between the steps. Buffers that
  // this step has stored to may not be read, because shuffles read registers, and the last step may
  // store to memory alone.
  bool read_value(const Expr& e) {
    bool valid = true;
    walk(
        e, [&](const Load& n) { valid = valid && read_load(n); },
        [&](const TextureLoad&) { valid = false; }, [&](const ForeignCall&) { valid = false; });
    return valid;
  }

  bool read_load(const Load& load) {
    const std::optional<PartIndex> index = owners_.at(load.buffer, load.type, load.indices.front());
    if (!index || stored_.contains(load.buffer.get())) return false;
    if (index->is_own(step_.threads)) return true;
    step_.others.insert(&load);
    step_.taken.insert(load.buffer.get());
    for (size_t n = 0; n < step_.threads.size(); ++n) {
      if (!step_.threads[n]) continue;
      if (!index->owners[n]) return false;
      const int64_t source = *index->owners[n];
      step_.sources.insert(source);
      distances_.insert(threads_.distance_in_simd_group(static_cast<int64_t>(n), source));
    }
    return true;
  }

  const BlockThreads& threads_;
  const PartOwners& owners_;
  CombinationStep step_;
  std::unordered_set<const BufferNode*> stored_;
  std::set<std::optional<int64_t>> distances_;  // nullopt for a thread of another SIMD-group
};

}  // namespace

std::optional<CombinationStep> combination_step(const Stmt& s, const BlockThreads& threads,
                                                const PartOwners& owners) {
  const auto* guard = as<If>(s);
  return guard == nullptr ? std::nullopt : StepReader(threads, owners).read(*guard);
}

}  // namespace texloom::codegen
