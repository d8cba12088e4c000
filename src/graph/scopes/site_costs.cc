#include "graph/scopes/site_costs.h"

#include <algorithm>

#include "codegen/llvm/emit.h"
#include "graph/copies.h"
#include "runtime/plan/launch_count.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

double bytes_of_all(const std::vector<Stored>& stored, ir::Type type) {
  double bytes = 0;
  for (const Stored& each : stored) bytes += moved_bytes(each, type);
  return bytes;
}

}  // namespace

SiteCosts::SiteCosts(const Graph& graph, const CostModel& model, const CostSource& source,
                     CallSites& sites)
    : graph_(graph), model_(model), source_(source), sites_(sites), images_(graph) {
  if (has_source() && graph.target.kind == ir::TargetKind::Llvm)
    processor_ = ir::to_string(codegen::native::with_named_processor(graph.target));
}

std::vector<SiteArgument> SiteCosts::arguments(const std::vector<TensorId>& tensors,
                                               const std::vector<Stored>& stored) const {
  std::vector<SiteArgument> list;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    list.push_back(images_.argument(tensors[i], stored[i]));
  return list;
}

void SiteCosts::compile_ahead(const std::vector<StoredAlternative>& candidates) {
  std::vector<SiteRequest> requests;
  for (const auto& [node, alternative, stored] : candidates)
    requests.push_back({alternative.program.get(), arguments(tensors_of(node), stored)});
  sites_.compile_ahead(requests);
}

bool SiteCosts::works(const Node& node, const Alternative& alternative,
                      const std::vector<Stored>& stored) {
  try {
    sites_.candidate(*alternative.program, arguments(tensors_of(node), stored));
  } catch (const UserError&) {
    return false;
  }
  return true;
}

SiteCost SiteCosts::cost(std::string_view kind, const lower::Lowering& program,
                         const std::vector<SiteArgument>& arguments, double bytes) {
  const auto& [signature, site] = sites_.candidate(program, arguments);
  SiteFacts facts{.kind = kind, .signature = signature, .sources = {}, .bytes = bytes};
  for (const compile::CompiledKernel& kernel : site.module.kernels)
    facts.sources.push_back(kernel.code->listing());
  if (!processor_.empty()) facts.sources.push_back(processor_);
  facts.operations = operations_of(program);
  if (const auto launches = runtime::launches_of(site.plan.steps); launches.ok())
    facts.launches = *launches;
  facts.work = lower::work_of(site.module.program);
  facts.textures = std::count_if(arguments.begin(), arguments.end(), [](const SiteArgument& each) {
    return each.stored->is_texture();
  });
  return source_(facts);
}

SiteCost SiteCosts::of_node(const Node& node, const Alternative& alternative,
                            const std::vector<Stored>& stored) {
  if (alternative.cost) return {*alternative.cost};
  const std::vector<TensorId> tensors = tensors_of(node);
  double bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    bytes += moved_bytes(stored[i], graph_.tensors[tensors[i]].type);
  if (!alternative.program) return {cost_of(model_, bytes, 0)};
  if (!has_source()) return {cost_of(model_, bytes, operations_of(*alternative.program))};
  return cost(to_string(node.pattern.value_or(Pattern::Opaque)), *alternative.program,
              arguments(tensors, stored), bytes);
}

SiteCost SiteCosts::of_concatenation(const Node& node, const std::vector<Stored>& stored) {
  const ir::Type type = graph_.tensors[node.outputs.front()].type;
  if (!has_source()) return {copy_cost(model_, stored, type)};
  std::vector<StoredPart> parts;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    parts.push_back({stored[i], graph_.tensors[node.inputs[i]].shape});
  return cost("concatenate",
              concatenation(parts, stored.back(), *node.concat_axis, type, graph_.target),
              arguments(tensors_of(node), stored), bytes_of_all(stored, type));
}

SiteCost SiteCosts::of_conversion(TensorId id, const Stored& from, const Stored& to) {
  const Tensor& tensor = graph_.tensors[id];
  if (!has_source()) return {copy_cost(model_, {from, to}, tensor.type)};
  const std::vector<SiteArgument> arguments = {images_.argument(id, from),
                                               images_.argument(id, to)};
  return cost("convert", conversion(from, to, tensor.shape, tensor.type, graph_.target), arguments,
              bytes_of_all({from, to}, tensor.type));
}

}  // namespace texloom::graph
