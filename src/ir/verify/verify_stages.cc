#include "ir/verify/verify_stages.h"

#include "support/check.h"

namespace texloom::ir {
namespace {

using Places = unsigned;
constexpr Places place_bit(Place place) { return 1U << static_cast<unsigned>(place); }

constexpr Places kLoops = place_bit(Place::Loops);
constexpr Places kTexels =
    place_bit(Place::Flattened) | place_bit(Place::Kernel) | place_bit(Place::Legalized);
constexpr Places kCode = kLoops | kTexels;
constexpr Places kPlan = place_bit(Place::Plan);
constexpr Places kNowhere = 0;

// A node of nodes.def without a row here does not compile.
namespace row {
constexpr Places kIntImm = kCode | kPlan;
constexpr Places kFloatImm = kCode;
constexpr Places kVar = kCode | kPlan;
constexpr Places kBinary = kCode | kPlan;
constexpr Places kNot = kCode;
constexpr Places kSelect = kCode;
constexpr Places kCast = kCode;
constexpr Places kCall = kCode;
constexpr Places kFma = kCode;
constexpr Places kRamp = kCode;
constexpr Places kBroadcast = kCode;
constexpr Places kLane = kCode;
constexpr Places kPack = kCode;
constexpr Places kTensorRead = kNowhere;
constexpr Places kReduce = kNowhere;
constexpr Places kTuple = kNowhere;
constexpr Places kLoad = kCode;
constexpr Places kTextureLoad = kTexels;
constexpr Places kForeignCall = kCode;
constexpr Places kPointer = kCode;

constexpr Places kStore = kCode;
constexpr Places kTextureStore = kTexels;
constexpr Places kEvaluate = kCode;
constexpr Places kFor = kCode | kPlan;
constexpr Places kIf = kCode;
constexpr Places kWhile = kCode;
constexpr Places kSeq = kCode | kPlan;
constexpr Places kLet = kCode;
constexpr Places kNest = kLoops | place_bit(Place::Flattened);
constexpr Places kPipelined = place_bit(Place::Loops);
constexpr Places kAllocate = kCode | kPlan;
constexpr Places kFree = kPlan;
constexpr Places kBarrier = kCode;
constexpr Places kShuffle = place_bit(Place::Legalized);
constexpr Places kLaunch = kPlan;
}  // namespace row

struct Row {
  std::string_view name;
  Places places;
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

Places places_of(LoopKind loop) {
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
      return kLoops | place_bit(Place::Flattened);
  }
  TL_UNREACHABLE();
}

}  // namespace

std::string_view to_string(Place place) {
  switch (place) {
    case Place::Loops:
      return "stage loops";
    case Place::Flattened:
      return "stage flattened";
    case Place::Plan:
      return "a launch plan";
    case Place::Kernel:
      return "stage kernels";
    case Place::Legalized:
      return "stage legalized";
  }
  TL_UNREACHABLE();
}

bool allows(Place place, ExprKind kind) {
  return (kExprs[static_cast<size_t>(kind)].places & place_bit(place)) != 0;
}
bool allows(Place place, StmtKind kind) {
  return (kStmts[static_cast<size_t>(kind)].places & place_bit(place)) != 0;
}
bool allows(Place place, LoopKind loop) { return (places_of(loop) & place_bit(place)) != 0; }

std::string_view name_of(ExprKind kind) { return kExprs[static_cast<size_t>(kind)].name; }
std::string_view name_of(StmtKind kind) { return kStmts[static_cast<size_t>(kind)].name; }

}  // namespace texloom::ir
