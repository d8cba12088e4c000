#include "graph/call_sites.h"

#include <optional>
#include <utility>

#include "compile/launch_plan.h"
#include "compile/side_by_side.h"
#include "ir/layout/layout_pattern.h"
#include "lower/te_text.h"
#include "support/diagnostic.h"

namespace texloom::graph {
namespace {

CompiledSite compiled_site(std::shared_ptr<const lower::Lowering> declared,
                           const compile::CompileOptions& options,
                           compile::Interruption interruption) {
  CompiledSite site{compile::compile({std::move(declared)}, options, interruption), {}};
  site.plan = compile::make_launch_plan(site.module);
  return site;
}

}  // namespace

lower::Lowering for_site(const lower::Lowering& program,
                         const std::vector<SiteArgument>& arguments) {
  lower::Lowering site = program;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    lower::Argument& argument = site.arguments[i];
    const Stored& stored = *arguments[i].stored;
    lower::BufferDeclaration declared;
    if (argument.declaration) {
      declared = *argument.declaration;
    } else {
      declared.type = argument.tensor->type;
      declared.shape = argument.tensor->shape;
      declared.location = argument.tensor->location;
    }
    declared.scope = stored.scope;
    declared.has_origin = arguments[i].has_origin;
    declared.layout.reset();
    if (!stored.is_by_rule())
      declared.layout = ir::pattern_of(stored.layout, ir::axis_names(stored.layout.shape.size()));
    argument.declaration = std::move(declared);
  }
  return site;
}

const CompiledSites::value_type* CallSites::known(const std::string& signature) const {
  if (const auto found = compiled_.find(signature); found != compiled_.end()) return &*found;
  if (const auto found = failed_.find(signature); found != failed_.end())
    std::rethrow_exception(found->second);
  return nullptr;
}

std::vector<std::string> CallSites::compile_ahead(const std::vector<SiteRequest>& requests) {
  struct Site {
    std::shared_ptr<const lower::Lowering> declared;
    std::optional<CompiledSite> compiled = {};
    std::exception_ptr error = {};
  };
  std::vector<std::string> signatures;
  std::map<std::string, Site> by_signature;
  for (const SiteRequest& request : requests) {
    auto declared =
        std::make_shared<const lower::Lowering>(for_site(*request.program, request.arguments));
    const std::string& signature = signatures.emplace_back(lower::to_string(*declared));
    if (!compiled_.contains(signature) && !failed_.contains(signature))
      by_signature.emplace(signature, Site{std::move(declared)});
  }
  std::vector<Site*> sites;
  for (auto& [signature, site] : by_signature) sites.push_back(&site);
  compile::run_side_by_side(
      sites.size(),
      [&](std::size_t number, compile::Interruption interruption) {
        Site& site = *sites[number];
        try {
          site.compiled = compiled_site(std::move(site.declared), options_, interruption);
        } catch (const UserError&) {
          site.error = std::current_exception();
        }
      },
      interruption_);
  for (auto& [signature, site] : by_signature) {
    if (site.error)
      failed_.emplace(signature, site.error);
    else
      compiled_.emplace(signature, *std::move(site.compiled));
  }
  return signatures;
}

const CompiledSites::value_type& CallSites::candidate(const lower::Lowering& program,
                                                      const std::vector<SiteArgument>& arguments) {
  auto declared = std::make_shared<const lower::Lowering>(for_site(program, arguments));
  std::string signature = lower::to_string(*declared);
  if (const auto* site = known(signature)) return *site;
  CompiledSite site = compiled_site(std::move(declared), options_, interruption_);
  return *compiled_.emplace(std::move(signature), std::move(site)).first;
}

std::vector<const CompiledSites::value_type*> CallSites::sites(
    const std::vector<SiteRequest>& requests) {
  std::vector<const CompiledSites::value_type*> list;
  for (const std::string& signature : compile_ahead(requests)) {
    list.push_back(known(signature));
    used_.emplace(signature, &list.back()->second);
  }
  return list;
}

}  // namespace texloom::graph
