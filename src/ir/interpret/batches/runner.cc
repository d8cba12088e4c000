#include "ir/interpret/batches/runner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "ir/interpret/value.h"
#include "support/check.h"

namespace texloom::ir::batch {
namespace {

constexpr std::int64_t kWorkBetweenInterruptions = 1 << 16;

Scalar scalar_in(Type type, const Cell& cell) {
  return type.is_float() ? scalar_of(cell.number) : scalar_of(cell.integer);
}

Cell cell_of(Type type, const Scalar& scalar) {
  Cell cell;
  if (type.is_float()) {
    cell.number = scalar.number;
  } else {
    cell.integer = scalar.integer;
  }
  return cell;
}

Cell integer_cell(std::int64_t value) { return {.integer = value}; }
Cell number_cell(double value) {
  Cell cell;
  cell.number = value;
  return cell;
}

// Reads and writes elements of an array; the common types at the speed of memory.
template <class Number>
Cell read_as(const std::byte* from) {
  Number number;
  std::memcpy(&number, from, sizeof(Number));
  if constexpr (std::is_floating_point_v<Number>) return number_cell(number);
  if constexpr (!std::is_floating_point_v<Number>)
    return integer_cell(static_cast<std::int64_t>(number));
}

template <class Number>
void write_as(std::byte* to, const Cell& cell) {
  Number number = 0;
  if constexpr (std::is_floating_point_v<Number>) {
    number = static_cast<Number>(cell.number);
  } else {
    number = static_cast<Number>(cell.integer);
  }
  std::memcpy(to, &number, sizeof(Number));
}

template <class F>
void with_access(Type type, const F& use) {
  const bool is_plain = type.code != TypeCode::BFloat && !type.is_bool() && !type.is_half();
  if (is_plain && type.is_float()) {
    if (type.bits == 32) return use(read_as<float>, write_as<float>);
    if (type.bits == 64) return use(read_as<double>, write_as<double>);
  }
  if (is_plain && type.is_int()) {
    if (type.bits == 8) return use(read_as<std::int8_t>, write_as<std::int8_t>);
    if (type.bits == 32) return use(read_as<std::int32_t>, write_as<std::int32_t>);
    if (type.bits == 64) return use(read_as<std::int64_t>, write_as<std::int64_t>);
  }
  if (is_plain && type == Type::u(8)) return use(read_as<std::uint8_t>, write_as<std::uint8_t>);
  use([type](const std::byte* from) { return cell_of(type, decode(type, from)); },
      [type](std::byte* to, const Cell& cell) { encode(type, scalar_in(type, cell), to); });
}

std::int64_t elements_of(const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

}  // namespace

bool Runner::run(const Code& code) {
  prepare(code);
  const std::int64_t all = elements_of(code.extents);
  for (first_ = 0; first_ < all; first_ += kMostLanes) {
    count_ = std::min(kMostLanes, all - first_);
    set_axes(code, first_);
    if (!run_steps(code.steps)) return false;
  }
  for (const BufferNode* each : code.stored) arrays_.at(each).is_known = true;
  return true;
}

void Runner::prepare(const Code& code) {
  code_ = &code;
  registers_.assign(code.is_uniform.size(), {});
  for (std::size_t i = 0; i < registers_.size(); ++i)
    registers_[i].resize(code.is_uniform[i] ? 1 : kMostLanes);
  for (const auto& [number, value] : code.constants)
    registers_[static_cast<std::size_t>(number)].front() = value;
  offsets_.resize(kMostLanes);
  for (const BufferNode* each : code.stored) {
    Array& array = arrays_.at(each);
    TL_CHECK(array.bytes == nullptr, each->name + " is computed twice");
    array.own.resize(static_cast<std::size_t>(elements_of(code.extents) * each->type.bytes()));
    array.bytes = array.own.data();
  }
}

// Sets the counters of the outer loops for the elements from `first` on.
void Runner::set_axes(const Code& code, std::int64_t first) {
  std::int64_t inner = 1;  // the elements of the axes after this one
  for (std::size_t axis = code.extents.size(); axis-- > 0;) {
    const std::int64_t extent = code.extents[axis];
    const Lanes counter = lanes(code.axes[axis]);
    std::int64_t value = first / inner % extent, left = inner - first % inner;
    for (std::int64_t lane = 0; lane < count_; ++lane) {
      counter[lane].integer = value;
      if (--left > 0) continue;
      left = inner;
      if (++value == extent) value = 0;
    }
    inner *= extent;
  }
}

void Runner::note_work(std::int64_t lanes) {
  work_ += lanes;
  if (work_ < kWorkBetweenInterruptions) return;
  work_ = 0;
  if (interruption_ != nullptr) interruption_();
}

bool Runner::run_steps(const std::vector<Step>& steps) {
  note_work(count_);
  return std::ranges::all_of(steps, [&](const Step& step) {
    if (const auto* instruction = std::get_if<Instruction>(&step)) return compute(*instruction);
    if (const auto* own = std::get_if<StoreOwn>(&step)) {
      store(*own);
      return true;
    }
    return run_loop(*std::get<std::unique_ptr<Loop>>(step));
  });
}

bool Runner::run_loop(const Loop& loop) {
  for (std::int64_t i = 0; i < loop.extent; ++i) {
    lanes(loop.counter)[0].integer = i;
    if (!run_steps(loop.steps)) return false;
  }
  return true;
}

void Runner::store(const StoreOwn& step) {
  Array& array = arrays_.at(step.buffer);
  const std::int64_t bytes = step.buffer->type.bytes();
  std::byte* to = array.own.data() + first_ * bytes;
  const Lanes values = lanes(step.value);
  const std::optional<Lanes> guard =
      step.guard == kNone ? std::nullopt : std::optional(lanes(step.guard));
  with_access(step.buffer->type, [&](const auto&, const auto& write) {
    for (std::int64_t lane = 0; lane < count_; ++lane) {
      if (!guard || (*guard)[lane].integer != 0) write(to + lane * bytes, values[lane]);
    }
  });
}

Runner::Lanes Runner::lanes(Register number) const {
  const auto place = static_cast<std::size_t>(number);
  return {const_cast<Cell*>(registers_[place].data()), code_->is_uniform[place] ? 0 : 1};
}

std::int64_t Runner::lanes_of(const Instruction& step) const {
  return code_->is_uniform[static_cast<std::size_t>(step.result)] ? 1 : count_;
}

bool Runner::is_active(const Instruction& step, std::int64_t lane) const {
  return step.guard == kNone || lanes(step.guard)[lane].integer != 0;
}

// Sets the result in each lane that counts; others get zero. `result_of` returns nullopt if the
// operation has no result.
template <class F>
bool Runner::each(const Instruction& step, const F& result_of) {
  const Lanes result = lanes(step.result);
  const std::int64_t count = lanes_of(step);
  for (std::int64_t lane = 0; lane < count; ++lane) {
    if (!is_active(step, lane)) {
      result[lane] = {};
      continue;
    }
    const std::optional<Cell> made = result_of(lane);
    if (!made) return false;
    result[lane] = *made;
  }
  return true;
}

// The same for an operation of two operands that always has a result.
template <class F>
void Runner::each_total(const Instruction& step, const F& result_of) {
  const Lanes result = lanes(step.result);
  const Lanes a = lanes(step.operands.front()), b = lanes(step.operands.back());
  const std::int64_t count = lanes_of(step);
  if (a.stride == 1 && b.stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) result.cells[i] = result_of(a.cells[i], b.cells[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      result.cells[i] = result_of(a.cells[i * a.stride], b.cells[i * b.stride]);
  }
}

bool Runner::compute(const Instruction& step) {
  const auto scalar = [&](std::size_t operand, Type type, std::int64_t lane) {
    return scalar_in(type, lanes(step.operands[operand])[lane]);
  };
  switch (step.operation) {
    case Operation::Binary:
      return compute_binary(step);
    case Operation::Cast:
      return compute_cast(step);
    case Operation::Load:
      return load(step);
    case Operation::LoadOwn:
      load_own(step);
      return true;
    case Operation::Not:
      each_total(step, [](Cell a, Cell) { return integer_cell(a.integer == 0 ? 1 : 0); });
      return true;
    case Operation::And:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer & b.integer); });
      return true;
    case Operation::Or:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer | b.integer); });
      return true;
    case Operation::AndNot:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer & ~b.integer); });
      return true;
    case Operation::Select: {
      const Lanes c = lanes(step.operands[0]), t = lanes(step.operands[1]),
                  f = lanes(step.operands[2]), result = lanes(step.result);
      const std::int64_t count = lanes_of(step);
      for (std::int64_t lane = 0; lane < count; ++lane)
        result[lane] = c[lane].integer != 0 ? t[lane] : f[lane];
      return true;
    }
    case Operation::Call:
      return each(step, [&](std::int64_t lane) -> std::optional<Cell> {
        std::array<Scalar, 2> arguments;
        for (std::size_t i = 0; i < step.operands.size(); ++i)
          arguments[i] = scalar(i, step.type, lane);
        const std::span given(arguments.data(), step.operands.size());
        return cell_of(step.type, apply_call(step.function, step.type, given));
      });
    case Operation::Fma:
      return each(step, [&](std::int64_t lane) -> std::optional<Cell> {
        return cell_of(step.type,
                       apply_fma(step.type, scalar(0, step.type, lane), scalar(1, step.type, lane),
                                 scalar(2, step.type, lane)));
      });
  }
  TL_UNREACHABLE();
}

bool Runner::compute_binary(const Instruction& step) {
  const Type type = step.operand_type;
  if (type.is_float() && compute_floats(step)) return true;
  if (!type.is_float() && !(type.is_uint() && type.bits == 64) && compute_integers(step))
    return true;
  return each(step, [&](std::int64_t lane) -> std::optional<Cell> {
    const auto made = apply(step.op, type, scalar_in(type, lanes(step.operands[0])[lane]),
                            scalar_in(type, lanes(step.operands[1])[lane]));
    return made ? std::optional(cell_of(step.type, *made)) : std::nullopt;
  });
}

// The common operations of integers that int64 represents; false for others.
bool Runner::compute_integers(const Instruction& step) {
  const Type type = step.operand_type;
  const auto wrap = [type](std::uint64_t value) {
    return integer_cell(type == kInt32 ? static_cast<std::int32_t>(value)
                                       : wrapped(static_cast<std::int64_t>(value), type));
  };
  using Word = std::uint64_t;
  switch (step.op) {
    case BinaryOp::Add:
      each_total(step, [&](Cell a, Cell b) { return wrap(Word(a.integer) + Word(b.integer)); });
      return true;
    case BinaryOp::Sub:
      each_total(step, [&](Cell a, Cell b) { return wrap(Word(a.integer) - Word(b.integer)); });
      return true;
    case BinaryOp::Mul:
      each_total(step, [&](Cell a, Cell b) { return wrap(Word(a.integer) * Word(b.integer)); });
      return true;
    case BinaryOp::Eq:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer == b.integer); });
      return true;
    case BinaryOp::Lt:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer < b.integer); });
      return true;
    case BinaryOp::Le:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer <= b.integer); });
      return true;
    case BinaryOp::Ge:
      each_total(step, [](Cell a, Cell b) { return integer_cell(a.integer >= b.integer); });
      return true;
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod: {
      const Lanes by = lanes(step.operands[1]);
      if (by.stride != 0 || by[0].integer <= 0) return false;
      const bool is_quotient = step.op == BinaryOp::FloorDiv;
      each_total(step, [is_quotient](Cell a, Cell b) {
        std::int64_t whole = a.integer / b.integer, rest = a.integer % b.integer;
        if (rest < 0) {
          --whole;
          rest += b.integer;
        }
        return integer_cell(is_quotient ? whole : rest);
      });
      return true;
    }
    default:
      return false;
  }
}

// Sums and products of float32 and float64, as value.cc rounds them; false for others.
bool Runner::compute_floats(const Instruction& step) {
  if (step.operand_type.bits < 32) return false;
  const bool is_single = step.operand_type.bits == 32;
  const auto compute = [&](const auto& exact) {
    if (is_single) {
      each_total(step, [&](Cell a, Cell b) {
        return number_cell(static_cast<float>(exact(a.number, b.number)));
      });
    } else {
      each_total(step, [&](Cell a, Cell b) { return number_cell(exact(a.number, b.number)); });
    }
    return true;
  };
  switch (step.op) {
    case BinaryOp::Add:
      return compute([](double a, double b) { return a + b; });
    case BinaryOp::Sub:
      return compute([](double a, double b) { return a - b; });
    case BinaryOp::Mul:
      return compute([](double a, double b) { return a * b; });
    case BinaryOp::Div:
      return compute([](double a, double b) { return a / b; });
    default:
      return false;
  }
}

bool Runner::compute_cast(const Instruction& step) {
  const Type from = step.operand_type, to = step.type;
  if (from == kInt32 && to == kInt64) {
    each_total(step, [](Cell a, Cell) { return a; });
    return true;
  }
  if (from.is_float() && to.is_float() && to.bits >= 32) {
    const bool is_single = to.bits == 32;
    each_total(step, [is_single](Cell a, Cell) {
      return number_cell(is_single ? static_cast<float>(a.number) : a.number);
    });
    return true;
  }
  if (!from.is_float() && from.bits <= 32 && to == kFloat32) {
    each_total(step, [](Cell a, Cell) { return number_cell(static_cast<float>(a.integer)); });
    return true;
  }
  return each(step, [&](std::int64_t lane) -> std::optional<Cell> {
    const auto made = convert(from, to, scalar_in(from, lanes(step.operands[0])[lane]));
    return made ? std::optional(cell_of(to, *made)) : std::nullopt;
  });
}

bool Runner::load(const Instruction& step) {
  const BufferNode& buffer = *step.buffer;
  const Array& array = arrays_.at(&buffer);
  const std::int64_t count = lanes_of(step);
  std::fill_n(offsets_.begin(), count, 0);
  std::int64_t stride = 1;
  for (std::size_t axis = buffer.shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(buffer.shape[axis]);
    const Lanes index = lanes(step.operands[axis]);
    bool is_outside = false;
    for (std::int64_t lane = 0; lane < count; ++lane) {
      const std::int64_t value = index[lane].integer;
      is_outside = is_outside || static_cast<std::uint64_t>(value) >= extent;
      if (static_cast<std::uint64_t>(value) < extent)
        offsets_[static_cast<std::size_t>(lane)] += value * stride;
    }
    for (std::int64_t lane = 0; is_outside && lane < count; ++lane) {
      const bool is_inside = static_cast<std::uint64_t>(index[lane].integer) < extent;
      if (!is_inside && is_active(step, lane)) return false;
    }
    stride *= buffer.shape[axis];
  }
  const Lanes result = lanes(step.result);
  const std::int64_t bytes = buffer.type.bytes();
  bool is_unknown = false;
  with_access(buffer.type, [&](const auto& read, const auto&) {
    for (std::int64_t lane = 0; lane < count; ++lane) {
      if (!is_active(step, lane)) {
        result[lane] = {};
      } else if (!array.is_known) {
        is_unknown = true;
      } else {
        result[lane] = read(array.bytes + offsets_[static_cast<std::size_t>(lane)] * bytes);
      }
    }
  });
  return !is_unknown;
}

void Runner::load_own(const Instruction& step) {
  const std::int64_t bytes = step.buffer->type.bytes();
  const std::byte* from = arrays_.at(step.buffer).bytes + first_ * bytes;
  const Lanes result = lanes(step.result);
  with_access(step.buffer->type, [&](const auto& read, const auto&) {
    for (std::int64_t lane = 0; lane < count_; ++lane) result[lane] = read(from + lane * bytes);
  });
}

}  // namespace texloom::ir::batch
