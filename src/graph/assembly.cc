#include "graph/assembly.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "compile/interpreted_kernels.h"
#include "compile/launch_plan.h"
#include "compile/native/native_code.h"
#include "graph/copies.h"
#include "graph/image_use.h"
#include "runtime/plan/concatenate.h"
#include "runtime/plan/tensor_layout.h"
#include "runtime/plan/validation.h"
#include "runtime/plan/workspace.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

using runtime::TensorRef;

// The limits that a plan may assume of every device that can run the plan.
hal::DeviceLimits limits_of(const ir::Target& target, std::uint64_t buffer_alignment) {
  hal::DeviceLimits limits;
  limits.max_image_width = limits.max_image_height =
      static_cast<std::uint32_t>(target.images().max_width);
  limits.max_allocation_bytes = std::numeric_limits<std::uint64_t>::max();
  limits.buffer_offset_alignment = buffer_alignment;
  return limits;
}

class Assembler {
 public:
  Assembler(const Graph& graph, const Offers& offers, const Invocations& invocations,
            CallSites& sites, bool interpreted)
      : graph_(graph),
        offers_(offers),
        invocations_(invocations),
        sites_(sites),
        interpreted_(interpreted),
        images_(graph) {
    result_.refs.resize(graph.tensors.size());
    result_.storages.resize(graph.tensors.size());
  }

  Assembly assemble(std::uint64_t buffer_alignment) {
    tensors_.symbols = graph_.symbols;
    tensors_.conditions = graph_.conditions;
    for (const auto* list : {&graph_.inputs, &graph_.outputs}) {
      for (const TensorId id : *list) {
        const StoredTensor tensor{id, invocations_.stored[id]};
        refs_.emplace(tensor, add(tensors_.arguments, TensorRef::Kind::Argument, tensor));
      }
    }
    compile_sites();
    for (const Invocation& invocation : invocations_.list) add(invocation);
    add_parts();
    std::vector<runtime::PlanPart> parts;
    for (const Part& part : parts_) parts.push_back({part.plan, part.arguments});
    std::vector<std::size_t> plan_of_step;
    auto plan = runtime::concatenate(std::move(tensors_), parts, &plan_of_step);
    TL_CHECK(plan.ok(), plan.status().message());
    result_.objects = compile::link_native_code(*plan);
    if (const Status status = runtime::validate(*plan); !status.ok())
      fail({}, Code::GraphTooLarge, "compile the graph in parts", "the graph '{}' cannot run: {}",
           graph_.name, status.message());
    if (plan->symbols.empty()) {
      auto workspace = runtime::plan_workspace(*plan, limits_of(graph_.target, buffer_alignment),
                                               runtime::kThoroughWorkspace);
      if (!workspace.ok())
        fail({}, Code::GraphTooLarge, "compile the graph in parts",
             "cannot plan the memory of '{}': {}", graph_.name, workspace.status().message());
      plan->workspace = *std::move(workspace);
    }
    for (const std::size_t part : plan_of_step) result_.nodes.push_back(parts_[part].node);
    result_.invocations = std::move(plan_of_step);
    for (const auto& [tensor, ref] : refs_) {
      const bool is_first = graph_.tensors[tensor.tensor].role == TensorRole::Constant
                                ? !result_.refs[tensor.tensor].has_value()
                                : invocations_.stored[tensor.tensor] == tensor.storage;
      if (!is_first) continue;
      result_.refs[tensor.tensor] = ref;
      result_.storages[tensor.tensor] = tensor.storage;
    }
    result_.plan = *std::move(plan);
    return std::move(result_);
  }

 private:
  struct Part {
    const runtime::LaunchPlan* plan = nullptr;
    std::vector<TensorRef> arguments;
    std::optional<std::uint32_t> node;
  };

  const Stored& stored(const StoredTensor& tensor) const {
    return offers_.storages[tensor.tensor][tensor.storage];
  }

  const Alternative* alternative_of(const Invocation& each) const {
    if (!each.node) return nullptr;
    const auto& chosen = invocations_.offers[*each.node]->alternative;
    return chosen ? &graph_.nodes[*each.node].alternatives[*chosen] : nullptr;
  }

  static std::vector<StoredTensor> tensors_of(const Invocation& each) {
    std::vector<StoredTensor> tensors = each.reads;
    tensors.insert(tensors.end(), each.writes.begin(), each.writes.end());
    return tensors;
  }

  TensorRef add(std::vector<runtime::TensorSpec>& list, TensorRef::Kind kind,
                const StoredTensor& tensor) {
    const Tensor& own = graph_.tensors[tensor.tensor];
    std::string name = own.name;
    const bool is_converted =
        own.role != TensorRole::Constant && invocations_.stored[tensor.tensor] != tensor.storage;
    if (is_converted) name += "." + ir::to_string(stored(tensor).scope);
    const Stored& place = stored(tensor);
    const bool exact = images_.is_exact(static_cast<TensorId>(tensor.tensor));
    if (const auto numbers = numbers_of(own.shape); numbers && place.is_texture()) {
      list.push_back(
          compile::tensor_spec(name, own.type, ir::close(place.layout, *numbers), exact));
    } else if (place.is_open) {
      list.push_back(compile::open_tensor_spec(name, own.type, own.shape, place.layout, exact));
    } else {
      list.push_back(compile::tensor_spec(name, own.type, place.layout, exact));
    }
    return {kind, static_cast<std::uint32_t>(list.size() - 1)};
  }

  TensorRef ref_of(const StoredTensor& tensor) {
    const auto found = refs_.find(tensor);
    if (found != refs_.end()) return found->second;
    const bool is_constant = graph_.tensors[tensor.tensor].role == TensorRole::Constant;
    const TensorRef ref = is_constant
                              ? add(tensors_.constants, TensorRef::Kind::Constant, tensor)
                              : add(tensors_.temporaries, TensorRef::Kind::Temporary, tensor);
    if (is_constant) pack_constant(tensor);
    refs_.emplace(tensor, ref);
    return ref;
  }

  void pack_constant(const StoredTensor& tensor) {
    const Tensor& constant = graph_.tensors[tensor.tensor];
    if (!constant.value)
      fail({}, Code::BadGraph, "give the graph the elements of its constants",
           "the constant '{}' has no value", constant.name);
    const auto bytes = static_cast<std::size_t>(bytes_of(stored(tensor), constant.type).value());
    const runtime::TensorLayout layout = compile::tensor_layout(stored(tensor).layout);
    if (layout.is_row_major() && constant.value->size() == bytes) {
      result_.values.push_back(constant.value);  // shared, since weights may be large
      return;
    }
    auto packed = std::make_shared<std::vector<std::byte>>(bytes);
    runtime::pack(layout, static_cast<std::size_t>(constant.type.bytes()), *constant.value,
                  *packed);
    result_.values.push_back(std::move(packed));
  }

  bool is_call(const Invocation& each) const {
    return each.node && graph_.nodes[*each.node].call.has_value();
  }

  void compile_sites() {
    std::deque<lower::Lowering> copies;  // the programs of conversions and concatenations
    std::vector<SiteRequest> requests;
    for (const Invocation& each : invocations_.list) {
      if (is_call(each)) continue;
      const Alternative* alternative = alternative_of(each);
      SiteRequest& request = requests.emplace_back();
      request.program =
          alternative != nullptr ? alternative->program.get() : &copies.emplace_back(copy_of(each));
      for (const StoredTensor& tensor : tensors_of(each))
        request.arguments.push_back(
            images_.argument(static_cast<TensorId>(tensor.tensor), stored(tensor)));
    }
    for (const auto* site : sites_.sites(requests)) kernels_.push_back(site);
  }

  void add(const Invocation& each) {
    Part part;
    for (const StoredTensor& tensor : tensors_of(each)) part.arguments.push_back(ref_of(tensor));
    if (each.node) part.node = static_cast<std::uint32_t>(*each.node);
    part.plan = is_call(each) ? call_plan(each, part.arguments) : kernel_plan();
    parts_.push_back(std::move(part));
  }

  // The plan of the next call site. Adds what is known of the site.
  const runtime::LaunchPlan* kernel_plan() {
    const auto& [name, site] = *kernels_.front();
    kernels_.pop_front();
    result_.signatures.push_back(name);
    result_.work.push_back(lower::work_of(site.module.program));
    if (!interpreted_) return &site.plan;
    const auto [found, is_new] = interpreted_plans_.try_emplace(&site, site.plan);
    if (is_new) compile::add_interpreted_code(site.module, found->second);
    return &found->second;
  }

  lower::Lowering copy_of(const Invocation& each) const {
    const ir::Type type = graph_.tensors[each.writes.front().tensor].type;
    const Stored& result = stored(each.writes.front());
    if (!each.node)
      return conversion(stored(each.reads.front()), result,
                        graph_.tensors[each.writes.front().tensor].shape, type, graph_.target);
    std::vector<StoredPart> sources;
    for (const StoredTensor& read : each.reads)
      sources.push_back({stored(read), graph_.tensors[read.tensor].shape});
    return concatenation(sources, result, *graph_.nodes[*each.node].concat_axis, type,
                         graph_.target);
  }

  // A plan whose only step is the call of a custom operator.
  const runtime::LaunchPlan* call_plan(const Invocation& each, const std::vector<TensorRef>& refs) {
    result_.signatures.emplace_back();
    result_.work.emplace_back();
    const Node& node = graph_.nodes[*each.node];
    runtime::LaunchPlan& plan = call_plans_.emplace_back();
    plan.calls.push_back(*node.call);
    runtime::CallStep step;
    for (std::uint32_t i = 0; i < refs.size(); ++i) {
      plan.arguments.push_back(spec_at(refs[i]));
      step.tensors.push_back({TensorRef::Kind::Argument, i});
    }
    plan.steps.emplace_back(std::move(step));
    return &plan;
  }

  const runtime::TensorSpec& spec_at(TensorRef ref) const {
    return (ref.kind == TensorRef::Kind::Argument    ? tensors_.arguments
            : ref.kind == TensorRef::Kind::Temporary ? tensors_.temporaries
                                                     : tensors_.constants)[ref.index];
  }

  void add_parts() {
    for (const Invocations::Part& part : invocations_.parts) {
      const TensorRef own = ref_of(part.part), whole = ref_of(part.whole);
      runtime::PartOfTemporary place{.temporary = own.index, .whole = whole.index};
      if (stored(part.whole).is_texture()) {
        place.origin = {static_cast<std::uint32_t>(part.place.col),
                        static_cast<std::uint32_t>(part.place.row)};
      } else {
        place.offset = static_cast<std::uint64_t>(part.place.col) *
                       static_cast<std::uint64_t>(graph_.tensors[part.whole.tensor].type.bytes());
      }
      tensors_.parts.push_back(place);
    }
  }

  const Graph& graph_;
  const Offers& offers_;
  const Invocations& invocations_;
  CallSites& sites_;
  bool interpreted_;
  ImageUse images_;
  runtime::PlanTensors tensors_;
  std::map<StoredTensor, TensorRef> refs_;
  std::vector<Part> parts_;
  std::deque<const CompiledSites::value_type*> kernels_;  // of the invocations not yet added
  std::deque<runtime::LaunchPlan> call_plans_;
  std::map<const CompiledSite*, runtime::LaunchPlan> interpreted_plans_;
  Assembly result_;
};

}  // namespace

Assembly assemble(const Graph& graph, const Offers& offers, const Invocations& invocations,
                  CallSites& sites, std::uint64_t buffer_alignment, bool interpreted) {
  return Assembler(graph, offers, invocations, sites, interpreted).assemble(buffer_alignment);
}

}  // namespace texloom::graph
