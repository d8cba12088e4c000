#include "codegen/llvm/plugin/kernel_emitter.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MathExtras.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/llvm/nontemporal.h"
#include "codegen/llvm/plugin/arithmetic.h"
#include "codegen/llvm/plugin/debug_lines.h"
#include "codegen/llvm/plugin/dot_products.h"
#include "codegen/llvm/plugin/imported_code.h"
#include "codegen/llvm/plugin/kernel_entry.h"
#include "codegen/llvm/plugin/microkernels.h"
#include "codegen/llvm/plugin/prefetch.h"
#include "codegen/llvm/plugin/rolled_loops.h"
#include "codegen/llvm/plugin/textures.h"
#include "codegen/llvm/plugin/types.h"
#include "ir/evaluation.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen::native {

using ir::Expr;
using ir::Stmt;
using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr uint64_t kStackBytes = 64 << 10;  // of arrays; the rest is allocated when the kernel runs

// Emits the function that runs one block.
class BlockEmitter {
 public:
  BlockEmitter(llvm::Module& module, const ir::Kernel& kernel, const DotUnit& dots,
               DebugLines& lines)
      : module_(module),
        context_(module.getContext()),
        builder_(context_),
        kernel_(kernel),
        dots_(dots),
        lines_(lines) {}

  // Takes the arguments, in order, then the numbers of the block along the kernel's axes, and
  // scratch_bytes() bytes of memory.
  llvm::Function* run() {
    std::vector<llvm::Type*> types;
    for (const ir::KernelParam& param : kernel_.params) {
      types.push_back(param.scalar ? value_type(param.scalar->type, context_)
                                   : builder_.getPtrTy());
    }
    for (const ir::ThreadAxis& axis : kernel_.axes)
      types.push_back(value_type(axis.var->type, context_));
    types.push_back(builder_.getPtrTy());
    function_ =
        llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), types, false),
                               llvm::Function::InternalLinkage, kernel_.name + ".block", module_);
    function_->addFnAttr(llvm::Attribute::AlwaysInline);
    function_->setDoesNotThrow();
    lines_.begin(*function_, kernel_);
    builder_.SetInsertPoint(BasicBlock::Create(context_, "entry", function_));
    set_line(kernel_.location);
    bind_arguments();
    stmt(kernel_.body);
    builder_.CreateRetVoid();
    return function_;
  }

  uint64_t scratch_bytes() const { return scratch_bytes_; }
  bool stores_nontemporal() const { return stores_nontemporal_; }

 private:
  void bind_arguments() {
    auto argument = function_->arg_begin();
    for (const ir::KernelParam& param : kernel_.params) {
      llvm::Argument& given = *argument++;
      if (param.scalar) {
        given.setName(as<ir::Var>(param.scalar)->name);
        values_[param.scalar.get()] = &given;
        continue;
      }
      given.setName(param.buffer->name);
      if (param.buffer->is_texture()) {
        textures_[param.buffer.get()] = texture_at(builder_, &given);
        continue;
      }
      given.addAttr(llvm::Attribute::NoAlias);
      given.addAttr(llvm::Attribute::NonNull);
      given.addAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(kArgumentAlignment)));
      if (!ir::writes(param.access)) given.addAttr(llvm::Attribute::ReadOnly);
      arrays_[param.buffer.get()] = &given;
    }
    for (const ir::ThreadAxis& axis : kernel_.axes) {
      argument->setName(as<ir::Var>(axis.var)->name);
      values_[axis.var.get()] = &*argument++;
    }
    scratch_ = &*argument;
    scratch_->setName("scratch");
    scratch_->addAttr(llvm::Attribute::NoAlias);
    scratch_->addAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(kArrayAlignment)));
  }

  void set_line(const SourceLocation& location) {
    builder_.SetCurrentDebugLocation(lines_.at(*function_, location));
  }

  BasicBlock* block(const char* name) { return BasicBlock::Create(context_, name, function_); }

  // -- Expressions

  Value* expr(const Expr& e) {
    return visit(
        e, [&](const ir::IntImm& n) -> Value* { return constant(n.type, n.value); },
        [&](const ir::FloatImm& n) -> Value* {
          return llvm::ConstantFP::get(value_type(n.type, context_), n.value);
        },
        [&](const ir::Var& n) -> Value* { return values_.at(&n); },
        [&](const ir::Binary& n) -> Value* { return binary(n); },
        [&](const ir::Not& n) -> Value* { return builder_.CreateNot(expr(n.value)); },
        [&](const ir::Select& n) -> Value* { return select(n); },
        [&](const ir::Cast& n) -> Value* {
          return emit_cast(builder_, n.value->type, n.type, expr(n.value));
        },
        [&](const ir::Call& n) -> Value* {
          std::vector<Value*> arguments;
          for (const Expr& each : n.arguments) arguments.push_back(expr(each));
          if (const auto dot = ir::dot_of(n.function))
            return emit_dot(builder_, dots_, *dot, constant(n.type, 0), arguments);
          return emit_call(builder_, n.function, n.type, arguments);
        },
        [&](const ir::Fma& n) -> Value* {
          Value* a = expr(n.a);
          Value* b = expr(n.b);
          return emit_fma(builder_, {a, b, expr(n.c)});
        },
        [&](const ir::Broadcast& n) -> Value* {
          return builder_.CreateVectorSplat(static_cast<unsigned>(n.type.lanes), expr(n.value));
        },
        [&](const ir::Lane& n) -> Value* {
          return builder_.CreateExtractElement(expr(n.vector),
                                               static_cast<uint64_t>(*int_value(n.index)));
        },
        [&](const ir::Pack& n) -> Value* {
          Value* all = llvm::PoisonValue::get(value_type(n.type, context_));
          for (size_t i = 0; i < n.elements.size(); ++i)
            all = builder_.CreateInsertElement(all, expr(n.elements[i]), uint64_t{i});
          return all;
        },
        [&](const ir::Load& n) -> Value* {
          return from_memory(builder_, n.buffer->type, n.type, elements(n));
        },
        [&](const ir::TextureLoad& n) -> Value* { return texel(n); },
        [&](const ir::ForeignCall& n) -> Value* {
          std::vector<Value*> arguments;
          for (const Expr& each : n.arguments) arguments.push_back(expr(each));
          return is_microkernel(n.function)
                     ? emit_microkernel_call(builder_, n.function, arguments)
                     : emit_imported_call(builder_, n.function, value_type(n.type, context_),
                                          arguments);
        },
        [&](const ir::Pointer& n) -> Value* {
          return place(n.buffer, n.indices.front() + make_cast(n.indices.front()->type, n.offset));
        },
        [](const auto& n) -> Value* {
          TL_UNREACHABLE("not legalized: node kind " + std::to_string(static_cast<int>(n.kind)));
        });
  }

  Value* constant(ir::Type type, int64_t value) {
    return llvm::ConstantInt::get(value_type(type, context_), static_cast<uint64_t>(value),
                                  type.is_int());
  }

  Value* binary(const ir::Binary& n) {
    if (ir::is_logical(n.op) && n.type.is_scalar() && failures_.possible_in(n.b)) {
      const bool is_and = n.op == ir::BinaryOp::And;
      return chosen(
          expr(n.a), n.type, [&] { return is_and ? expr(n.b) : builder_.getTrue(); },
          [&] { return is_and ? builder_.getFalse() : expr(n.b); });
    }
    if (n.op == ir::BinaryOp::Add) {
      if (Value* sum = sum_with_dot(n.a, n.b)) return sum;
      if (Value* sum = sum_with_dot(n.b, n.a)) return sum;
    }
    Value* a = expr(n.a);
    return emit_binary(builder_, n.op, n.a->type, a, expr(n.b), !is_from_memory(n));
  }

  // The sum of a number and a dot product, which processors compute at once; null for others.
  Value* sum_with_dot(const Expr& number, const Expr& product) {
    const auto* call = as<ir::Call>(product);
    const auto dot = call == nullptr ? std::nullopt : ir::dot_of(call->function);
    if (!dot) return nullptr;
    Value* sum = expr(number);
    Value* left = expr(call->arguments[0]);
    return emit_dot(builder_, dots_, *dot, sum, {left, expr(call->arguments[1])});
  }

  Value* select(const ir::Select& n) {
    const bool branches = n.condition->type.is_scalar() &&
                          (failures_.possible_in(n.if_true) || failures_.possible_in(n.if_false));
    Value* condition = expr(n.condition);
    if (branches) {
      return chosen(
          condition, n.type, [&] { return expr(n.if_true); }, [&] { return expr(n.if_false); });
    }
    Value* if_true = expr(n.if_true);
    return builder_.CreateSelect(condition, if_true, expr(n.if_false));
  }

  // Evaluates only the chosen value.
  template <class Then, class Otherwise>
  Value* chosen(Value* condition, ir::Type type, const Then& then, const Otherwise& otherwise) {
    BasicBlock* yes = block("then");
    BasicBlock* no = block("else");
    BasicBlock* after = block("chosen");
    builder_.CreateCondBr(condition, yes, no);
    builder_.SetInsertPoint(yes);
    Value* if_true = then();
    BasicBlock* end_of_yes = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(no);
    Value* if_false = otherwise();
    BasicBlock* end_of_no = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    llvm::PHINode* phi = builder_.CreatePHI(value_type(type, context_), 2);
    phi->addIncoming(if_true, end_of_yes);
    phi->addIncoming(if_false, end_of_no);
    return phi;
  }

  // Whether the integer depends on memory, so that its sums may wrap (ir/program.h).
  bool is_from_memory(const ir::Binary& n) { return is_from_memory(n.a) || is_from_memory(n.b); }
  bool is_from_memory(const Expr& e) {
    if (const auto found = from_memory_.find(e); found != from_memory_.end()) return found->second;
    bool found = e->kind == ir::ExprKind::Load || e->kind == ir::ExprKind::TextureLoad ||
                 e->kind == ir::ExprKind::Cast || e->kind == ir::ExprKind::Call ||
                 e->kind == ir::ExprKind::ForeignCall;
    for_each_child(e, [&](const Expr& child) { found = found || is_from_memory(child); });
    from_memory_.emplace(e, found);
    return found;
  }

  llvm::Align alignment_of(const ir::Buffer& buffer) const {
    return llvm::Align(static_cast<uint64_t>(buffer->type.bytes()));
  }

  // The address of the element, or of the first of consecutive elements.
  Value* place(const ir::Buffer& buffer, const Expr& index) {
    const auto* ramp = as<ir::Ramp>(index);
    const Expr& first = ramp == nullptr ? index : ramp->base;
    return builder_.CreateInBoundsGEP(memory_type(buffer->type, context_), arrays_.at(buffer.get()),
                                      offset(first));
  }

  // An index times a factor, as 64 bits. Sums and products that do not wrap are computed in 64
  // bits, so that LLVM sees which elements are neighbors: it forgets that a sum of 32 bits does not
  // wrap when it changes the sum. It does not compare 4 * (a + b) with 4 * a + 4 * b either, so
  // constant factors are multiplied out.
  Value* offset(const Expr& index, int64_t factor = 1) {
    const auto* n = as<ir::Binary>(index);
    const bool is_index = n != nullptr && n->type == ir::kInt32 && !is_from_memory(*n);
    if (is_index && (n->op == ir::BinaryOp::Add || n->op == ir::BinaryOp::Sub)) {
      Value* a = offset(n->a, factor);
      return emit_binary(builder_, n->op, ir::kInt64, a, offset(n->b, factor), true);
    }
    if (is_index && n->op == ir::BinaryOp::Mul) {
      const auto* scale = as<ir::IntImm>(n->b);  // the simplifier puts constants on the right
      int64_t whole = 0;
      if (scale != nullptr && !llvm::MulOverflow(factor, scale->value, whole))
        return offset(n->a, whole);
      Value* a = offset(n->a, factor);
      return emit_binary(builder_, n->op, ir::kInt64, a, offset(n->b), true);
    }
    Value* whole = builder_.CreateIntCast(expr(index), builder_.getInt64Ty(), index->type.is_int());
    if (factor == 1) return whole;
    Value* times = builder_.getInt64(static_cast<uint64_t>(factor));
    return emit_binary(builder_, ir::BinaryOp::Mul, ir::kInt64, whole, times, true);
  }

  TexelPlace place_of_texel(const ir::Buffer& buffer, const Expr& x, const Expr& y) {
    const auto wide = [&](const Expr& coordinate) {
      return builder_.CreateIntCast(expr(coordinate), builder_.getInt64Ty(),
                                    coordinate->type.is_int());
    };
    Value* column = wide(x);
    return texel_place(builder_, textures_.at(buffer.get()), column, wide(y),
                       static_cast<uint64_t>(4 * buffer->type.bytes()));
  }

  Value* texel(const ir::TextureLoad& n) {
    const auto [inside, address] = place_of_texel(n.texture, n.x, n.y);
    return chosen(
        inside, n.type,
        [&, at = address]() -> Value* {
          const ir::Type stored = n.texture->type;
          Value* elements = builder_.CreateAlignedLoad(memory_type(stored.with_lanes(4), context_),
                                                       at, alignment_of(n.texture));
          return from_memory(builder_, stored, n.type, elements);
        },
        [&]() -> Value* { return llvm::Constant::getNullValue(value_type(n.type, context_)); });
  }

  // What a load finds in memory.
  Value* elements(const ir::Load& n) {
    return builder_.CreateAlignedLoad(
        memory_type(n.buffer->type.with_lanes(n.type.lanes), context_),
        place(n.buffer, n.indices.front()), alignment_of(n.buffer));
  }

  // What a store puts into memory. A copy needs no conversion to values and back, which LLVM does
  // not remove from bfloat16.
  Value* stored(const ir::Store& n) {
    const auto* copied = as<ir::Load>(n.value);
    if (copied != nullptr && copied->buffer->type == n.buffer->type) return elements(*copied);
    return to_memory(builder_, n.value->type, n.buffer->type, expr(n.value));
  }

  // -- Statements

  void stmt(const Stmt& s) {
    set_line(s->location);
    visit(
        s, [&](const ir::Store& n) { store(n); }, [&](const ir::Prefetch& n) { prefetch(n); },
        [&](const ir::TextureStore& n) { store_texel(n); }, [&](const ir::For& n) { loop(n); },
        [&](const ir::If& n) {
          BasicBlock* then = block("then");
          BasicBlock* after = block("after");
          builder_.CreateCondBr(expr(n.condition), then, after);
          builder_.SetInsertPoint(then);
          stmt(n.then);
          builder_.CreateBr(after);
          builder_.SetInsertPoint(after);
        },
        [&](const ir::While& n) {
          BasicBlock* test = block("while");
          BasicBlock* body = block("body");
          BasicBlock* after = block("after");
          builder_.CreateBr(test);
          builder_.SetInsertPoint(test);
          builder_.CreateCondBr(expr(n.condition), body, after);
          builder_.SetInsertPoint(body);
          stmt(n.body);
          builder_.CreateBr(test);
          builder_.SetInsertPoint(after);
        },
        [&](const ir::Seq& n) {
          for (const Stmt& each : n.statements) stmt(each);
        },
        [&](const ir::Let& n) {
          values_[n.var.get()] = expr(n.value);
          from_memory_[n.var] = is_from_memory(n.value);
          stmt(n.body);
        },
        [&](const ir::Allocate& n) {
          arrays_[n.buffer.get()] = allocated(n.buffer);
          stmt(n.body);
        },
        [&](const ir::Evaluate& n) { expr(n.call); },
        [](const auto&) { TL_UNREACHABLE("not legalized for a function without threads"); });
  }

  void store(const ir::Store& n) {
    const bool passes_caches = n.buffer->nontemporal;
    Value* value = stored(n);
    llvm::StoreInst* made = builder_.CreateAlignedStore(
        value, place(n.buffer, n.indices.front()),
        passes_caches ? llvm::Align(kNontemporalBytes) : alignment_of(n.buffer));
    if (!passes_caches) return;
    stores_nontemporal_ = true;
    made->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  }

  // The address may be outside of the array, which no instruction minds.
  void prefetch(const ir::Prefetch& n) {
    Value* address = builder_.CreateGEP(memory_type(n.buffer->type, context_),
                                        arrays_.at(n.buffer.get()), offset(n.indices.front()));
    emit_prefetch(builder_, address);
  }

  Value* allocated(const ir::Buffer& buffer) {
    const auto elements = static_cast<uint64_t>(buffer->layout.col_count());
    const uint64_t bytes =
        llvm::alignTo(elements * static_cast<uint64_t>(buffer->type.bytes()), kArrayAlignment);
    // A fragment has no address that varies, so that it becomes registers.
    const bool is_fragment = buffer->memory == ir::MemoryScope::Fragment;
    if (!is_fragment && stack_bytes_ + bytes > kStackBytes) {
      Value* place =
          builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), scratch_, scratch_bytes_);
      scratch_bytes_ += bytes;
      return place;
    }
    if (!is_fragment) stack_bytes_ += bytes;
    BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> first(&entry, entry.begin());
    llvm::Type* type = llvm::ArrayType::get(memory_type(buffer->type, context_), elements);
    llvm::AllocaInst* array = first.CreateAlloca(type, nullptr, buffer->name);
    array->setAlignment(llvm::Align(kArrayAlignment));
    return array;
  }

  void loop(const ir::For& n) {
    llvm::Type* type = value_type(n.var->type, context_);
    Value* extent = expr(n.extent);
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* body = block("loop");
    BasicBlock* after = block("after");
    Value* zero = llvm::ConstantInt::get(type, 0);
    builder_.CreateCondBr(builder_.CreateICmpSLT(zero, extent), body, after);
    builder_.SetInsertPoint(body);
    llvm::PHINode* var = builder_.CreatePHI(type, 2, as<ir::Var>(n.var)->name);
    var->addIncoming(zero, before);
    values_[n.var.get()] = var;
    for (const auto& [inner, stream] : streams_of(n)) streams_[inner].push_back(stream);
    for (const Stream& each : streams_[&n]) {
      Value* here = place(each.load->buffer, each.load->indices.front());
      emit_prefetch(builder_, each, here, expr(each.pass), var);
    }
    stmt(n.body);
    set_line(n.location);
    Value* next = builder_.CreateAdd(var, llvm::ConstantInt::get(type, 1), "", true, true);
    var->addIncoming(next, builder_.GetInsertBlock());
    llvm::BranchInst* again =
        builder_.CreateCondBr(builder_.CreateICmpSLT(next, extent), body, after);
    if (has_long_loops(n) || computes_tile(*body)) keep_rolled(*again);
    builder_.SetInsertPoint(after);
  }

  void store_texel(const ir::TextureStore& n) {
    const ir::Type stored = n.texture->type;
    Value* elements = to_memory(builder_, n.value->type, stored, expr(n.value));
    const auto [inside, address] = place_of_texel(n.texture, n.x, n.y);
    BasicBlock* then = block("inside");
    BasicBlock* after = block("after");
    builder_.CreateCondBr(inside, then, after);
    builder_.SetInsertPoint(then);
    builder_.CreateAlignedStore(elements, address, alignment_of(n.texture));
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  const ir::Kernel& kernel_;
  const DotUnit& dots_;
  DebugLines& lines_;
  llvm::Function* function_ = nullptr;
  llvm::Argument* scratch_ = nullptr;
  uint64_t stack_bytes_ = 0, scratch_bytes_ = 0;
  bool stores_nontemporal_ = false;
  std::unordered_map<const ir::ExprNode*, Value*> values_;    // of variables
  std::unordered_map<const ir::BufferNode*, Value*> arrays_;  // their first elements
  std::unordered_map<const ir::BufferNode*, Texture> textures_;
  std::unordered_map<const ir::For*, std::vector<Stream>> streams_;
  std::unordered_map<Expr, bool, RefHash, RefSame> from_memory_;
  ir::Failures failures_;
};

}  // namespace

void emit_kernel(llvm::Module& module, const ir::Kernel& kernel, const DotUnit& dots,
                 DebugLines& lines) {
  BlockEmitter block(module, kernel, dots, lines);
  llvm::Function* run_block = block.run();
  emit_entry(
      module, kernel, run_block,
      {.scratch_bytes = block.scratch_bytes(), .stores_nontemporal = block.stores_nontemporal()},
      lines);
}

}  // namespace texloom::codegen::native
