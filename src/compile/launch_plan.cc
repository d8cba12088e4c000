#include "compile/launch_plan.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/visit.h"
#include "support/check.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

namespace {

hal::Extent2D extent_of(const Layout& texture) {
  return {static_cast<uint32_t>(texture.col_count()), static_cast<uint32_t>(texture.row_count())};
}

uint64_t bytes_of(const BufferNode& buffer) {
  return static_cast<uint64_t>(buffer.layout.col_count() * buffer.type.bytes());
}

std::optional<uint32_t> place_in(const Exprs& variables, const Expr& var) {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const Expr& v) { return v.same_as(var); });
  if (found == variables.end()) return std::nullopt;
  return static_cast<uint32_t>(found - variables.begin());
}

uint32_t symbol_number(const Expr& symbol, const Exprs& symbols) {
  const auto number = place_in(symbols, symbol);
  TL_CHECK(number.has_value(), "no symbol: " + ir::to_string(symbol));
  return *number;
}

runtime::Size::Op size_op(BinaryOp op) {
  using Op = runtime::Size::Op;
  switch (op) {
    case BinaryOp::Add:
      return Op::Add;
    case BinaryOp::Sub:
      return Op::Sub;
    case BinaryOp::Mul:
      return Op::Mul;
    case BinaryOp::FloorDiv:
      return Op::FloorDiv;
    case BinaryOp::FloorMod:
      return Op::FloorMod;
    case BinaryOp::Min:
      return Op::Min;
    case BinaryOp::Max:
      return Op::Max;
    default:
      TL_UNREACHABLE("no operation of extents");
  }
}

// `loops` are the enclosing loops of the plan, outermost first: the slot of each is its position.
runtime::Size size_of(const Expr& extent, const Exprs& symbols, const Exprs& loops = {}) {
  if (const int64_t* value = int_value(extent)) return *value;
  if (const auto* n = as<Binary>(extent)) {
    return runtime::Size::of(size_op(n->op), size_of(n->a, symbols, loops),
                             size_of(n->b, symbols, loops));
  }
  if (const auto slot = place_in(loops, extent)) return runtime::Size::loop_variable(*slot);
  return runtime::Size::symbol(symbol_number(extent, symbols));
}

runtime::TensorSpec spec_of(const BufferNode& buffer, const Exprs& symbols) {
  runtime::TensorSpec spec;
  if (buffer.is_symbolic()) {
    std::vector<runtime::Size> shape;
    for (const Expr& extent : buffer.extents) shape.push_back(size_of(extent, symbols));
    spec = open_tensor_spec(buffer.name, buffer.type, std::move(shape), buffer.layout,
                            buffer.origin.exact_image);
  } else {
    spec = tensor_spec(buffer.name, buffer.type, buffer.layout, buffer.origin.exact_image);
  }
  if (buffer.counts) std::get<runtime::BufferStorage>(spec.storage).counters = true;
  return spec;
}

hal::Access hal_access(Access access) {
  switch (access) {
    case Access::Read:
      return hal::Access::Read;
    case Access::Write:
      return hal::Access::Write;
    case Access::ReadWrite:
      return hal::Access::ReadWrite;
  }
  TL_UNREACHABLE();
}

class PlanMaker {
 public:
  explicit PlanMaker(const CompiledModule& module) : module_(module), symbols_(module.symbols) {}

  runtime::LaunchPlan make() {
    for (const Expr& symbol : symbols()) plan_.symbols.push_back(as<Var>(symbol)->name);
    for (const Expr& scalar : symbols_.scalars) {
      plan_.scalars.push_back({as<Var>(scalar)->name, element_type(scalar->type)});
    }
    const std::vector<Layout>& arrays = module_.array_layouts;
    for (size_t i = 0; i < module_.program.params.size(); ++i) {
      const BufferNode& param = *module_.program.params[i];
      plan_.arguments.push_back(spec_of(param, symbols()));
      if (i < arrays.size() && !param.is_symbolic())
        plan_.arguments.back().layout = tensor_layout(arrays[i]);
    }
    for (const CompiledKernel& kernel : module_.kernels) add_kernel(kernel);
    for (const Buffer& temporary : module_.program.temporaries)
      unused_.emplace(temporary.get(), add_temporary(temporary));
    const Stmt& body = module_.program.body;
    const auto* seq = as<Seq>(body);
    for (const Stmt& each : seq == nullptr ? Stmts{body} : seq->statements) {
      allocate_for(each);
      add_steps(each, plan_.steps);
    }
    return std::move(plan_);
  }

 private:
  // Adds a temporary and returns its number.
  uint32_t add_temporary(const Buffer& buffer) {
    temporaries_.push_back(buffer);
    plan_.temporaries.push_back(spec_of(*buffer, symbols()));
    // Only arrays of callers, and textures whose size follows from their layout, need a layout.
    if (!buffer->is_symbolic()) plan_.temporaries.back().layout = {};
    return static_cast<uint32_t>(temporaries_.size() - 1);
  }

  // Allocates the temporaries whose first use is in this statement of the program's body.
  void allocate_for(const Stmt& s) {
    walk(s, [&](const Launch& n) {
      for (const KernelParam& p : module_.kernels[static_cast<size_t>(n.kernel)].params) {
        const auto first_use = unused_.extract(p.buffer.get());
        if (!first_use.empty()) plan_.steps.emplace_back(runtime::AllocateStep{first_use.mapped()});
      }
    });
  }

  void add_kernel(const CompiledKernel& kernel) {
    const codegen::CompiledCode& code = *kernel.code;
    const auto next = static_cast<uint32_t>(plan_.modules.size());
    const auto [known, added] = modules_.emplace(&code, next);
    if (added) plan_.modules.push_back({{{code.format, code.bytes, code.options}}, math_mode()});
    runtime::KernelSpec spec{.module = known->second, .entry = {}};
    spec.entry.name = kernel.name;
    for (const KernelParam& p : kernel.params) spec.entry.params.push_back(kernel_param(p));
    std::transform(kernel.block.begin(), kernel.block.end(), spec.entry.workgroup_size.begin(),
                   [](int64_t n) { return static_cast<uint32_t>(n); });
    plan_.kernels.push_back(std::move(spec));
  }

  // What the device's compiler may do. Native code is made already.
  hal::MathMode math_mode() const {
    const Target& target = module_.target;
    return target.math.fast && target.kind != TargetKind::Llvm ? hal::MathMode::Fast
                                                               : hal::MathMode::Strict;
  }

  std::vector<runtime::Step> steps_of(const Stmt& s) {
    std::vector<runtime::Step> steps;
    add_steps(s, steps);
    return steps;
  }

  void add_steps(const Stmt& s, std::vector<runtime::Step>& steps) {
    visit(
        s,
        [&](const Seq& n) {
          for (const Stmt& each : n.statements) add_steps(each, steps);
        },
        [&](const Allocate& n) {
          steps.emplace_back(runtime::AllocateStep{add_temporary(n.buffer)});
          add_steps(n.body, steps);
        },
        [&](const Free& n) { steps.emplace_back(runtime::FreeStep{reference(n.buffer).index}); },
        [&](const Launch& n) { steps.emplace_back(launch_of(n.kernel)); },
        [&](const For& n) {
          const auto slot = static_cast<uint32_t>(loops_.size());
          const runtime::Size extent = size_of(n.extent, symbols(), loops_);
          loops_.push_back(n.var);
          steps.emplace_back(runtime::LoopStep{slot, extent, steps_of(n.body)});
          loops_.pop_back();
        },
        [](const auto&) { TL_UNREACHABLE("not a statement of a launch plan"); });
  }

  runtime::LaunchStep launch_of(int number) const {
    const CompiledKernel& kernel = module_.kernels[static_cast<size_t>(number)];
    runtime::LaunchStep step;
    step.kernel = static_cast<uint32_t>(number);
    std::transform(kernel.grid.begin(), kernel.grid.end(), step.groups.begin(),
                   [this](const Expr& blocks) { return size_of(blocks, symbols(), loops_); });
    for (const KernelParam& p : kernel.params) {
      step.operands.push_back(p.scalar ? scalar_operand(kernel, p.scalar)
                                       : runtime::Operand(reference(p.buffer)));
    }
    return step;
  }

  runtime::TensorRef reference(const Buffer& buffer) const {
    const auto in = [&](const std::vector<Buffer>& list) {
      return std::find_if(list.begin(), list.end(),
                          [&](const Buffer& b) { return b.same_as(buffer); });
    };
    const std::vector<Buffer>& params = module_.program.params;
    if (const auto found = in(params); found != params.end()) {
      return {runtime::TensorRef::Kind::Argument, static_cast<uint32_t>(found - params.begin())};
    }
    const auto found = in(temporaries_);
    TL_CHECK(found != temporaries_.end(), "a kernel uses '" + buffer->name + "'");
    return {runtime::TensorRef::Kind::Temporary,
            static_cast<uint32_t>(found - temporaries_.begin())};
  }

  const Exprs& symbols() const { return symbols_.sizes; }

  runtime::Operand scalar_operand(const CompiledKernel& kernel, const Expr& scalar) const {
    if (const auto slot = place_in(loops_, scalar)) return runtime::LoopVariable{*slot};
    if (const auto number = place_in(symbols(), scalar)) return runtime::SymbolValue{*number};
    if (const auto number = place_in(symbols_.scalars, scalar)) {
      return runtime::ScalarValue{*number};
    }
    return origin_word(kernel, scalar);
  }

  runtime::Operand origin_word(const CompiledKernel& kernel, const Expr& word) const {
    for (const KernelParam& p : kernel.params) {
      if (!p.buffer || p.buffer->origin.is_zero()) continue;
      using Axis = runtime::OriginOf::Axis;
      if (p.buffer->origin.x.same_as(word)) return runtime::OriginOf{reference(p.buffer), Axis::X};
      if (p.buffer->origin.y.same_as(word)) return runtime::OriginOf{reference(p.buffer), Axis::Y};
    }
    TL_UNREACHABLE("a kernel constant without a source");
  }

  const CompiledModule& module_;
  const PlanSymbols& symbols_;
  runtime::LaunchPlan plan_;
  std::vector<Buffer> temporaries_;
  std::unordered_map<const codegen::CompiledCode*, uint32_t> modules_;  // numbers of modules
  std::unordered_map<const BufferNode*, uint32_t> unused_;  // numbers of temporaries not used yet
  Exprs loops_;  // variables of the enclosing loops, outermost first
};

}  // namespace

runtime::TensorLayout tensor_layout(const Layout& layout) {
  const auto digits = [](const LayoutParts& parts) {
    std::vector<runtime::LayoutDigit> result;
    for (const LayoutPart& part : parts)
      result.push_back({static_cast<uint32_t>(part.axis), part.divisor, part.extent});
    return result;
  };
  return {layout.shape, digits(layout.rows), digits(layout.cols), digits(layout.lanes)};
}

runtime::TensorSpec tensor_spec(const std::string& name, Type type, const Layout& layout,
                                bool exact) {
  runtime::TensorSpec spec{
      name, element_type(type), {layout.shape.begin(), layout.shape.end()}, {}};
  if (layout.object == MemoryObject::Image2d) {
    spec.storage = runtime::TextureStorage{extent_of(layout), texel_format(type), exact};
  } else {
    spec.storage = runtime::BufferStorage{static_cast<uint64_t>(
        layout.row_count() * layout.col_count() * layout.lane_count() * type.bytes())};
  }
  spec.layout = tensor_layout(layout);
  return spec;
}

runtime::TensorSpec open_tensor_spec(const std::string& name, Type type,
                                     std::vector<runtime::Size> shape, const Layout& layout,
                                     bool exact) {
  runtime::TensorSpec spec{name, element_type(type), std::move(shape), runtime::BufferStorage{}};
  if (layout.object != MemoryObject::Image2d) return spec;
  spec.storage = runtime::TextureStorage{{}, texel_format(type), exact};
  spec.layout = tensor_layout(layout);
  spec.layout.shape.clear();
  return spec;
}

hal::ElementType element_type(Type type) {
  const auto element = hal::element_type_from_name(ir::to_string(type.element()));
  TL_CHECK(element.has_value());
  return *element;
}

hal::TexelFormat texel_format(Type type) {
  const auto format = hal::texel_format_of(element_type(type));
  TL_CHECK(format.has_value());
  return *format;
}

hal::KernelParam kernel_param(const KernelParam& p) {
  if (p.scalar) return hal::ConstantParam{as<Var>(p.scalar)->name, element_type(p.scalar->type)};
  const BufferNode& b = *p.buffer;
  if (!b.is_texture()) {
    return hal::BufferParam{b.name, hal_access(p.access), b.is_symbolic() ? 0 : bytes_of(b)};
  }
  const auto origin = b.origin.is_zero() ? hal::TextureOrigin::Zero : hal::TextureOrigin::Constants;
  const hal::Extent2D least = b.is_symbolic() ? hal::Extent2D{} : extent_of(b.layout);
  return hal::TextureParam{b.name, texel_format(b.type), hal_access(p.access), least, origin};
}

runtime::LaunchPlan make_launch_plan(const CompiledModule& module) {
  return PlanMaker(module).make();
}

}  // namespace texloom::compile
