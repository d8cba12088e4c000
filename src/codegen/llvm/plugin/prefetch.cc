#include "codegen/llvm/plugin/prefetch.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/evaluation.h"
#include "ir/visit.h"

namespace texloom::codegen::native {

namespace {

using ir::Expr;
using ir::Stmt;

// Less stays in the nearest cache, so that no pass but the first of all waits.
constexpr int64_t kLeastBytes = 8 << 10;
// More than this, and what follows it, would drive the other data out of the second cache.
constexpr int64_t kMostBytes = 768 << 10;
// A loop of fewer iterations is over before what it fetches has arrived.
constexpr int64_t kLeastIterations = 8;

// How near to the processor LLVM is asked to bring data.
constexpr uint32_t kSecondCache = 2, kAllCaches = 3;

using Variables = std::unordered_set<const ir::ExprNode*>;

bool mentions(const Expr& e, const Variables& variables) {
  return any_of(e, [&](const ir::Var& var) { return variables.contains(&var); });
}

// The factor of the variable in a sum of products; nullopt if the sum depends on it otherwise.
std::optional<int64_t> factor_of(const Expr& e, const Variables& variable) {
  if (!mentions(e, variable)) return 0;
  if (e->kind == ir::ExprKind::Var) return 1;
  const auto* n = as<ir::Binary>(e);
  if (n == nullptr) return std::nullopt;
  const auto a = factor_of(n->a, variable), b = factor_of(n->b, variable);
  if (!a || !b) return std::nullopt;
  if (n->op == ir::BinaryOp::Add) return *a + *b;
  if (n->op == ir::BinaryOp::Sub) return *a - *b;
  const int64_t* times = n->op == ir::BinaryOp::Mul ? int_value(n->b) : nullptr;
  return times != nullptr ? std::optional(*a * *times) : std::nullopt;
}

// The vectors that a loop reads from one buffer.
struct Reads {
  const ir::Load* first;
  std::unordered_set<size_t> places = {};  // hashes of indices, to count a vector once
  int64_t elements = 0;
  std::optional<int64_t> step;  // elements between two iterations; nullopt if vectors differ in it
};

class StreamSearch {
 public:
  explicit StreamSearch(const ir::For& passes) : passes_(passes) {
    changing_.insert(passes.var.get());
  }

  std::vector<std::pair<const ir::For*, Stream>> run() {
    const auto count = int_value(passes_.extent);
    if (count && *count > 1) look_in(passes_.body);
    return std::move(found_);
  }

 private:
  void look_in(const Stmt& s) {
    if (const auto* loop = as<ir::For>(s)) return look_at(*loop);
    if (const auto* let = as<ir::Let>(s)) changing_.insert(let->var.get());
    for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { look_in(child); });
  }

  void look_at(const ir::For& loop) {
    const auto iterations = int_value(loop.extent);
    const bool is_innermost =
        !ir::contains<ir::For>(loop.body) && !ir::contains<ir::While>(loop.body);
    if (!iterations || *iterations < kLeastIterations || !is_innermost) return;
    ir::walk_statements(loop.body, [&](const ir::Let& let) { changing_.insert(let.var.get()); });
    std::vector<Reads> all;  // in the order of the loop's body
    const Variables own = {loop.var.get()};
    walk(loop.body, [&](const ir::Load& load) { count(load, own, all); });
    for (const Reads& reads : all) {
      // Neighboring vectors, and no gaps between two iterations: all bytes are read.
      if (reads.step != reads.elements) continue;
      const int64_t item = reads.first->buffer->type.bytes(), bytes = item * reads.elements;
      if (*iterations * bytes < kLeastBytes || *iterations * bytes > kMostBytes) continue;
      const int64_t count = *int_value(passes_.extent);
      found_.emplace_back(&loop, Stream{reads.first, passes_.var, *iterations, item, bytes,
                                        (bytes + count - 1) / count});
    }
  }

  void count(const ir::Load& load, const Variables& own, std::vector<Reads>& all) {
    const auto* ramp = load.type.is_scalar() ? nullptr : as<ir::Ramp>(load.indices.front());
    if (ramp == nullptr || load.buffer->memory != ir::MemoryScope::Global) return;
    // The emitter computes the place before the loop, where a guard of the load need not hold.
    const bool is_fixed = !mentions(ramp->base, changing_) && !failures_.possible_in(ramp->base);
    const auto step = is_fixed ? factor_of(ramp->base, own) : std::nullopt;
    auto reads = std::ranges::find_if(
        all, [&](const Reads& each) { return each.first->buffer.same_as(load.buffer); });
    if (reads == all.end()) reads = all.insert(all.end(), Reads{.first = &load, .step = step});
    if (!reads->places.insert(structural_hash(ramp->base)).second) return;
    reads->elements += load.type.lanes;
    if (reads->step != step) reads->step = std::nullopt;
  }

  const ir::For& passes_;
  Variables changing_;  // variables whose values differ between passes, or in them
  ir::Failures failures_;
  std::vector<std::pair<const ir::For*, Stream>> found_;
};

// Fetches a line of data that will be read.
void fetch(llvm::IRBuilder<>& builder, llvm::Value* address, uint32_t nearness) {
  constexpr uint32_t kToRead = 0, kData = 1;
  builder.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, builder.getInt32(kToRead), builder.getInt32(nearness), builder.getInt32(kData)});
}

}  // namespace

std::vector<std::pair<const ir::For*, Stream>> streams_of(const ir::For& passes) {
  return StreamSearch(passes).run();
}

void emit_prefetch(llvm::IRBuilder<>& builder, llvm::Value* address) {
  fetch(builder, address, kAllCaches);
}

void emit_prefetch(llvm::IRBuilder<>& builder, const Stream& stream, llvm::Value* here,
                   llvm::Value* pass, llvm::Value* iteration) {
  constexpr int64_t kLine = 64;
  const auto times = [&](llvm::Value* number, int64_t factor) {
    return builder.CreateMul(builder.CreateSExt(number, builder.getInt64Ty()),
                             builder.getInt64(static_cast<uint64_t>(factor)));
  };
  // The address of the load moves by what is read in each iteration.
  llvm::Value* moved = times(iteration, stream.fetched_bytes - stream.read_bytes);
  llvm::Value* offset =
      builder.CreateAdd(moved, times(pass, stream.iterations * stream.fetched_bytes));
  for (int64_t at = 0; at < stream.fetched_bytes; at += kLine) {
    llvm::Value* distance = builder.CreateAdd(
        offset,
        builder.getInt64(static_cast<uint64_t>(stream.iterations * stream.read_bytes + at)));
    fetch(builder, builder.CreateGEP(builder.getInt8Ty(), here, distance), kSecondCache);
  }
}

}  // namespace texloom::codegen::native
