// Compiles the kernels of a graph, each once: a call site's *signature* is the text of its schedule
// with the declared storage of its arguments, and call sites of equal signature share a kernel.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "graph/stored.h"
#include "runtime/launch_plan.h"

namespace texloom::graph {

// An argument of a call site.
struct SiteArgument {
  const Stored* stored = nullptr;
  // The tensor may share its image with others, so that its position there is passed to kernels.
  bool has_origin = false;
};

struct CompiledSite {
  compile::CompiledModule module;
  runtime::LaunchPlan plan;  // its arguments are those of the call site
};

// The program with its arguments declared as a call site stores them.
lower::Lowering for_site(const lower::Lowering& program,
                         const std::vector<SiteArgument>& arguments);

class CallSites {
 public:
  CallSites(const compile::CompileOptions& options, compile::Interruption interruption)
      : options_(options), interruption_(interruption) {}

  // Fails like compile(). The result lives as long as this object.
  const CompiledSite& site(const lower::Lowering& program,
                           const std::vector<SiteArgument>& arguments);

  // The sites that differ, in the order of their signatures.
  std::size_t size() const { return sites_.size(); }
  const std::map<std::string, CompiledSite>& all() const { return sites_; }

 private:
  compile::CompileOptions options_;
  compile::Interruption interruption_;
  std::map<std::string, CompiledSite> sites_;  // by signature
};

}  // namespace texloom::graph
