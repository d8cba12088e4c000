#include "runtime/package/index_reader.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/package/index_enums.h"
#include "runtime/package/index_values.h"
#include "runtime/package/package_format.h"
#include "runtime/package/plan_reader.h"
#include "support/utf8.h"

namespace texloom::runtime {
namespace {

// The nesting of tables: the index, a graph, a variant, its plan, and steps.
constexpr flatbuffers::uoffset_t kMaxDepth = kMaxLoopDepth + 8;
// The fewest bytes of a table and the offset to it.
constexpr std::size_t kLeastTableBytes = 8;

// Whether a text can be shown as the version of a program.
bool is_version(std::string_view text) {
  constexpr std::size_t kMaxVersionBytes = 64;
  return text.size() <= kMaxVersionBytes && is_plain_text(text);
}

class IndexReader {
 public:
  IndexReader(std::size_t index_bytes, SectionTable& sections, const PackageOptions& options)
      : values_(index_bytes), sections_(sections), options_(options) {}

  Result<ReadPackages> read(const index::Index& index) {
    ReadPackages result;
    result.writer = values_.text(index.writer());
    if (!is_version(result.writer)) values_.refuse("its writer's version is not plain text");
    result.packages = values_.tables<Package>(index.graphs(), [&](const index::Graph& each) {
      return graph(each, result.constants.emplace_back());
    });
    if (!values_.ok()) return values_.status();
    return result;
  }

 private:
  PackageNode node(const index::Node& node) {
    return {values_.text(node.name()), values_.text(node.op()), values_.numbers(node.inputs()),
            values_.numbers(node.outputs()), values_.attributes(node.attributes())};
  }

  PackageTensor tensor(const index::Tensor& tensor) {
    return {values_.text(tensor.name()), values_.element(tensor.element()),
            values_.sizes(tensor.shape()),
            values_.enumerator<TensorRole>(tensor.role(), index::TensorRole::MAX,
                                           "the role of a tensor")};
  }

  TensorStore store(const index::Store& store) {
    TensorStore made{.storage_id = store.storage_id(),
                     .storage_scope = values_.text(store.storage_scope()),
                     .layout = values_.text(store.layout())};
    if (store.has_tensor()) made.tensor = values_.tensor(store.kind(), store.index());
    return made;
  }

  VariantNeeds needs(const index::Needs& n) {
    VariantNeeds made{{need::kImages, n.images() ? 1 : 0},
                      {need::kFloat64, n.float64() ? 1 : 0},
                      {need::kFloat16Arithmetic, n.float16_arithmetic() ? 1 : 0},
                      {need::kMaxImageWidth, n.max_image_width()},
                      {need::kMaxImageHeight, n.max_image_height()},
                      {need::kMaxWorkGroupSize, n.max_work_group_size()},
                      {need::kLocalBytes, n.local_bytes()},
                      {need::kBufferBytes, n.buffer_bytes()}};
    for (const std::string& extension : values_.texts(n.extensions())) made.require(extension);
    return made;
  }

  PackageVariant variant(const index::Variant& variant, const std::vector<std::string>& symbols,
                         std::vector<std::uint32_t>& constants) {
    PackageVariant made;
    made.target = values_.text(variant.target());
    if (variant.needs() != nullptr) made.needs = needs(*variant.needs());
    if (variant.plan() == nullptr) {
      values_.refuse("a variant has no plan");
      return made;
    }
    made.plan = read_plan(*variant.plan(), values_, sections_, options_);
    made.plan.symbols = symbols;
    made.stores = values_.tables<TensorStore>(
        variant.stores(), [this](const index::Store& each) { return store(each); });
    constants = values_.numbers(variant.constants());
    check_constants(made.plan, constants);
    made.constants.resize(constants.size());
    for (const std::uint32_t node : values_.numbers(variant.nodes()))
      made.nodes.push_back(node == kNoIndex ? std::nullopt : std::optional(node));
    if (variant.program() != kNoIndex) made.program = program(variant.program());
    return made;
  }

  void check_constants(const LaunchPlan& plan, const std::vector<std::uint32_t>& constants) {
    // The counts may differ here; check_packages() refuses that later.
    for (std::size_t i = 0; i < std::min(constants.size(), plan.constants.size()); ++i) {
      const TensorSpec& constant = plan.constants[i];
      if (constants[i] >= sections_.count()) {
        values_.refuse(fmt::format("constant \"{}\" is in section {}, but there are {} sections",
                                   constant.name, constants[i], sections_.count()));
      } else if (const auto bytes = sections_.bytes_of(constants[i]);
                 bytes != bytes_of(constant.storage)) {
        values_.refuse(fmt::format("constant \"{}\" is {}, but has {} bytes", constant.name,
                                   describe(constant.storage), bytes));
      }
    }
  }

  std::string program(std::uint32_t section) {
    const auto bytes = sections_.take(section, "the program of a variant");
    if (bytes.ok()) return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
    values_.refuse(bytes.status());
    return {};
  }

  Package graph(const index::Graph& graph, std::vector<std::vector<std::uint32_t>>& constants) {
    values_.use(graph.expressions());
    Package made;
    made.name = values_.text(graph.name());
    made.symbols = values_.texts(graph.symbols());
    made.tensors = values_.tables<PackageTensor>(
        graph.tensors(), [this](const index::Tensor& each) { return tensor(each); });
    made.nodes = values_.tables<PackageNode>(
        graph.nodes(), [this](const index::Node& each) { return node(each); });
    made.inputs = values_.numbers(graph.inputs());
    made.outputs = values_.numbers(graph.outputs());
    made.numbers =
        values_.tables<PackageNumber>(graph.numbers(), [this](const index::Number& each) {
          return PackageNumber{each.position(), each.symbol(), values_.element(each.element())};
        });
    if (graph.has_operations()) made.operations = graph.operations();
    made.metadata = values_.attributes(graph.metadata());
    made.variants =
        values_.tables<PackageVariant>(graph.variants(), [&](const index::Variant& each) {
          return variant(each, made.symbols, constants.emplace_back());
        });
    return made;
  }

  IndexValues values_;
  SectionTable& sections_;
  const PackageOptions& options_;
};

const std::uint8_t* data_of(std::span<const std::byte> index) {
  return reinterpret_cast<const std::uint8_t*>(index.data());
}

bool is_index(std::span<const std::byte> index) {
  const auto max_tables = static_cast<flatbuffers::uoffset_t>(index.size() / kLeastTableBytes + 1);
  flatbuffers::Verifier verifier(data_of(index), index.size(), kMaxDepth, max_tables);
  return index::VerifyIndexBuffer(verifier);
}

}  // namespace

std::string writer_of(std::span<const std::byte> index) {
  if (index.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || !is_index(index)) return {};
  const flatbuffers::String* writer = index::GetIndex(data_of(index))->writer();
  return writer != nullptr && is_version(writer->string_view()) ? writer->str() : std::string();
}

Result<std::vector<SectionPlace>> read_sections(std::span<const std::byte> index) {
  if (index.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return invalid_argument("its index has {} bytes, which is too many", index.size());
  if (!is_index(index))
    return invalid_argument("its index is invalid: an offset is wrong, or tables nest too deep");
  std::vector<SectionPlace> places;
  const auto* sections = index::GetIndex(data_of(index))->sections();
  if (sections == nullptr) return places;
  if (!is_aligned(*sections)) return invalid_argument("its list of sections is misaligned");
  places.reserve(sections->size());
  for (const index::Section* each : *sections)
    places.push_back({each->offset(), each->size(), each->checksum()});
  return places;
}

Result<ReadPackages> read_packages(std::span<const std::byte> index, SectionTable& sections,
                                   const PackageOptions& options) {
  return IndexReader(index.size(), sections, options).read(*index::GetIndex(data_of(index)));
}

}  // namespace texloom::runtime
