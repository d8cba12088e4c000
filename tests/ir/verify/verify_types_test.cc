#include "ir/verify/verify_types.h"

#include <gtest/gtest.h>

#include "tests/ir/samples.h"

namespace texloom::ir {
namespace {

constexpr AccessForm kLogical{.logical = true, .widened = false};
constexpr AccessForm kOffset{.logical = false, .widened = false};
constexpr AccessForm kWidened{.logical = false, .widened = true};

const Type kFloat4 = kFloat32.with_lanes(4);
const Type kFloat64 = Type::f(64);

std::string problem(const Expr& e, AccessForm form = kLogical) { return type_problem(e, form); }
std::string problem(const Stmt& s, AccessForm form = kLogical) { return type_problem(s, form); }

Expr var(Type type) { return make_var("v", type); }
Expr binary(Type type, BinaryOp op, Type a, Type b) {
  return Expr(new Binary(type, op, var(a), var(b)));
}

TEST(TypeProblem, NoneInWhatTheMakeFunctionsBuild) {
  const Leaves l;
  for (const ExprSample& sample : expr_samples(l)) EXPECT_EQ(problem(sample.e), "") << sample.text;
  for (const StmtSample& sample : stmt_samples(l)) EXPECT_EQ(problem(sample.s), "") << sample.text;
  EXPECT_EQ(problem(make_launch(0)), "");
}

TEST(TypeProblem, TypesThatDoNotExist) {
  for (const Type type : {Type::i(24), kInt32.with_lanes(0), kInt32.with_lanes(65)}) {
    EXPECT_EQ(problem(var(type)), "this type does not exist");
  }
  EXPECT_EQ(problem(var(kInt32.with_lanes(64))), "");
  EXPECT_EQ(problem(var(kInt32)), "");
}

TEST(TypeProblem, Constants) {
  EXPECT_EQ(problem(Expr(new IntImm(kFloat32, 1))), "an integer constant cannot have this type");
  EXPECT_EQ(problem(Expr(new IntImm(kInt32.with_lanes(4), 1))),
            "an integer constant cannot have this type");
  EXPECT_EQ(problem(Expr(new FloatImm(kInt32, 1))), "a float constant cannot have this type");
  EXPECT_EQ(problem(Expr(new FloatImm(kFloat4, 1))), "a float constant cannot have this type");
}

TEST(TypeProblem, Binary) {
  const Type i4 = kInt32.with_lanes(4), b4 = kBool.with_lanes(4);
  EXPECT_EQ(problem(binary(kInt32, BinaryOp::Add, kInt32, kInt64)),
            "the operands are int32 and int64");
  EXPECT_EQ(problem(binary(i4, BinaryOp::Add, i4, kInt32)), "the operands are int32x4 and int32");
  EXPECT_EQ(problem(binary(kInt64, BinaryOp::Add, kInt32, kInt32)), "its type is int64, not int32");
  EXPECT_EQ(problem(binary(kInt32, BinaryOp::Lt, kInt32, kInt32)), "its type is int32, not bool");
  EXPECT_EQ(problem(binary(kBool, BinaryOp::Ge, i4, i4)), "its type is bool, not boolx4");
  EXPECT_EQ(problem(binary(b4, BinaryOp::Eq, i4, i4)), "");
  for (const BinaryOp op : {BinaryOp::And, BinaryOp::Or}) {
    EXPECT_EQ(problem(binary(kBool, op, kInt32, kInt32)), "the operands are int32, not bool");
    EXPECT_EQ(problem(binary(kBool, op, kBool, kBool)), "");
    EXPECT_EQ(problem(binary(b4, op, b4, b4)), "");
  }
  for (const BinaryOp op : {BinaryOp::Mod, BinaryOp::Shl, BinaryOp::Shr, BinaryOp::BitAnd,
                            BinaryOp::BitOr, BinaryOp::BitXor}) {
    EXPECT_EQ(problem(binary(kFloat32, op, kFloat32, kFloat32)),
              "the operands are float32, not integers");
    EXPECT_EQ(problem(binary(kInt32, op, kInt32, kInt32)), "");
  }
  for (const BinaryOp op :
       {BinaryOp::Add, BinaryOp::Div, BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Max}) {
    EXPECT_EQ(problem(binary(kFloat32, op, kFloat32, kFloat32)), "");
  }
}

TEST(TypeProblem, Not) {
  EXPECT_EQ(problem(Expr(new Not(var(kInt32)))), "the operand is int32, not bool");
  EXPECT_EQ(problem(Expr(new Not(var(kBool.with_lanes(4))))), "");
}

TEST(TypeProblem, Select) {
  const auto select = [](Type condition, Type a, Type b) {
    return Expr(new Select(var(condition), var(a), var(b)));
  };
  EXPECT_EQ(problem(select(kInt32, kInt32, kInt32)), "the condition is int32, not bool");
  EXPECT_EQ(problem(select(kBool.with_lanes(2), kFloat4, kFloat4)),
            "the condition has 2 lanes, the values have 4");
  EXPECT_EQ(problem(select(kBool, kInt32, kInt64)), "the operands are int32 and int64");
  EXPECT_EQ(problem(select(kBool, kFloat4, kFloat4)), "");
  EXPECT_EQ(problem(select(kBool.with_lanes(4), kFloat4, kFloat4)), "");
}

TEST(TypeProblem, Cast) {
  EXPECT_EQ(problem(Expr(new Cast(kFloat4, var(kInt32)))),
            "int32 cannot be converted to float32x4, which has other lanes");
  EXPECT_EQ(problem(Expr(new Cast(kFloat4, var(kInt32.with_lanes(4))))), "");
}

TEST(TypeProblem, Call) {
  const auto call = [](Type type, Intrinsic f, Exprs arguments) {
    return Expr(new Call(type, f, std::move(arguments)));
  };
  EXPECT_EQ(problem(call(kFloat32, Intrinsic::Exp, {})),
            "the function has 0 arguments and takes 1");
  EXPECT_EQ(problem(call(kFloat32, Intrinsic::Power, {var(kFloat32)})),
            "the function has 1 arguments and takes 2");
  EXPECT_EQ(problem(call(kFloat32, Intrinsic::Power, {var(kFloat32), var(kFloat64)})),
            "the operands are float32 and float64");
  EXPECT_EQ(problem(call(kInt32, Intrinsic::Exp, {var(kInt32)})),
            "the function does not take int32");
  EXPECT_EQ(problem(call(kBool, Intrinsic::Abs, {var(kBool)})), "the function does not take bool");
  EXPECT_EQ(problem(call(kInt32, Intrinsic::Abs, {var(kInt32)})),
            "the function does not take int32");
  EXPECT_EQ(problem(call(kFloat32, Intrinsic::Abs, {var(kFloat32)})), "");
  EXPECT_EQ(problem(call(Type::u(32), Intrinsic::Clz, {var(Type::u(32))})), "");
  EXPECT_EQ(problem(call(kInt32, Intrinsic::Clz, {var(kInt32)})),
            "the function does not take int32");
  EXPECT_EQ(problem(call(kInt32, Intrinsic::DotU8S8, {var(kInt32), var(kInt32)})), "");
  EXPECT_EQ(problem(call(Type::u(32), Intrinsic::DotU8S8, {var(Type::u(32)), var(Type::u(32))})),
            "the function does not take uint32");
  EXPECT_EQ(problem(call(kInt32, Intrinsic::DotS8S8, {var(kInt32)})),
            "the function has 1 arguments and takes 2");
  EXPECT_EQ(problem(call(kFloat64, Intrinsic::NativeExp, {var(kFloat64)})),
            "the function does not take float64");
  EXPECT_EQ(problem(call(kFloat64, Intrinsic::Exp, {var(kFloat32)})),
            "its type is float64, not float32");
}

TEST(TypeProblem, Fma) {
  const auto fma = [](Type a, Type b, Type c) { return Expr(new Fma(var(a), var(b), var(c))); };
  EXPECT_EQ(problem(fma(kFloat32, kFloat64, kFloat32)), "the operands are float32 and float64");
  EXPECT_EQ(problem(fma(kFloat32, kFloat32, kFloat64)), "the operands are float32 and float64");
  EXPECT_EQ(problem(fma(kInt32, kInt32, kInt32)), "the operands are int32, not floats");
}

TEST(TypeProblem, Vectors) {
  EXPECT_EQ(problem(Expr(new Ramp(var(kInt32), var(kInt64), 4))),
            "the operands are int32 and int64");
  EXPECT_EQ(problem(Expr(new Ramp(var(kFloat32), var(kFloat32), 4))),
            "the operands are float32, not scalars of type int32 or int64");
  EXPECT_EQ(problem(Expr(new Ramp(var(Type::i(16)), var(Type::i(16)), 4))),
            "the operands are int16, not scalars of type int32 or int64");
  EXPECT_EQ(problem(Expr(new Ramp(var(kInt64), var(kInt64), 4))), "");
  EXPECT_EQ(problem(Expr(new Ramp(var(kInt32), var(kInt32), 1))),
            "a vector has 2 to 64 lanes, not 1");
  const Type i2 = kInt32.with_lanes(2);
  EXPECT_EQ(problem(Expr(new Ramp(var(i2), var(i2), 4))),
            "the operands are int32x2, not scalars of type int32 or int64");
  EXPECT_EQ(problem(Expr(new Broadcast(var(kInt32), 1))), "a vector has 2 to 64 lanes, not 1");
  EXPECT_EQ(problem(Expr(new Broadcast(var(i2), 2))), "the operand is int32x2, not a scalar");
  EXPECT_EQ(problem(Expr(new Broadcast(var(kInt32), 2))), "");
  EXPECT_EQ(problem(Expr(new Pack({var(kInt32)}))), "a vector has 2 to 64 lanes, not 1");
  EXPECT_EQ(problem(Expr(new Pack({var(i2), var(i2)}))), "the elements are int32x2, not scalars");
  EXPECT_EQ(problem(Expr(new Pack({var(kInt32), var(kInt64)}))),
            "the operands are int32 and int64");
}

TEST(TypeProblem, Lane) {
  EXPECT_EQ(problem(Expr(new Lane(var(kFloat32), var(kInt32)))),
            "float32 is a scalar, which has no lanes");
  EXPECT_EQ(problem(Expr(new Lane(var(kFloat4), var(kFloat32)))),
            "the lane number is float32, not a scalar of type int32 or int64");
  EXPECT_EQ(problem(Expr(new Lane(var(kFloat4), var(kInt32.with_lanes(4))))),
            "the lane number is int32x4, not a scalar of type int32 or int64");
}

class AccessTest : public testing::Test {
 protected:
  Leaves l;
  Expr ramp = make_ramp(l.j, make_int(1), 4);
};

Expr load(Type type, const Buffer& b, const Exprs& indices) {
  return Expr(new Load(type, b, indices));
}

TEST_F(AccessTest, HasAnIndexForEachAxisOrOneOffset) {
  EXPECT_EQ(problem(load(kFloat32, l.a, {l.i, l.j}), kLogical), "");
  EXPECT_EQ(problem(load(kFloat32, l.a, {l.i, l.j}), kOffset), "A takes 1 indices here, not 2");
  EXPECT_EQ(problem(load(kFloat32, l.a, {l.i}), kOffset), "");
  EXPECT_EQ(problem(load(kFloat32, l.a, {l.i}), kLogical), "A takes 2 indices here, not 1");
}

TEST_F(AccessTest, IndicesAreIndexTypes) {
  const Expr wide = var(kInt64), narrow = var(Type::i(16)), natural = var(Type::u(32));
  EXPECT_EQ(problem(load(kFloat32, l.a, {wide, l.j})), "");
  for (const Expr& wrong : {narrow, natural, l.x, l.p}) {
    const std::string text = "an index is " + to_string(wrong->type) + ", neither int32 nor int64";
    EXPECT_EQ(problem(load(kFloat32, l.a, {wrong, l.j})), text);
    EXPECT_EQ(problem(load(kFloat32, l.a, {l.i, wrong})), text);
  }
}

TEST_F(AccessTest, VectorsHaveTheLanesOfTheIndices) {
  const Expr ramp2 = make_ramp(l.j, make_int(1), 2);
  EXPECT_EQ(problem(load(kFloat4, l.a, {l.i, ramp})), "");
  EXPECT_EQ(problem(load(kFloat4, l.a, {ramp, l.i})), "");
  EXPECT_EQ(problem(load(kFloat4, l.a, {ramp, ramp})), "");
  EXPECT_EQ(problem(load(kFloat32, l.a, {l.i, ramp})), "the value has 1 lanes, the index has 4");
  EXPECT_EQ(problem(load(kFloat32, l.a, {ramp, l.i})), "the value has 1 lanes, the index has 4");
  EXPECT_EQ(problem(load(kFloat4, l.a, {l.i, l.j})), "the value has 4 lanes, the index has 1");
  EXPECT_EQ(problem(load(kFloat4, l.a, {ramp2, ramp})), "the indices are vectors of 2 and 4 lanes");
  EXPECT_EQ(problem(load(kFloat4, l.a, {ramp, ramp2})), "the indices are vectors of 4 and 2 lanes");
}

TEST_F(AccessTest, ValuesAreWiderThanElementsOnlyWhenLegalized) {
  const auto held = [&](Type stored, Type type, AccessForm form) {
    const Buffer b = make_buffer("B", stored, {8}, MemoryScope::Global);
    const Expr e = load(type, b, {l.i});
    auto* store = new Store;
    store->buffer = b;
    store->indices = {l.i};
    store->value = var(type);
    EXPECT_EQ(problem(Stmt(store), form), problem(e, form));
    return problem(e, form);
  };
  const Type half = Type::f(16), bfloat{TypeCode::BFloat, 16, 1};
  EXPECT_EQ(held(half, half, kOffset), "");
  EXPECT_EQ(held(half, kFloat32, kOffset), "B holds float16, the value is float32");
  for (const auto& [stored, type] : std::vector<std::pair<Type, Type>>{{half, kFloat32},
                                                                       {bfloat, kFloat32},
                                                                       {half, half},
                                                                       {kBool, Type::u(8)},
                                                                       {kBool, kInt32},
                                                                       {Type::i(8), kInt32},
                                                                       {Type::u(8), Type::u(32)}}) {
    EXPECT_EQ(held(stored, type, kWidened), "") << to_string(stored) << " " << to_string(type);
  }
  for (const auto& [stored, type] : std::vector<std::pair<Type, Type>>{{kFloat32, half},
                                                                       {half, bfloat},
                                                                       {half, kInt32},
                                                                       {Type::i(8), Type::u(32)},
                                                                       {Type::u(8), kInt32},
                                                                       {kInt32, Type::i(8)},
                                                                       {Type::i(8), kFloat32},
                                                                       {Type::u(8), kBool},
                                                                       {kBool, kFloat32}}) {
    EXPECT_EQ(held(stored, type, kWidened),
              "B holds " + to_string(stored) + ", the value is " + to_string(type));
  }
}

TEST_F(AccessTest, Texels) {
  const auto texel = [&](Type type, const Expr& x, const Expr& y) {
    return Expr(new TextureLoad(type, l.t, x, y));
  };
  EXPECT_EQ(problem(texel(kFloat4, l.i, l.j)), "");
  EXPECT_EQ(problem(texel(kFloat4, var(kInt64), var(kInt64))), "");
  EXPECT_EQ(problem(texel(kFloat32, l.i, l.j)), "a texel has 4 lanes, not 1");
  EXPECT_EQ(problem(texel(kFloat4, ramp, l.j)),
            "a coordinate is int32x4, not a scalar of type int32 or int64");
  EXPECT_EQ(problem(texel(kFloat4, l.i, l.x)),
            "a coordinate is float32, not a scalar of type int32 or int64");
  const Type half4 = Type::f(16).with_lanes(4);
  EXPECT_EQ(problem(texel(half4, l.i, l.j)), "T holds float32, the value is float16");
  auto* store = new TextureStore;
  store->texture = l.t;
  store->x = l.i;
  store->y = ramp;
  store->value = l.v;
  EXPECT_EQ(problem(Stmt(store)), "a coordinate is int32x4, not a scalar of type int32 or int64");
  EXPECT_EQ(problem(make_texture_store(l.t, l.i, l.j, var(half4))),
            "T holds float32, the value is float16");
  const Type double4 = kFloat64.with_lanes(4);
  EXPECT_EQ(problem(texel(double4, l.i, l.j), kWidened), "");
}

TEST_F(AccessTest, Statements) {
  const Stmt body = make_barrier();
  EXPECT_EQ(problem(make_for(l.x, l.x, LoopKind::Serial, body)),
            "its variable is not an index variable");
  EXPECT_EQ(problem(make_thread_for(make_int(1), l.n, {}, body)),
            "its variable is not an index variable");
  EXPECT_EQ(problem(make_for(l.i, var(kInt64), LoopKind::Serial, body)),
            "the operands are int32 and int64");
  EXPECT_EQ(problem(make_for(var(kInt64), var(kInt64), LoopKind::Serial, body)), "");
  EXPECT_EQ(problem(make_if(var(kBool.with_lanes(4)), body)), "the condition is boolx4, not bool");
  EXPECT_EQ(problem(make_let(make_int(1), make_int(1), body)), "it does not bind a variable");
  auto* let = new Let;
  let->var = l.i;
  let->value = l.x;
  let->body = body;
  EXPECT_EQ(problem(Stmt(let)), "the operands are int32 and float32");
}

TEST(IndexVariables, AreScalarInt32OrInt64Variables) {
  EXPECT_TRUE(is_scalar_index(var(kInt32)));
  EXPECT_TRUE(is_scalar_index(make_int(1, kInt64)));
  EXPECT_FALSE(is_scalar_index(var(kInt32.with_lanes(2))));
  EXPECT_FALSE(is_scalar_index(var(Type::u(32))));
  EXPECT_TRUE(is_index_variable(var(kInt64)));
  EXPECT_FALSE(is_index_variable(make_int(1)));
  EXPECT_FALSE(is_index_variable(var(kFloat32)));
}

// Verifies a valid buffer or texture after `change` has broken one thing in it.
template <class Change>
std::string broken(bool texture, const Change& change) {
  const Buffer good =
      texture ? make_texture("T", kFloat32, texture_layout({8, 4}, TextureRule::Activation),
                             {make_var("tx"), make_var("ty")})
              : make_buffer("B", kFloat32, {8, 4}, MemoryScope::Shared);
  EXPECT_EQ(buffer_problem(*good), "");
  change(const_cast<BufferNode&>(*good));
  return buffer_problem(*good);
}

TEST(BufferProblem, OfBuffers) {
  EXPECT_EQ(broken(false, [](BufferNode& b) { b.shape = {4, 8}; }), "its layout has another shape");
  EXPECT_EQ(broken(false, [](BufferNode& b) { b.shape = b.layout.shape = {8, 0}; }),
            "an extent is less than 1");
  EXPECT_EQ(broken(false, [](BufferNode& b) { b.type = kFloat4; }),
            "its element type is not a scalar type");
  EXPECT_EQ(broken(false, [](BufferNode& b) { b.type = Type::f(24); }),
            "its element type is not a scalar type");
  EXPECT_EQ(broken(true, [](BufferNode& b) { b.layout.object = MemoryObject::Image1dBuffer; }),
            "no access supports its memory object");
  EXPECT_EQ(broken(false, [](BufferNode& b) { b.layout.cols.pop_back(); }),
            "the parts of axis d1 leave out d1");
  EXPECT_EQ(broken(false, [](BufferNode& b) { std::swap(b.layout.rows, b.layout.cols); }),
            "the layout of a buffer has rows or lanes");
  EXPECT_EQ(broken(false, [](BufferNode& b) { std::swap(b.layout.lanes, b.layout.cols); }),
            "the layout of a buffer has rows or lanes");
  for (const bool x : {false, true}) {
    EXPECT_EQ(broken(false, [&](BufferNode& b) { (x ? b.origin.x : b.origin.y) = make_var("o"); }),
              "only a texture has an origin");
  }
}

// Tests the rules for textures whose number of rows is known only at the call.
TEST(BufferProblem, OfOpenTextures) {
  const auto after = [](const auto& change) {
    const Exprs extents = {make_var("n"), make_int(6)};
    const Buffer good = make_symbolic_texture(
        "T", kFloat32, extents, texture_layout(open_shape(extents), TextureRule::Activation));
    EXPECT_EQ(buffer_problem(*good), "");
    change(const_cast<BufferNode&>(*good));
    return buffer_problem(*good);
  };
  EXPECT_EQ(after([](BufferNode& b) { b.shape = {8, 6}; }), "it has both extents and a shape");
  EXPECT_EQ(after([](BufferNode& b) { b.extents[1] = make_int(8); }),
            "its layout has another shape");
  EXPECT_EQ(after([](BufferNode& b) { b.layout = close(b.layout, {8, 6}); }),
            "its layout has another shape");
  EXPECT_EQ(after([](BufferNode& b) { b.layout.object = MemoryObject::Buffer; }),
            "only a texture, or a row-major array in global memory, has symbolic extents");
  EXPECT_EQ(after([](BufferNode& b) { b.layout.rows[0].extent = 8; }),
            "the parts of axis d0 leave out d0/8");
  EXPECT_EQ(after([](BufferNode& b) { b.memory = MemoryScope::Shared; }),
            "a texture must be in global memory");
  EXPECT_EQ(after([](BufferNode& b) { b.extents[0] = make_cast(kInt32, make_var("f", kFloat32)); }),
            "its extents are not int32 arithmetic of symbols");
  EXPECT_EQ(after([](BufferNode& b) { b.type = Type::f(64); }), "textures cannot hold this type");
}

TEST(BufferProblem, OfTextures) {
  EXPECT_EQ(broken(true, [](BufferNode& b) { b.memory = MemoryScope::Shared; }),
            "a texture must be in global memory");
  EXPECT_EQ(broken(true, [](BufferNode& b) { std::swap(b.layout.lanes, b.layout.cols); }),
            "a texel has 4 lanes, not 8");
  for (const Type type : {Type::f(64), kInt64, kBool, Type{TypeCode::BFloat, 16, 1}}) {
    EXPECT_EQ(broken(true, [&](BufferNode& b) { b.type = type; }),
              "textures cannot hold this type");
  }
  for (const Type type : {Type::f(16), kInt32, Type::u(8)}) {
    EXPECT_EQ(broken(true, [&](BufferNode& b) { b.type = type; }), "");
  }
  EXPECT_EQ(broken(true, [](BufferNode& b) { b.origin.x = nullptr; }),
            "an origin needs both coordinates or none");
  EXPECT_EQ(broken(true, [](BufferNode& b) { b.origin.y = nullptr; }),
            "an origin needs both coordinates or none");
  EXPECT_EQ(broken(true, [](BufferNode& b) { b.origin = {}; }), "");
  for (const bool x : {false, true}) {
    for (const Expr& word : {make_int(0), var(kInt64)}) {
      EXPECT_EQ(broken(true, [&](BufferNode& b) { (x ? b.origin.x : b.origin.y) = word; }),
                "a coordinate of its origin is not an int32 variable");
    }
  }
}

}  // namespace
}  // namespace texloom::ir
