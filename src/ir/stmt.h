// Statements. ir/program.h introduces the IR as a whole.
#pragma once

#include <variant>

#include "ir/expr.h"
#include "ir/loop_kind.h"
#include "ir/tensor.h"

namespace texloom::ir {

enum class StmtKind : uint8_t {
#define TL_EXPR(Name, summary)
#define TL_STMT(Name, summary) Name,
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
};

struct StmtNode : RefCounted {
  const StmtKind kind;
  uint16_t depth = 1;
  SourceLocation location;

 protected:
  explicit StmtNode(StmtKind node_kind) : kind(node_kind) {}
};
using Stmt = Ref<StmtNode>;
using Stmts = std::vector<Stmt>;

template <class Node>
struct StmtBase : StmtNode {
  StmtBase() : StmtNode(Node::kKind) {}
};

struct Store : StmtBase<Store> {
  static constexpr StmtKind kKind = StmtKind::Store;
  Buffer buffer;
  Exprs indices;  // one for each axis, or one offset, as in a Load
  Expr value;
  auto fields() const { return field_list(buffer, indices, value); }
};
struct TextureStore : StmtBase<TextureStore> {
  static constexpr StmtKind kKind = StmtKind::TextureStore;
  Buffer texture;
  Expr x, y;
  Expr value;  // four lanes
  auto fields() const { return field_list(texture, x, y, value); }
};
struct Evaluate : StmtBase<Evaluate> {
  static constexpr StmtKind kKind = StmtKind::Evaluate;
  Expr call;  // a ForeignCall that is not pure
  auto fields() const { return field_list(call); }
};
// Changes no value. The indices may be outside of the buffer, so that a loop need not treat its
// last iterations differently.
struct Prefetch : StmtBase<Prefetch> {
  static constexpr StmtKind kKind = StmtKind::Prefetch;
  Buffer buffer;  // row-major, in global memory
  Exprs indices;  // scalars: one for each axis, or one offset, as in a Load
  auto fields() const { return field_list(buffer, indices); }
};
struct For : StmtBase<For> {
  static constexpr StmtKind kKind = StmtKind::For;
  Expr var;  // a Var, from 0 to extent - 1
  Expr extent;
  LoopKind loop = LoopKind::Serial;
  ThreadTag tag;  // of the thread axis, if the loop is one
  Stmt body;
  auto fields() const { return field_list(Definition{var}, extent, loop, tag, body); }
};
struct If : StmtBase<If> {
  static constexpr StmtKind kKind = StmtKind::If;
  Expr condition;
  Stmt then;
  auto fields() const { return field_list(condition, then); }
};
// The condition is evaluated before each iteration.
struct While : StmtBase<While> {
  static constexpr StmtKind kKind = StmtKind::While;
  Expr condition;
  Stmt body;
  auto fields() const { return field_list(condition, body); }
};
struct Seq : StmtBase<Seq> {
  static constexpr StmtKind kKind = StmtKind::Seq;
  Stmts statements;
  auto fields() const { return field_list(statements); }
};
struct Let : StmtBase<Let> {
  static constexpr StmtKind kKind = StmtKind::Let;
  Expr var;
  Expr value;
  Stmt body;
  auto fields() const { return field_list(Definition{var}, value, body); }
};
// Marks the loops of one future kernel, until kernels are split off. The boundary is explicit,
// rather than inferred from the loops.
struct Nest : StmtBase<Nest> {
  static constexpr StmtKind kKind = StmtKind::Nest;
  Buffer result;  // the result of the stage
  Stmt body;
  auto fields() const { return field_list(result, body); }
};
// How many iterations of a pipelined loop may be in flight: with elements in registers, and with
// asynchronous copies.
inline constexpr int kMinPipelineStages = 2;
inline constexpr int kMaxPipelineStages = 3;
inline constexpr int kMaxAsyncStages = 8;
// Fills a buffer that each iteration of the innermost enclosing loop reads. The body runs in the
// iteration that reads the buffer, until lower/loops/pipeline_loops.h makes it run ahead.
struct Pipelined : StmtBase<Pipelined> {
  static constexpr StmtKind kKind = StmtKind::Pipelined;
  Buffer buffer;
  int stages = 2;  // iterations in flight: stages - 1 of them are ahead of the iteration that reads
  bool is_async = false;  // whether a shared buffer is filled by asynchronous copies
  Stmt body;
  auto fields() const { return field_list(buffer, stages, is_async, body); }
};
struct Allocate : StmtBase<Allocate> {
  static constexpr StmtKind kKind = StmtKind::Allocate;
  Buffer buffer;
  Stmt body;
  auto fields() const { return field_list(Definition{buffer}, body); }
};
// Allowed only in a launch plan, where lifetimes need not be nested.
struct Free : StmtBase<Free> {
  static constexpr StmtKind kKind = StmtKind::Free;
  Buffer buffer;
  auto fields() const { return field_list(buffer); }
};
struct Barrier : StmtBase<Barrier> {
  static constexpr StmtKind kKind = StmtKind::Barrier;
  auto fields() const { return field_list(); }
};
// Begins a group of copies: the body's stores to shared memory, which may be made later, until an
// AwaitCopies. What they store is read now. The body has loops, conditions and stores alone. A
// group counts even if its body stores nothing, since AwaitCopies counts groups: no pass may drop
// one.
struct AsyncCopies : StmtBase<AsyncCopies> {
  static constexpr StmtKind kKind = StmtKind::AsyncCopies;
  Stmt body;
  auto fields() const { return field_list(body); }
};
// Makes the copies of all groups that this thread began, but for the last `pending` ones, among
// them empty groups. Other threads of the block see the copies after a barrier.
struct AwaitCopies : StmtBase<AwaitCopies> {
  static constexpr StmtKind kKind = StmtKind::AwaitCopies;
  int pending = 0;
  auto fields() const { return field_list(pending); }
};
// A shuffle, which all threads of a block run together. The variable gets the value of the thread
// whose number is larger by `offset`. The value is undefined if that thread is in another
// SIMD-group, or does not exist. Threads are numbered with threadIdx.x fastest. SIMD-groups are
// `width` consecutive threads each, from number 0 on.
struct Shuffle : StmtBase<Shuffle> {
  static constexpr StmtKind kKind = StmtKind::Shuffle;
  Expr var;
  Expr value;
  Expr offset;
  int width = 1;
  Stmt body;
  auto fields() const { return field_list(Definition{var}, value, offset, width, body); }
};
// The side of a square part of a matrix in a fragment, and its elements.
inline constexpr int64_t kFragmentSide = 16;
inline constexpr int64_t kFragmentElements = kFragmentSide * kFragmentSide;
enum class FragmentOp : uint8_t {
  Fill,   // fragment, value: all elements are the value
  Load,   // fragment, source, stride: row r is `stride` elements after row r - 1 of the source
  Mma,    // sums, left, right: sums += left * right, element products and sums of the sums' type
  Store,  // destination, fragment, stride
};
// "fill", "load", "mma", "store"
std::string_view to_string(FragmentOp op);
// A step of a product of matrices, which all threads of a SIMD-group make together; its operands
// are the same for all of them. The threads hold parts of 16 x 16 elements of fragments together:
// the value of each thread is as if it had all elements alone. One thread writes to memory.
struct FragmentStep : StmtBase<FragmentStep> {
  static constexpr StmtKind kKind = StmtKind::FragmentStep;
  FragmentOp op = FragmentOp::Fill;
  Exprs operands;  // as at FragmentOp; Pointers to the first element of a part, and scalars
  // Of an Mma: whether the fragment holds the transpose of the factor.
  bool left_transposed = false, right_transposed = false;
  auto fields() const { return field_list(op, operands, left_transposed, right_transposed); }

  // The operand that points to a part of a fragment or to memory.
  const Pointer& pointer(size_t i) const { return static_cast<const Pointer&>(*operands[i]); }
};
// Blocks of a launch form groups; a group has the blocks that name one counter, `count` of them.
// Each block takes a ticket of its group here, after what its threads did before. The block with
// the last ticket runs the body: there its threads see what any thread of the group wrote before.
// No block waits for another. All threads of a block come here, once, with the same index.
struct LastBlock : StmtBase<LastBlock> {
  static constexpr StmtKind kKind = StmtKind::LastBlock;
  Buffer counters;  // BufferNode::counts; this statement alone accesses it
  Expr index;       // of the group's counter
  Expr count;       // blocks of the group, int32
  Buffer flag;      // an int32 that the block shares: tells its threads whether it is the last
  Stmt body;
  auto fields() const { return field_list(counters, index, count, flag, body); }
};
struct Launch : StmtBase<Launch> {
  static constexpr StmtKind kKind = StmtKind::Launch;
  int kernel = 0;  // an index into Program::kernels
  auto fields() const { return field_list(kernel); }
};

template <class Node>
const Node* as(const Stmt& s) {
  return s->kind == Node::kKind ? static_cast<const Node*>(s.get()) : nullptr;
}

Stmt make_store(Buffer buffer, Exprs indices, Expr value, SourceLocation location = {});
Stmt make_texture_store(Buffer texture, Expr x, Expr y, Expr value, SourceLocation location = {});
Stmt make_evaluate(Expr call, SourceLocation location = {});
Stmt make_prefetch(Buffer buffer, Exprs indices, SourceLocation location = {});
Stmt make_for(Expr var, Expr extent, LoopKind loop, Stmt body, SourceLocation location = {});
Stmt make_thread_for(Expr var, Expr extent, ThreadTag tag, Stmt body, SourceLocation location = {});
Stmt make_if(Expr condition, Stmt then, SourceLocation location = {});
Stmt make_while(Expr condition, Stmt body, SourceLocation location = {});
// Flattens nested sequences. A sequence of one statement becomes that statement.
Stmt make_seq(Stmts statements);
Stmt make_let(Expr var, Expr value, Stmt body, SourceLocation location = {});
Stmt make_nest(Buffer result, Stmt body, SourceLocation location = {});
Stmt make_pipelined(Buffer buffer, int stages, bool is_async, Stmt body,
                    SourceLocation location = {});
Stmt make_allocate(Buffer buffer, Stmt body, SourceLocation location = {});
Stmt make_free(Buffer buffer, SourceLocation location = {});
Stmt make_barrier(SourceLocation location = {});
Stmt make_async_copies(Stmt body, SourceLocation location = {});
Stmt make_await_copies(int pending, SourceLocation location = {});
Stmt make_shuffle(Expr var, Expr value, Expr offset, int width, Stmt body,
                  SourceLocation location = {});
Stmt make_fragment_step(FragmentOp op, Exprs operands, bool left_transposed = false,
                        bool right_transposed = false, SourceLocation location = {});
Stmt make_last_block(Buffer counters, Expr index, Expr count, Buffer flag, Stmt body,
                     SourceLocation location = {});
Stmt make_launch(int kernel, SourceLocation location = {});
// The empty statement. make_seq() drops it.
Stmt make_empty();
bool is_empty(const Stmt& s);

}  // namespace texloom::ir
