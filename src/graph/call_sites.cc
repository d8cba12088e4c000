#include "graph/call_sites.h"

#include <utility>

#include "compile/launch_plan.h"
#include "ir/layout/layout_pattern.h"
#include "lower/te_text.h"

namespace texloom::graph {

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

const CompiledSites::value_type& CallSites::candidate(const lower::Lowering& program,
                                                      const std::vector<SiteArgument>& arguments) {
  auto declared = std::make_shared<const lower::Lowering>(for_site(program, arguments));
  std::string signature = lower::to_string(*declared);
  if (const auto found = compiled_.find(signature); found != compiled_.end()) return *found;
  CompiledSite site{compile::compile({std::move(declared)}, options_, interruption_), {}};
  site.plan = compile::make_launch_plan(site.module);
  return *compiled_.emplace(std::move(signature), std::move(site)).first;
}

const CompiledSites::value_type& CallSites::site(const lower::Lowering& program,
                                                 const std::vector<SiteArgument>& arguments) {
  const CompiledSites::value_type& site = candidate(program, arguments);
  used_.emplace(site.first, &site.second);
  return site;
}

}  // namespace texloom::graph
