// The instructions that compute a batch of elements of one nest.
//
// A register has a value for each element of the batch (a lane), or one value for all of them.
// Instructions that do not depend on a loop of a reduction stand before the loop. A guard is a
// register that tells in which lanes an instruction counts: what may fail fails only there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "ir/stmt.h"

namespace texloom::ir::batch {

// The most elements that are computed side by side: registers stay in the first level of the cache.
inline constexpr std::int64_t kMostLanes = 256;

using Register = int;
inline constexpr Register kNone = -1;

enum class Operation : std::uint8_t {
  Binary,
  Not,
  And,     // of bools in registers; the second one counts only where the first one decides nothing
  Or,      //   likewise
  AndNot,  // the first, and not the second
  Select,
  Cast,
  Call,
  Fma,
  Load,
  LoadOwn,  // the element of the nest's loops
};

struct Instruction {
  Operation operation = Operation::Binary;
  Type type = {};                       // of the result
  Type operand_type = {};               // of a Binary or a Cast
  BinaryOp op = BinaryOp::Add;          // of a Binary
  Intrinsic function = Intrinsic::Exp;  // of a Call
  const BufferNode* buffer = nullptr;   // of a Load
  Register result = kNone, guard = kNone;
  std::vector<Register> operands = {};
};

struct StoreOwn {
  const BufferNode* buffer = nullptr;
  Register value = kNone, guard = kNone;
};

struct Loop;
using Step = std::variant<Instruction, StoreOwn, std::unique_ptr<Loop>>;

struct Loop {
  Register counter = kNone;
  std::int64_t extent = 0;
  std::vector<Step> steps;
};

union Cell {
  std::int64_t integer = 0;
  double number;
};

// The code of a nest.
struct Code {
  std::vector<std::int64_t> extents;  // of the outer loops
  std::vector<Register> axes;         // their counters
  std::vector<Step> steps;
  std::vector<bool> is_uniform;  // by register: one value for all lanes
  std::vector<std::pair<Register, Cell>> constants;
  std::vector<const BufferNode*> stored;  // each once
};

// nullopt if the statement is not a nest that can be computed in batches.
std::optional<Code> code_of(const Stmt& nest);

}  // namespace texloom::ir::batch
