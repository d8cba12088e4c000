#include "runtime/package/plan_reader.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "runtime/package/package_format.h"
#include "support/processor/native_code.h"

namespace texloom::runtime {
namespace {

class PlanReader {
 public:
  PlanReader(IndexValues& values, SectionTable& sections, const PackageOptions& options)
      : values_(values), sections_(sections), options_(options) {}

  LaunchPlan read(const index::Plan& plan) {
    values_.use(plan.expressions());
    LaunchPlan made;
    made.scalars = values_.tables<ScalarSpec>(plan.scalars(), [this](const index::Scalar& each) {
      return ScalarSpec{values_.text(each.name()), values_.element(each.element())};
    });
    made.arguments = tensors(plan.arguments());
    made.temporaries = tensors(plan.temporaries());
    made.constants = tensors(plan.constants());
    made.parts = values_.structs<PartOfTemporary>(plan.parts(), [](const index::Part& each) {
      return PartOfTemporary{each.temporary(), each.whole(), each.offset(), {each.x(), each.y()}};
    });
    made.conditions = values_.tables<SizeCondition>(
        plan.conditions(), [this](const index::Condition& each) { return condition(each); });
    std::size_t number = 0;
    made.modules = values_.tables<ModuleSpec>(
        plan.modules(), [&](const index::Module& each) { return module(each, number++); });
    made.kernels = values_.tables<KernelSpec>(
        plan.kernels(), [this](const index::Kernel& each) { return kernel(each); });
    made.calls = values_.tables<OperatorCall>(
        plan.calls(), [this](const index::Call& each) { return call(each); });
    made.steps = steps(plan.steps(), 0);
    made.names_barriers = plan.names_barriers();
    if (plan.workspace() != nullptr) made.workspace = workspace(*plan.workspace());
    return made;
  }

 private:
  TensorStorage storage(const index::Storage& storage) {
    switch (storage.kind()) {
      case index::StorageKind::Buffer:
        return BufferStorage{.bytes = storage.bytes()};
      case index::StorageKind::Counters:
        return BufferStorage{.bytes = storage.bytes(), .counters = true};
      case index::StorageKind::Texture:
        return TextureStorage{
            {storage.width(), storage.height()}, values_.format(storage.format()), storage.exact()};
    }
    values_.refuse(fmt::format("a tensor has the unknown kind of storage {}",
                               static_cast<int>(storage.kind())));
    return {};
  }

  TensorLayout layout(const index::Layout* layout) {
    if (layout == nullptr) return {};
    const auto digits = [this](const IndexVector<const index::LayoutDigit*>* list) {
      return values_.structs<LayoutDigit>(list, [](const index::LayoutDigit& each) {
        return LayoutDigit{each.axis(), each.divisor(), each.extent()};
      });
    };
    return {values_.numbers(layout->shape()), digits(layout->rows()), digits(layout->cols()),
            digits(layout->lanes())};
  }

  std::vector<TensorSpec> tensors(const IndexTables<index::PlanTensor>* list) {
    return values_.tables<TensorSpec>(list, [this](const index::PlanTensor& each) {
      TensorSpec made{values_.text(each.name()), values_.element(each.element()),
                      values_.sizes(each.shape()), BufferStorage{}, layout(each.layout())};
      if (each.storage() != nullptr) {
        made.storage = storage(*each.storage());
      } else {
        values_.refuse(fmt::format("tensor \"{}\" has no storage", made.name));
      }
      return made;
    });
  }

  SizeCondition condition(const index::Condition& condition) {
    SizeCondition made{.subject = values_.text(condition.subject())};
    made.kind = values_.enumerator<SizeCondition::Kind>(condition.kind(), index::ConditionKind::MAX,
                                                        "a kind of condition");
    if (condition.left() == nullptr || condition.right() == nullptr) {
      values_.refuse(fmt::format("the condition of {} lacks a size to compare", made.subject));
      return made;
    }
    made.left = values_.size(*condition.left());
    made.right = values_.size(*condition.right());
    return made;
  }

  hal::BinaryMaker maker(const index::Maker& maker) {
    return {values_.text(maker.driver()),          values_.text(maker.platform()),
            values_.text(maker.vendor()),          values_.text(maker.device()),
            values_.text(maker.driver_version()),  values_.text(maker.api_version()),
            values_.text(maker.language_version())};
  }

  hal::KernelCode code(const index::Code& code, std::size_t module) {
    hal::KernelCode made{values_.enumerator<KernelFormat>(code.format(), index::KernelFormat::MAX,
                                                          "a format of code"),
                         {},
                         values_.texts(code.build_options())};
    if (code.maker() != nullptr)
      made.origin = hal::BinaryOrigin{maker(*code.maker()), {code.key_low(), code.key_high()}};
    if (!options_.kernels.takes(made.format)) return made;  // leave_out_kernels() drops it
    const auto bytes = sections_.take(code.section(), fmt::format("the code of module {}", module));
    if (!bytes.ok()) {
      values_.refuse(bytes.status());
      return made;
    }
    made.code.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (traits_of(made.format).is_native) {
      const Status native = read_native_code(made.code).status();
      if (!native.ok()) values_.refuse(native.with_context(fmt::format("module {}", module)));
    }
    return made;
  }

  ModuleSpec module(const index::Module& module, std::size_t number) {
    ModuleSpec made;
    made.codes = values_.tables<hal::KernelCode>(
        module.codes(), [&](const index::Code& each) { return code(each, number); });
    if (module.math() > index::kMaxMathMode)
      values_.refuse(fmt::format("module {} has the unknown math mode {}", number,
                                 static_cast<int>(module.math())));
    made.math = static_cast<hal::MathMode>(module.math());
    return made;
  }

  hal::KernelParam param(const index::Param& param) {
    const std::string name = values_.text(param.name());
    switch (param.kind()) {
      case index::ParamKind::Buffer:
        return hal::BufferParam{name, values_.access(param.access()), param.bytes()};
      case index::ParamKind::Texture:
        return hal::TextureParam{
            name,
            values_.format(param.format()),
            values_.access(param.access()),
            {param.width(), param.height()},
            param.has_origin() ? hal::TextureOrigin::Constants : hal::TextureOrigin::Zero};
      case index::ParamKind::Constant:
        return hal::ConstantParam{name, values_.element(param.element())};
      case index::ParamKind::Local:
        return hal::LocalParam{name, param.bytes()};
    }
    values_.refuse(fmt::format("parameter \"{}\" has the unknown kind {}", name,
                               static_cast<int>(param.kind())));
    return {};
  }

  std::optional<hal::Grid> grid(const IndexVector<const index::Size*>* sizes) {
    const std::vector<Size> axes = values_.sizes(sizes);
    if (axes.empty()) return std::nullopt;
    if (axes.size() == 3) return hal::Grid{axes[0], axes[1], axes[2]};
    values_.refuse(fmt::format("a grid has {} axes, not 3", axes.size()));
    return std::nullopt;
  }

  KernelSpec kernel(const index::Kernel& kernel) {
    KernelSpec made{.module = kernel.module_(), .entry = {}};
    made.entry.name = values_.text(kernel.name());
    made.entry.params = values_.tables<hal::KernelParam>(
        kernel.params(), [this](const index::Param& each) { return param(each); });
    made.entry.workgroup_size = {kernel.workgroup_x(), kernel.workgroup_y(), kernel.workgroup_z()};
    made.entry.grid = grid(kernel.grid());
    return made;
  }

  OperatorCall call(const index::Call& call) {
    OperatorCall made{.op = values_.text(call.op()), .version = call.version()};
    for (const index::Access access : values_.numbers(call.accesses()))
      made.accesses.push_back(values_.access(access));
    made.encoding =
        values_.enumerator<Encoding>(call.encoding(), index::Encoding::MAX, "an encoding");
    made.attributes = values_.attributes(call.attributes());
    if (call.payload() == kNoIndex) return made;
    const auto bytes =
        sections_.take(call.payload(), fmt::format("the payload of \"{}\"", made.op));
    if (bytes.ok()) {
      made.payload.assign(bytes->begin(), bytes->end());
    } else {
      values_.refuse(bytes.status());
    }
    return made;
  }

  Operand operand(const index::Operand& operand) {
    switch (operand.kind()) {
      case index::OperandKind::Tensor:
        return values_.tensor(operand.tensor(), operand.index());
      case index::OperandKind::Origin:
        if (operand.axis() > static_cast<std::uint8_t>(OriginOf::Axis::Y))
          values_.refuse(fmt::format("an origin is of axis {}, not 0 or 1", operand.axis()));
        return OriginOf{values_.tensor(operand.tensor(), operand.index()),
                        operand.axis() == 0 ? OriginOf::Axis::X : OriginOf::Axis::Y};
      case index::OperandKind::Immediate:
        return Immediate{operand.value()};
      case index::OperandKind::LoopVariable:
        return LoopVariable{operand.index()};
      case index::OperandKind::Symbol:
        return SymbolValue{operand.index()};
      case index::OperandKind::Scalar:
        return ScalarValue{operand.index()};
      case index::OperandKind::Size:
        return SizeValue{values_.size(index::Size(operand.value(), operand.index()))};
    }
    values_.refuse(
        fmt::format("an operand has the unknown kind {}", static_cast<int>(operand.kind())));
    return {};
  }

  CallStep call_step(const index::Step& step) {
    return {step.index(),
            values_.structs<TensorRef>(step.operands(), [this](const index::Operand& each) {
              return values_.tensor(each.tensor(), each.index());
            })};
  }

  LaunchStep launch_step(const index::Step& step) {
    LaunchStep made;
    made.kernel = step.index();
    if (const auto groups = grid(step.sizes())) {
      made.groups = *groups;
    } else {
      values_.refuse(fmt::format("a launch of kernel {} has no grid", made.kernel));
    }
    made.operands = values_.structs<Operand>(
        step.operands(), [this](const index::Operand& each) { return operand(each); });
    return made;
  }

  LoopStep loop_step(const index::Step& step, int depth) {
    LoopStep made;
    made.slot = step.index();
    const std::vector<Size> extent = values_.sizes(step.sizes());
    if (extent.size() == 1) {
      made.extent = extent.front();
    } else {
      values_.refuse(fmt::format("a loop has {} extents, not one", extent.size()));
    }
    made.body = steps(step.body(), depth + 1);
    return made;
  }

  Step step(const index::Step& step, int depth) {
    switch (step.kind()) {
      case index::StepKind::Allocate:
        return AllocateStep{step.index()};
      case index::StepKind::Free:
        return FreeStep{step.index()};
      case index::StepKind::Launch:
        return launch_step(step);
      case index::StepKind::Call:
        return call_step(step);
      case index::StepKind::Barrier:
        return BarrierStep{};
      case index::StepKind::Loop:
        return loop_step(step, depth);
    }
    values_.refuse(fmt::format("a step has the unknown kind {}", static_cast<int>(step.kind())));
    return BarrierStep{};
  }

  // The depth is limited here, too, because this function calls itself.
  std::vector<Step> steps(const IndexTables<index::Step>* list, int depth) {
    if (depth > kMaxLoopDepth) {
      values_.refuse(fmt::format("loops nest deeper than {}", kMaxLoopDepth));
      return {};
    }
    return values_.tables<Step>(list, [&](const index::Step& each) { return step(each, depth); });
  }

  WorkspacePlan workspace(const index::Workspace& workspace) {
    return {values_.structs<TensorStorage>(
                workspace.objects(), [this](const index::Storage& each) { return storage(each); }),
            values_.structs<Placement>(workspace.places(), [](const index::Placement& each) {
              return Placement{each.object(), each.offset(), {each.x(), each.y()}};
            })};
  }

  IndexValues& values_;
  SectionTable& sections_;
  const PackageOptions& options_;
};

}  // namespace

LaunchPlan read_plan(const index::Plan& plan, IndexValues& values, SectionTable& sections,
                     const PackageOptions& options) {
  return PlanReader(values, sections, options).read(plan);
}

}  // namespace texloom::runtime
