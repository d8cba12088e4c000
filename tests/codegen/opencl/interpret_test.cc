// Compares the reference interpreter with generated code: a kernel gives the same bits at stage
// Kernels, at stage Legalized and on a device.
#include "ir/interpret/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>

#include "tests/codegen/kernels.h"
#include "tests/lower/passes.h"

namespace texloom::codegen::opencl {
namespace {

using namespace testing;
using ir::BinaryOp;
using ir::Buffer;
using ir::Expr;
using ir::Memory;
using ir::Placement;
using ir::Program;
using ir::Scalar;
using ir::Stmt;
using ir::Type;

constexpr int64_t kThreads = 16, kLanes = 4, kCount = kThreads * kLanes;

// Arrays x, y and z of the same type, and another array for the results.
class Arithmetic {
 public:
  explicit Arithmetic(Type type) : Arithmetic(type, type) {}
  Arithmetic(Type type, Type result_type) : type_(type), result_type_(result_type) {}

  // Adds the results for scalars and for vectors; `make` gets three operands.
  template <class F>
  void add(F make) {
    const Expr single = make(at(x_, tx_), at(y_, tx_), at(z_, tx_));
    store(tx_, single);
    const Expr base = tx_ * kLanes;
    store(base, make(vector_at(x_, base, kLanes), vector_at(y_, base, kLanes),
                     vector_at(z_, base, kLanes)));
  }

  // Runs the kernel in three ways on the same random operands and compares the results. `adapt`
  // changes operands so that the operations are defined for them.
  template <class F>
  void check(F adapt) {
    const Program program = kernel_.program(stores());
    std::vector<HostArray> on_device = operands(program, adapt);
    std::vector<HostArray> at_kernels = on_device, legalized = on_device;
    run(program, on_device);
    EXPECT_EQ(interpreted(program, at_kernels), "");
    EXPECT_EQ(interpreted(legalize(program, {}), legalized), "");
    const size_t out = place_of_results(program);
    compare("legalized and kernels", legalized[out], at_kernels[out]);
    compare("device and kernels", on_device[out], at_kernels[out]);
  }

 private:
  struct Result {
    int64_t first;
    Expr index, value;
  };

  void store(const Expr& index, const Expr& value) {
    results_.push_back({count_, index, value});
    count_ += kThreads * value->type.lanes;
  }

  Stmt stores() const {
    const Buffer out = global("out", result_type_, count_);
    ir::Stmts list;
    for (const Result& r : results_) list.push_back(put_vector(out, r.index + r.first, r.value));
    return make_seq(list);
  }

  template <class F>
  std::vector<HostArray> operands(const Program& program, F adapt) const {
    std::mt19937 random(7);
    std::vector<HostArray> arrays;
    for (const Buffer& param : program.params) {
      Memory memory = memory_for(*param);
      for (std::byte& byte : memory.bytes()) byte = static_cast<std::byte>(random() & 0xff);
      for (int64_t i = 0; i < memory.size() && param->name != "out"; ++i) {
        memory.set(i, adapt(param->name, memory.get(i)));
      }
      HostArray array;
      for (const std::byte byte : memory.bytes()) {
        array.bytes.push_back(std::to_integer<unsigned char>(byte));
      }
      arrays.push_back(std::move(array));
    }
    return arrays;
  }

  // Interprets the program, updates the arrays and returns the reports.
  static std::string interpreted(const Program& program, std::vector<HostArray>& arrays) {
    std::deque<Memory> memories;
    std::vector<Placement> arguments;
    for (size_t i = 0; i < arrays.size(); ++i) {
      memories.push_back(memory_for(*program.params[i]));
      std::memcpy(memories.back().bytes().data(), arrays[i].bytes.data(), arrays[i].bytes.size());
      if (program.params[i]->name != "out") memories.back().define_all();
      arguments.push_back({&memories.back()});
    }
    std::string text;
    for (const ir::Report& report : interpret(program, arguments)) text += to_string(report) + "\n";
    for (size_t i = 0; i < arrays.size(); ++i) {
      std::memcpy(arrays[i].bytes.data(), memories[i].bytes().data(), arrays[i].bytes.size());
    }
    return text;
  }

  static size_t place_of_results(const Program& program) {
    size_t place = 0;
    while (program.params.at(place)->name != "out") ++place;
    return place;
  }

  void compare(const char* which, const HostArray& a, const HostArray& b) const {
    const auto element = [&](const HostArray& array, int64_t i) {
      return ir::decode(result_type_, reinterpret_cast<const std::byte*>(array.bytes.data()) +
                                          i * result_type_.bytes());
    };
    for (int64_t i = 0; i < count_; ++i) {
      const Scalar one = element(a, i), other = element(b, i);
      const bool same =
          one.integer == other.integer &&
          (one.number == other.number || (std::isnan(one.number) && std::isnan(other.number)));
      ASSERT_TRUE(same) << which << " differ in " << to_string(type_) << ", element " << i << ": "
                        << one.integer << " " << one.number << ", " << other.integer << " "
                        << other.number;
    }
  }

  Type type_, result_type_;
  TestKernel kernel_;
  Expr tx_ = kernel_.axis("threadIdx.x", kThreads);
  Buffer x_ = global("x", type_, kCount), y_ = global("y", type_, kCount);
  Buffer z_ = global("z", type_, kCount);
  std::vector<Result> results_;
  int64_t count_ = 0;
};

Expr binary(BinaryOp op, const Expr& a, const Expr& b) { return make_binary(op, a, b); }

TEST(InterpretGenerated, Integers) {
  for (const Type type : {Type::i(8), Type::u(8), Type::i(16), Type::u(16), Type::i(32),
                          Type::u(32), Type::i(64), Type::u(64)}) {
    Arithmetic a(type);
    for (const BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min,
                              BinaryOp::Max, BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor}) {
      a.add([&](const Expr& x, const Expr& y, const Expr&) { return binary(op, x, y); });
    }
    for (const BinaryOp op : {BinaryOp::Div, BinaryOp::Mod, BinaryOp::FloorDiv, BinaryOp::FloorMod,
                              BinaryOp::Shl, BinaryOp::Shr}) {
      a.add([&](const Expr& x, const Expr&, const Expr& z) { return binary(op, x, z); });
    }
    for (const BinaryOp op :
         {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge}) {
      a.add([&](const Expr& x, const Expr& y, const Expr& z) {
        return make_select(binary(op, x, y), x, z);
      });
    }
    // z is from 1 to 7, valid as a divisor and as a shift count.
    a.check([&](const std::string& name, Scalar value) {
      return name == "z" ? ir::scalar_of((value.integer & 0x7fff) % 7 + 1) : value;
    });
  }
}

// float16 and float32 operations, each of which devices round to nearest.
TEST(InterpretGenerated, Floats) {
  for (const Type type : {Type::f(16), Type::f(32)}) {
    Arithmetic a(type);
    for (const BinaryOp op :
         {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max}) {
      a.add([&](const Expr& x, const Expr& y, const Expr&) { return binary(op, x, y); });
    }
    a.add([](const Expr& x, const Expr& y, const Expr& z) { return x * y + z; });
    a.add([](const Expr& x, const Expr& y, const Expr& z) { return make_select(x < y, z, x); });
    if (type.bits == 32) {
      a.add([](const Expr& x, const Expr& y, const Expr& z) { return make_fma(x, y, z); });
    } else {
      a.add([](const Expr& x, const Expr& y, const Expr&) { return binary(BinaryOp::Div, x, y); });
    }
    // Avoids NaN, and subnormals, which a device may flush to zero.
    a.check([&](const std::string&, Scalar value) {
      const double magnitude = std::abs(value.number);
      const bool plain = magnitude > 1e-2 && magnitude < 1e3;
      return plain ? value : ir::scalar_of(double{1} + static_cast<double>(magnitude > 1));
    });
  }
}

TEST(InterpretGenerated, Conversions) {
  for (const Type from : {Type::i(8), Type::u(32), Type::f(16), Type::f(32)}) {
    for (const Type to : {Type::i(8), Type::i(64), Type::f(16), Type::f(32)}) {
      if (from == to) continue;
      Arithmetic a(from, to);
      a.add([&](const Expr& x, const Expr&, const Expr&) {
        return make_cast(to.with_lanes(x->type.lanes), x);
      });
      // Avoids floats that some integer type cannot represent.
      a.check([&](const std::string&, Scalar value) {
        if (!from.is_float()) return value;
        const bool fits = value.number >= 0 && value.number < 127;
        return fits ? value : ir::scalar_of(2.5);
      });
    }
  }
}

// A complete schedule gives equal bits: float16 textures and tiles in shared memory.
TEST(InterpretGenerated, Schedule) {
  using namespace lower::testing;
  using namespace schedule::testing;
  const Type half = Type::f(16);
  const ir::Tensor a = placeholder("A", {6, 10}, half), b = placeholder("B", {10}, half);
  const ir::IterVar k = reduce_axis("k", 10);
  const ir::Tensor c = compute("C", {6}, [&](const ir::Exprs& i) {
    return sum(schedule::testing::at(a, {i[0], k->var}) * schedule::testing::at(b, {k->var}), {k});
  });
  Te te({c});
  const ir::Tensor image = te.cache_read(a, "texture", {c});
  te.bind(image, te.axis(image, 0), "blockIdx.x");
  const ir::Tensor tile = te.cache_read(b, "shared", {c});
  const auto [outer, inner] = te.split(c, te.axis(c, 0), 4);
  te.bind(c, outer, "blockIdx.x");
  te.bind(c, inner, "threadIdx.x");
  const auto [ko, ki] = te.split(c, te.reduction(c), 4);
  te.unroll(c, ki);
  te.compute_at(tile, c, ko);
  te.bind(tile, te.axis(tile, 0), "threadIdx.x");
  const Program program = legalize(lower::lower(lowering_of(te, {a, b, c})).program, {});

  std::deque<Memory> memories;
  std::vector<Placement> arguments;
  for (const Buffer& param : program.params) {
    memories.push_back(memory_for(*param));
    arguments.push_back({&memories.back()});
  }
  std::vector<double> as, bs, expected;
  for (int n = 0; n < 60; ++n) as.push_back(n % 7);
  for (int n = 0; n < 10; ++n) bs.push_back(n - 4);
  for (size_t row = 0; row < 6; ++row) {
    double total = 0;
    for (size_t n = 0; n < 10; ++n) total += as[row * 10 + n] * bs[n];
    expected.push_back(total);
  }
  fill(*program.params[0], arguments[0], as);
  fill(*program.params[1], arguments[1], bs);
  for (const ir::Report& report : interpret(program, arguments)) ADD_FAILURE() << to_string(report);
  EXPECT_EQ(contents(*program.params[2], arguments[2]), expected);
}

}  // namespace
}  // namespace texloom::codegen::opencl
