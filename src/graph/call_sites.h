// Compiles the kernels of a graph, each once: a call site's *signature* is the text of its schedule
// with the declared storage of its arguments, and call sites of equal signature share a kernel.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "graph/stored.h"
#include "runtime/plan/plan.h"

namespace texloom::graph {

// An argument of a call site.
struct SiteArgument {
  const Stored* stored = nullptr;
  // The tensor may share its image with others, so its position in the image is passed to kernels.
  bool has_origin = false;
};

struct CompiledSite {
  compile::CompiledModule module;
  runtime::LaunchPlan plan;  // its arguments are those of the call site
};

// The program with its arguments declared as a call site stores them.
lower::Lowering for_site(const lower::Lowering& program,
                         const std::vector<SiteArgument>& arguments);

// The sites that have been compiled, by signature. Graphs that are compiled one after another with
// equal options may share this map.
using CompiledSites = std::map<std::string, CompiledSite>;

// A program as a call site runs it.
struct SiteRequest {
  const lower::Lowering* program = nullptr;
  std::vector<SiteArgument> arguments;
};

class CallSites {
 public:
  // `compiled` holds sites that were compiled before; sites that are compiled now are added to it.
  CallSites(const compile::CompileOptions& options, compile::Interruption interruption,
            CompiledSites& compiled)
      : options_(options), interruption_(interruption), compiled_(compiled) {}

  // Compiles sites of the graph side by side, on all processors, unless their signatures are known.
  // Returns them in the order of the requests. Fails like compile(). The results live as long as
  // the compiled sites.
  std::vector<const CompiledSites::value_type*> sites(const std::vector<SiteRequest>& requests);
  // Compiles candidates side by side for later calls of candidate(), which fail if this fails to
  // compile them. A candidate does not become a site of the graph. Returns the signatures.
  std::vector<std::string> compile_ahead(const std::vector<SiteRequest>& requests);
  // Compiles a candidate unless its signature is known. Fails like compile().
  const CompiledSites::value_type& candidate(const lower::Lowering& program,
                                             const std::vector<SiteArgument>& arguments);

  // The distinct sites of the graph, in the order of their signatures.
  std::size_t size() const { return used_.size(); }
  const std::map<std::string, const CompiledSite*>& all() const { return used_; }

 private:
  // The compiled site; null if it was never compiled. Fails if compiling it failed.
  const CompiledSites::value_type* known(const std::string& signature) const;

  compile::CompileOptions options_;
  compile::Interruption interruption_;
  CompiledSites& compiled_;
  // The errors of the sites that cannot be compiled.
  std::map<std::string, std::exception_ptr> failed_;  // keyed by signature
  std::map<std::string, const CompiledSite*> used_;   // keyed by signature
};

}  // namespace texloom::graph
