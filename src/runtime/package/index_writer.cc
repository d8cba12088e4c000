#include "runtime/package/index_writer.h"

#include <flatbuffers/flatbuffers.h>
#include <texloom_version.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "runtime/package/index_enums.h"

namespace texloom::runtime {
namespace {

using flatbuffers::Offset;

template <class T>
using Vector = Offset<flatbuffers::Vector<T>>;
template <class T>
using Tables = Vector<Offset<T>>;

// The enumerator of the index with the same number.
template <class To, class From>
To same(From value) {
  return static_cast<To>(value);
}
template <class To, class Variant>
To kind_of(const Variant& variant) {
  return static_cast<To>(variant.index());
}

class IndexWriter {
 public:
  explicit IndexWriter(SectionList& sections) : sections_(sections) {}

  std::vector<std::byte> write(std::span<const Package> packages);

 private:
  template <class T, class List, class Add>
  Tables<T> tables(const List& list, const Add& add) {
    std::vector<Offset<T>> offsets;
    for (const auto& each : list) offsets.push_back(add(each));
    return builder_.CreateVector(offsets);
  }
  template <class T>
  auto structs(const std::vector<T>& list) {
    return builder_.CreateVectorOfStructs(list);
  }
  template <class To, class List, class Convert>
  auto converted(const List& list, const Convert& convert) {
    std::vector<To> all;
    for (const auto& each : list) all.push_back(convert(each));
    return structs(all);
  }
  auto text(const std::string& text) { return builder_.CreateString(text); }
  Tables<index::Text> texts(const std::vector<std::string>& list) {
    return tables<index::Text>(
        list, [this](const std::string& each) { return index::CreateText(builder_, text(each)); });
  }

  index::Size size(const Size& size) {
    if (const auto number = size.constant()) return {*number, 0};
    const auto steps = converted<index::SizeStep>(size.steps(), [](const Size::Step& step) {
      return index::SizeStep(step.value, same<index::SizeOp>(step.op));
    });
    expressions_.push_back(index::CreateExpression(builder_, steps));
    return {0, static_cast<std::uint32_t>(expressions_.size())};
  }
  template <class List>
  auto sizes(const List& list) {
    return converted<index::Size>(list, [this](const Size& each) { return size(each); });
  }
  // The expressions added since the last call.
  Tables<index::Expression> take_expressions() {
    return builder_.CreateVector(std::exchange(expressions_, {}));
  }

  Tables<index::Attribute> attributes(const std::vector<Attribute>& list) {
    return tables<index::Attribute>(list, [this](const Attribute& each) {
      const auto name = text(each.name);
      const auto* integer = std::get_if<std::int64_t>(&each.value);
      const auto* real = std::get_if<double>(&each.value);
      const auto* value = std::get_if<std::string>(&each.value);
      const auto kind = kind_of<index::AttributeKind>(each.value);
      return index::CreateAttribute(
          builder_, name, kind, integer == nullptr ? 0 : *integer, real == nullptr ? 0 : *real,
          value == nullptr ? Offset<flatbuffers::String>() : text(*value));
    });
  }

  // --- plans ---

  static index::Storage storage(const TensorStorage& storage) {
    const auto kind =
        are_counters(storage) ? index::StorageKind::Counters : kind_of<index::StorageKind>(storage);
    if (const auto* buffer = std::get_if<BufferStorage>(&storage))
      return {buffer->bytes, 0, 0, {}, false, kind};
    const auto& texture = std::get<TextureStorage>(storage);
    return {0,
            texture.extent.width,
            texture.extent.height,
            same<index::TexelFormat>(texture.format),
            texture.exact_extent,
            kind};
  }

  Offset<index::Layout> layout(const TensorLayout& layout) {
    if (layout == TensorLayout{}) return {};
    const auto digits = [this](const std::vector<LayoutDigit>& list) {
      return converted<index::LayoutDigit>(list, [](const LayoutDigit& each) {
        return index::LayoutDigit(each.divisor, each.extent, each.axis);
      });
    };
    const auto shape = builder_.CreateVector(layout.shape);
    const auto rows = digits(layout.rows), cols = digits(layout.cols), lanes = digits(layout.lanes);
    return index::CreateLayout(builder_, shape, rows, cols, lanes);
  }

  Tables<index::PlanTensor> tensors(const std::vector<TensorSpec>& list) {
    return tables<index::PlanTensor>(list, [this](const TensorSpec& each) {
      const auto name = text(each.name);
      const auto shape = sizes(each.shape);
      const auto places = layout(each.layout);
      const index::Storage where = storage(each.storage);
      return index::CreatePlanTensor(builder_, name, same<index::ElementType>(each.element), shape,
                                     &where, places);
    });
  }

  Offset<index::Maker> maker(const hal::BinaryMaker& maker) {
    const auto driver = text(maker.driver), platform = text(maker.platform),
               vendor = text(maker.vendor), device = text(maker.device),
               driver_version = text(maker.driver_version), api_version = text(maker.api_version),
               language_version = text(maker.language_version);
    return index::CreateMaker(builder_, driver, platform, vendor, device, driver_version,
                              api_version, language_version);
  }

  Offset<index::Module> module(const ModuleSpec& module) {
    const auto codes = tables<index::Code>(module.codes, [this](const hal::KernelCode& code) {
      const std::uint32_t section = sections_.add(std::as_bytes(std::span(code.code)));
      const auto options = texts(code.build_options);
      const Offset<index::Maker> made = code.origin ? maker(code.origin->maker) : 0;
      const auto [low, high] = code.origin ? code.origin->key : hal::BinaryDigest{};
      return index::CreateCode(builder_, same<index::KernelFormat>(code.format), section, options,
                               made, low, high);
    });
    return index::CreateModule(builder_, codes, static_cast<std::uint8_t>(module.math));
  }

  Offset<index::Param> param(const hal::KernelParam& param) {
    const auto name = text(std::string(hal::name_of(param)));
    index::ParamBuilder made(builder_);
    made.add_name(name);
    made.add_kind(kind_of<index::ParamKind>(param));
    if (hal::is_bound(param)) made.add_access(same<index::Access>(hal::access_of(param)));
    if (const auto* buffer = std::get_if<hal::BufferParam>(&param)) {
      made.add_bytes(buffer->min_bytes);
    } else if (const auto* texture = std::get_if<hal::TextureParam>(&param)) {
      made.add_format(same<index::TexelFormat>(texture->format));
      made.add_width(texture->min_extent.width);
      made.add_height(texture->min_extent.height);
      made.add_has_origin(texture->origin == hal::TextureOrigin::Constants);
    } else if (const auto* constant = std::get_if<hal::ConstantParam>(&param)) {
      made.add_element(same<index::ElementType>(constant->type));
    } else {
      made.add_bytes(std::get<hal::LocalParam>(param).bytes);
    }
    return made.Finish();
  }

  Offset<index::Kernel> kernel(const KernelSpec& kernel) {
    const hal::EntryPoint& entry = kernel.entry;
    const auto name = text(entry.name);
    const auto params = tables<index::Param>(
        entry.params, [this](const hal::KernelParam& each) { return param(each); });
    const auto grid = entry.grid ? sizes(*entry.grid) : sizes(std::vector<Size>());
    return index::CreateKernel(builder_, kernel.module, name, params, entry.workgroup_size[0],
                               entry.workgroup_size[1], entry.workgroup_size[2], grid);
  }

  Offset<index::Call> call(const OperatorCall& call) {
    const auto op = text(call.op);
    std::vector<index::Access> list;
    for (const hal::Access access : call.accesses) list.push_back(same<index::Access>(access));
    const auto accesses = builder_.CreateVector(list);
    const auto given = attributes(call.attributes);
    const std::uint32_t payload =
        call.payload.empty() ? kNoIndex : sections_.add(std::span(call.payload));
    return index::CreateCall(builder_, op, call.version, accesses,
                             same<index::Encoding>(call.encoding), given, payload);
  }

  index::Operand operand(const Operand& operand) {
    const auto kind = kind_of<index::OperandKind>(operand);
    const auto with_tensor = [&](TensorRef tensor, std::uint8_t axis) {
      return index::Operand(0, tensor.index, kind, same<index::TensorKind>(tensor.kind), axis);
    };
    const auto number = [&](std::int64_t value, std::uint32_t index) {
      return index::Operand(value, index, kind, {}, 0);
    };
    if (const auto* tensor = std::get_if<TensorRef>(&operand)) return with_tensor(*tensor, 0);
    if (const auto* origin = std::get_if<OriginOf>(&operand))
      return with_tensor(origin->tensor, static_cast<std::uint8_t>(origin->axis));
    if (const auto* immediate = std::get_if<Immediate>(&operand))
      return number(immediate->value, 0);
    if (const auto* variable = std::get_if<LoopVariable>(&operand))
      return number(0, variable->slot);
    if (const auto* symbol = std::get_if<SymbolValue>(&operand)) return number(0, symbol->symbol);
    if (const auto* expression = std::get_if<SizeValue>(&operand)) {
      const index::Size made = size(expression->size);
      return number(made.value(), made.expression());
    }
    return number(0, std::get<ScalarValue>(operand).scalar);
  }

  Offset<index::Step> step(const Step& step) {
    const auto kind = kind_of<index::StepKind>(step);
    const auto as_operand = [this](const auto& each) { return operand(each); };
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      const auto groups = sizes(launch->groups);
      const auto operands = converted<index::Operand>(launch->operands, as_operand);
      return index::CreateStep(builder_, kind, launch->kernel, groups, operands);
    }
    if (const auto* call = std::get_if<CallStep>(&step)) {
      const auto tensors = converted<index::Operand>(call->tensors, as_operand);
      return index::CreateStep(builder_, kind, call->call, 0, tensors);
    }
    if (const auto* loop = std::get_if<LoopStep>(&step)) {
      const auto extent = sizes(std::vector<Size>{loop->extent});
      const auto body = steps(loop->body);
      return index::CreateStep(builder_, kind, loop->slot, extent, 0, body);
    }
    const auto* allocate = std::get_if<AllocateStep>(&step);
    const auto* free = std::get_if<FreeStep>(&step);
    const std::uint32_t number = allocate != nullptr ? allocate->temporary
                                 : free != nullptr   ? free->temporary
                                                     : 0;
    return index::CreateStep(builder_, kind, number);
  }
  Tables<index::Step> steps(const std::vector<Step>& list) {
    return tables<index::Step>(list, [this](const Step& each) { return step(each); });
  }

  Offset<index::Workspace> workspace(const std::optional<WorkspacePlan>& workspace) {
    if (!workspace) return {};
    const auto objects = converted<index::Storage>(workspace->objects, storage);
    const auto places = converted<index::Placement>(workspace->places, [](const Placement& p) {
      return index::Placement(p.offset, p.object, p.origin.x, p.origin.y);
    });
    return index::CreateWorkspace(builder_, objects, places);
  }

  Offset<index::Plan> plan(const LaunchPlan& plan) {
    const auto scalars = tables<index::Scalar>(plan.scalars, [this](const ScalarSpec& each) {
      return index::CreateScalar(builder_, text(each.name), same<index::ElementType>(each.element));
    });
    const auto arguments = tensors(plan.arguments), temporaries = tensors(plan.temporaries),
               constants = tensors(plan.constants);
    const auto modules = tables<index::Module>(
        plan.modules, [this](const ModuleSpec& each) { return module(each); });
    const auto kernels = tables<index::Kernel>(
        plan.kernels, [this](const KernelSpec& each) { return kernel(each); });
    const auto calls =
        tables<index::Call>(plan.calls, [this](const OperatorCall& each) { return call(each); });
    const auto list = steps(plan.steps);
    const auto memory = workspace(plan.workspace);
    const auto parts = converted<index::Part>(plan.parts, [](const PartOfTemporary& part) {
      return index::Part(part.offset, part.temporary, part.whole, part.origin.x, part.origin.y);
    });
    const auto conditions =
        tables<index::Condition>(plan.conditions, [this](const SizeCondition& each) {
          const index::Size left = size(each.left), right = size(each.right);
          return index::CreateCondition(builder_, text(each.subject),
                                        same<index::ConditionKind>(each.kind), &left, &right);
        });
    return index::CreatePlan(builder_, scalars, arguments, temporaries, constants, modules, kernels,
                             calls, list, plan.names_barriers, memory, take_expressions(), parts,
                             conditions);
  }

  // --- graphs ---

  Offset<index::Store> store(const TensorStore& store) {
    const TensorRef tensor = store.tensor.value_or(TensorRef{});
    const auto scope = text(store.storage_scope), layout = text(store.layout);
    return index::CreateStore(builder_, store.tensor.has_value(),
                              same<index::TensorKind>(tensor.kind), tensor.index, store.storage_id,
                              scope, layout);
  }

  Offset<index::Needs> needs(const VariantNeeds& n) {
    std::vector<std::string> names;
    for (const auto& [name, least] : n.all()) {
      if (std::ranges::find(known_needs(), name, &KnownNeed::name) == known_needs().end())
        names.push_back(name);
    }
    const auto texel = [&n](std::string_view name) {
      return static_cast<std::uint32_t>(n.of(name));
    };
    const Offset<flatbuffers::Vector<Offset<index::Text>>> extensions =
        names.empty() ? 0 : texts(names);
    return index::CreateNeeds(builder_, n.of(need::kImages) != 0, n.of(need::kFloat64) != 0,
                              n.of(need::kFloat16Arithmetic) != 0, texel(need::kMaxImageWidth),
                              texel(need::kMaxImageHeight), texel(need::kMaxWorkGroupSize),
                              n.of(need::kLocalBytes), n.of(need::kBufferBytes), extensions);
  }

  Offset<index::Variant> variant(const PackageVariant& variant) {
    const auto target = text(variant.target);
    const auto demands = needs(variant.needs);
    const auto launches = plan(variant.plan);
    const auto stores = tables<index::Store>(
        variant.stores, [this](const TensorStore& each) { return store(each); });
    std::vector<std::uint32_t> constants, nodes;
    for (const ConstantBytes& each : variant.constants)
      constants.push_back(sections_.add_shared(each.bytes));
    for (const auto& node : variant.nodes) nodes.push_back(node.value_or(kNoIndex));
    const auto sections = builder_.CreateVector(constants);
    const auto of_steps = builder_.CreateVector(nodes);
    const std::uint32_t program = variant.program.empty()
                                      ? kNoIndex
                                      : sections_.add(std::as_bytes(std::span(variant.program)));
    return index::CreateVariant(builder_, target, demands, launches, stores, sections, of_steps,
                                program);
  }

  Offset<index::Node> node(const PackageNode& node) {
    const auto name = text(node.name), op = text(node.op);
    const auto inputs = builder_.CreateVector(node.inputs),
               outputs = builder_.CreateVector(node.outputs);
    return index::CreateNode(builder_, name, op, inputs, outputs, attributes(node.attributes));
  }

  Offset<index::Graph> add(const Package& package) {
    const auto name = text(package.name);
    const auto symbols = texts(package.symbols);
    const auto tensors = tables<index::Tensor>(package.tensors, [this](const PackageTensor& each) {
      const auto its_name = text(each.name);
      return index::CreateTensor(builder_, its_name, same<index::ElementType>(each.element),
                                 sizes(each.shape), same<index::TensorRole>(each.role));
    });
    const auto expressions = take_expressions();  // expressions of variants are in their plans
    const auto nodes =
        tables<index::Node>(package.nodes, [this](const PackageNode& each) { return node(each); });
    const auto inputs = builder_.CreateVector(package.inputs),
               outputs = builder_.CreateVector(package.outputs);
    const auto numbers = tables<index::Number>(package.numbers, [this](const PackageNumber& each) {
      return index::CreateNumber(builder_, each.position, each.symbol,
                                 same<index::ElementType>(each.element));
    });
    const auto variants = tables<index::Variant>(
        package.variants, [this](const PackageVariant& each) { return variant(each); });
    const auto metadata = attributes(package.metadata);
    return index::CreateGraph(builder_, name, symbols, tensors, nodes, inputs, outputs, numbers,
                              variants, metadata, package.operations.has_value(),
                              package.operations.value_or(0), expressions);
  }

  SectionList& sections_;
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<Offset<index::Expression>> expressions_;
};

std::vector<std::byte> IndexWriter::write(std::span<const Package> packages) {
  const auto graphs = tables<index::Graph>(packages, [this](const Package& p) { return add(p); });
  std::vector<index::Section> list;
  for (const SectionList::Section& section : sections_.sections())
    list.emplace_back(section.offset, section.bytes.size(), section.checksum);
  const auto sections = structs(list);
  builder_.Finish(
      index::CreateIndex(builder_, graphs, sections, builder_.CreateString(kTexloomVersion)));
  const auto bytes = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
  return {bytes.begin(), bytes.end()};
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace

std::uint32_t SectionList::add(std::span<const std::byte> bytes) {
  sections_.push_back({bytes, end_, checksum_of(bytes)});
  end_ = aligned(end_ + bytes.size());
  return static_cast<std::uint32_t>(sections_.size() - 1);
}

std::uint32_t SectionList::add_shared(std::span<const std::byte> bytes) {
  const auto [begin, end] = shared_.equal_range(checksum_of(bytes));
  for (auto each = begin; each != end; ++each) {
    const std::span<const std::byte> known = sections_[each->second].bytes;
    if (std::equal(known.begin(), known.end(), bytes.begin(), bytes.end())) return each->second;
  }
  const std::uint32_t number = add(bytes);
  shared_.emplace(sections_[number].checksum, number);
  return number;
}

std::vector<std::byte> write_index(std::span<const Package> packages, SectionList& sections) {
  return IndexWriter(sections).write(packages);
}

}  // namespace texloom::runtime
