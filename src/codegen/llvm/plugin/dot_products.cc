#include "codegen/llvm/plugin/dot_products.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace texloom::codegen::native {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;
namespace Id = llvm::Intrinsic;

constexpr uint64_t kSigns = 0x80808080;  // the sign bits of four bytes
constexpr uint64_t kOnes = 0x01010101;
constexpr int kScalarLanes = 2;  // up to which plain arithmetic is at least as fast

Value* number(Value* like, uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

int lanes_of(const Value* words) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(words->getType());
  return type == nullptr ? 1 : static_cast<int>(type->getNumElements());
}

// Adds 128 to each byte: an unsigned one becomes the signed one that is less by 128, and a signed
// one the unsigned one that is greater by 128.
Value* with_other_sign(Builder& b, Value* words) {
  return b.CreateXor(words, number(words, kSigns));
}

// One instruction for words of one register.
class Instructions {
 public:
  Instructions(Builder& b, const DotUnit& unit) : b_(b), unit_(unit) {}

  Value* dot(const ir::Dot& dot, Value* sum, Value* x, Value* y) {
    return unit_.kind == DotUnit::Kind::Arm ? on_arm(dot, sum, x, y) : on_x86(dot, sum, x, y);
  }

 private:
  Value* on_x86(const ir::Dot& dot, Value* sum, Value* x, Value* y) {
    if (dot.bits == 16)
      return unit_.has_vnni ? vnni(kWords, sum, x, y) : b_.CreateAdd(sum, pairs(x, y));
    if (!unit_.has_vnni) return by_pairs(dot, sum, x, y);
    if (!dot.is_left_signed && dot.is_right_signed) return vnni(kBytes, sum, x, y);
    if (dot.is_left_signed) {  // (x + 128) y - 128 y
      Value* more = vnni(kBytes, number(sum, 0), number(sum, kOnes), y);
      return b_.CreateSub(vnni(kBytes, sum, with_other_sign(b_, x), y), times_128(more));
    }
    // x (y - 128) + 128 x
    Value* less = vnni(kBytes, number(sum, 0), x, number(sum, kOnes));
    return b_.CreateAdd(vnni(kBytes, sum, x, with_other_sign(b_, y)), times_128(less));
  }

  Value* on_arm(const ir::Dot& dot, Value* sum, Value* x, Value* y) {
    if (dot.is_left_signed == dot.is_right_signed)
      return neon(dot.is_left_signed ? Id::aarch64_neon_sdot : Id::aarch64_neon_udot, sum, x, y);
    if (unit_.has_mixed) return neon(Id::aarch64_neon_usdot, sum, x, y);
    // (x - 128) y + 128 y
    Value* less = neon(Id::aarch64_neon_sdot, number(sum, 0), number(sum, kOnes), y);
    return b_.CreateAdd(neon(Id::aarch64_neon_sdot, sum, with_other_sign(b_, x), y),
                        times_128(less));
  }

  Value* times_128(Value* words) { return b_.CreateShl(words, number(words, 7)); }

  using Ids = std::array<Id::ID, 3>;  // of 4, 8 and 16 lanes
  static constexpr Ids kBytes = {Id::x86_avx512_vpdpbusd_128, Id::x86_avx512_vpdpbusd_256,
                                 Id::x86_avx512_vpdpbusd_512};
  static constexpr Ids kWords = {Id::x86_avx512_vpdpwssd_128, Id::x86_avx512_vpdpwssd_256,
                                 Id::x86_avx512_vpdpwssd_512};
  static constexpr Ids kPairs = {Id::x86_sse2_pmadd_wd, Id::x86_avx2_pmadd_wd,
                                 Id::x86_avx512_pmaddw_d_512};

  static Id::ID chosen(const Ids& ids, const Value* words) {
    const int lanes = lanes_of(words);
    return ids[lanes == 16 ? 2 : lanes == 8 ? 1 : 0];
  }

  Value* vnni(const Ids& ids, Value* sum, Value* x, Value* y) {
    return b_.CreateIntrinsic(chosen(ids, sum), {}, {sum, x, y});
  }

  llvm::Type* of_parts(const Value* words, unsigned bits) {
    return llvm::FixedVectorType::get(b_.getIntNTy(bits),
                                      static_cast<unsigned>(lanes_of(words)) * (32 / bits));
  }

  // x0 y0 + x1 y1 of the pairs of signed integers of each word.
  Value* pairs(Value* x, Value* y) {
    llvm::Type* type = of_parts(x, 16);
    return b_.CreateIntrinsic(chosen(kPairs, x), {},
                              {b_.CreateBitCast(x, type), b_.CreateBitCast(y, type)});
  }

  // The first and the third of four bytes, or the others, as pairs of 16 bits.
  Value* half(Value* words, bool is_signed, bool is_upper) {
    Value* parts = b_.CreateBitCast(words, of_parts(words, 16));
    Value* eight = number(parts, 8);
    if (!is_upper) parts = b_.CreateShl(parts, eight);
    parts = is_signed ? b_.CreateAShr(parts, eight) : b_.CreateLShr(parts, eight);
    return b_.CreateBitCast(parts, words->getType());
  }

  Value* by_pairs(const ir::Dot& dot, Value* sum, Value* x, Value* y) {
    for (const bool is_upper : {false, true}) {
      sum = b_.CreateAdd(sum, pairs(half(x, dot.is_left_signed, is_upper),
                                    half(y, dot.is_right_signed, is_upper)));
    }
    return sum;
  }

  Value* neon(Id::ID id, Value* sum, Value* x, Value* y) {
    llvm::Type* bytes = of_parts(x, 8);
    return b_.CreateIntrinsic(id, {sum->getType(), bytes},
                              {sum, b_.CreateBitCast(x, bytes), b_.CreateBitCast(y, bytes)});
  }

  Builder& b_;
  const DotUnit& unit_;
};

// Shifts and products of all lanes.
Value* plain(Builder& b, const ir::Dot& dot, Value* sum, Value* x, Value* y) {
  const auto part = [&](Value* words, int place, bool is_signed) {
    Value* raised = b.CreateShl(words, number(words, static_cast<uint64_t>(32 - dot.bits - place)));
    Value* rest = number(words, static_cast<uint64_t>(32 - dot.bits));
    return is_signed ? b.CreateAShr(raised, rest) : b.CreateLShr(raised, rest);
  };
  for (int place = 0; place < 32; place += dot.bits) {
    sum = b.CreateAdd(
        sum, b.CreateMul(part(x, place, dot.is_left_signed), part(y, place, dot.is_right_signed)));
  }
  return sum;
}

// `count` lanes from `first` on; lanes that the vector lacks are poison.
Value* some_lanes(Builder& b, Value* vector, int first, int count) {
  llvm::SmallVector<int, 16> lanes(static_cast<size_t>(count));
  std::iota(lanes.begin(), lanes.end(), first);
  for (int& lane : lanes) {
    if (lane >= lanes_of(vector)) lane = llvm::PoisonMaskElem;
  }
  return b.CreateShuffleVector(vector, lanes);
}

}  // namespace

DotUnit DotUnit::of(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const auto has = [&](const char* feature) { return info.checkFeatures(feature); };
  if (machine.getTargetTriple().isAArch64()) {
    if (!has("+dotprod")) return {};
    return {.kind = Kind::Arm, .lanes = 4, .has_mixed = has("+i8mm")};
  }
  const bool is_wide = has("+avx512bw") && has("+avx512vl");
  DotUnit unit{.kind = Kind::X86, .lanes = has("+avx2") ? 8 : 4};
  if (is_wide && !has("+prefer-256-bit")) unit.lanes = 16;
  unit.has_vnni = (is_wide && has("+avx512vnni")) || (unit.lanes == 8 && has("+avxvnni"));
  return unit;
}

Value* emit_dot(Builder& b, const DotUnit& unit, const ir::Dot& dot, Value* sum,
                llvm::ArrayRef<Value*> factors) {
  const int lanes = lanes_of(sum);
  const bool is_plain = unit.kind == DotUnit::Kind::None || lanes <= kScalarLanes ||
                        (unit.kind == DotUnit::Kind::Arm && dot.bits == 16);
  if (is_plain) return plain(b, dot, sum, factors[0], factors[1]);
  Instructions instructions(b, unit);
  if (lanes == 4 || (lanes <= unit.lanes && (lanes & (lanes - 1)) == 0))
    return instructions.dot(dot, sum, factors[0], factors[1]);
  Value* all = llvm::PoisonValue::get(sum->getType());
  for (int first = 0; first < lanes;) {
    int count = unit.lanes;
    while (count > 4 && count > lanes - first) count /= 2;
    Value* part = instructions.dot(dot, some_lanes(b, sum, first, count),
                                   some_lanes(b, factors[0], first, count),
                                   some_lanes(b, factors[1], first, count));
    for (int lane = 0; lane < std::min(count, lanes - first); ++lane) {
      all = b.CreateInsertElement(all, b.CreateExtractElement(part, static_cast<uint64_t>(lane)),
                                  static_cast<uint64_t>(first + lane));
    }
    first += count;
  }
  return all;
}

}  // namespace texloom::codegen::native
