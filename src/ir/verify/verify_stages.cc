#include "ir/verify/verify_stages.h"

#include "support/check.h"

namespace texloom::ir {
namespace {

using CodeKinds = unsigned;
constexpr CodeKinds kind_bit(CodeKind code) { return 1U << static_cast<unsigned>(code); }

constexpr CodeKinds kLoops = kind_bit(CodeKind::Loops);
constexpr CodeKinds kTexels =
    kind_bit(CodeKind::Flattened) | kind_bit(CodeKind::Kernel) | kind_bit(CodeKind::Legalized);
constexpr CodeKinds kCode = kLoops | kTexels;
constexpr CodeKinds kPlan = kind_bit(CodeKind::Plan);
constexpr CodeKinds kNowhere = 0;

// A node of nodes.def without a row here does not compile.
namespace row {
constexpr CodeKinds kIntImm = kCode | kPlan;
constexpr CodeKinds kFloatImm = kCode;
constexpr CodeKinds kVar = kCode | kPlan;
constexpr CodeKinds kBinary = kCode | kPlan;
constexpr CodeKinds kNot = kCode;
constexpr CodeKinds kSelect = kCode;
constexpr CodeKinds kCast = kCode;
constexpr CodeKinds kCall = kCode;
constexpr CodeKinds kFma = kCode;
constexpr CodeKinds kRamp = kCode;
constexpr CodeKinds kBroadcast = kCode;
constexpr CodeKinds kLane = kCode;
constexpr CodeKinds kPack = kCode;
constexpr CodeKinds kTensorRead = kNowhere;
constexpr CodeKinds kReduce = kNowhere;
constexpr CodeKinds kTuple = kNowhere;
constexpr CodeKinds kLoad = kCode;
constexpr CodeKinds kTextureLoad = kTexels;
constexpr CodeKinds kForeignCall = kCode;
constexpr CodeKinds kPointer = kCode;

constexpr CodeKinds kStore = kCode;
constexpr CodeKinds kTextureStore = kTexels;
constexpr CodeKinds kEvaluate = kCode;
constexpr CodeKinds kPrefetch = kCode;
constexpr CodeKinds kFor = kCode | kPlan;
constexpr CodeKinds kIf = kCode;
constexpr CodeKinds kWhile = kCode;
constexpr CodeKinds kSeq = kCode | kPlan;
constexpr CodeKinds kLet = kCode;
constexpr CodeKinds kNest = kLoops | kind_bit(CodeKind::Flattened);
constexpr CodeKinds kPipelined = kind_bit(CodeKind::Loops);
constexpr CodeKinds kAllocate = kCode | kPlan;
constexpr CodeKinds kFree = kPlan;
constexpr CodeKinds kBarrier = kCode;
constexpr CodeKinds kAsyncCopies = kCode;
constexpr CodeKinds kAwaitCopies = kCode;
constexpr CodeKinds kFragmentStep = kCode;
constexpr CodeKinds kShuffle = kind_bit(CodeKind::Legalized);
constexpr CodeKinds kLastBlock = kCode;
constexpr CodeKinds kLaunch = kPlan;
}  // namespace row

struct Row {
  std::string_view name;
  CodeKinds code_kinds;
};
constexpr Row kExprs[] = {
#define TL_EXPR(Name, summary) {#Name, row::k##Name},
#define TL_STMT(Name, summary)
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
};
constexpr Row kStmts[] = {
#define TL_EXPR(Name, summary)
#define TL_STMT(Name, summary) {#Name, row::k##Name},
#include "ir/nodes.def"
#undef TL_EXPR
#undef TL_STMT
};

CodeKinds code_kinds_of(LoopKind loop) {
  switch (loop) {
    case LoopKind::Serial:
      return kCode | kPlan;
    case LoopKind::Unrolled:
      return kCode;
    case LoopKind::Virtual:
      return kLoops;
    case LoopKind::Vectorized:
    case LoopKind::Thread:
    case LoopKind::Parallel:
      return kLoops | kind_bit(CodeKind::Flattened);
  }
  TL_UNREACHABLE();
}

}  // namespace

std::string_view to_string(CodeKind code) {
  switch (code) {
    case CodeKind::Loops:
      return "stage loops";
    case CodeKind::Flattened:
      return "stage flattened";
    case CodeKind::Plan:
      return "a launch plan";
    case CodeKind::Kernel:
      return "stage kernels";
    case CodeKind::Legalized:
      return "stage legalized";
  }
  TL_UNREACHABLE();
}

bool allows(CodeKind code, ExprKind kind) {
  return (kExprs[static_cast<size_t>(kind)].code_kinds & kind_bit(code)) != 0;
}
bool allows(CodeKind code, StmtKind kind) {
  return (kStmts[static_cast<size_t>(kind)].code_kinds & kind_bit(code)) != 0;
}
bool allows(CodeKind code, LoopKind loop) { return (code_kinds_of(loop) & kind_bit(code)) != 0; }

std::string_view name_of(ExprKind kind) { return kExprs[static_cast<size_t>(kind)].name; }
std::string_view name_of(StmtKind kind) { return kStmts[static_cast<size_t>(kind)].name; }

}  // namespace texloom::ir
