// Completes the shapes of a call's arrays, and determines the values of symbols from them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compile/module.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/symbols.h"
#include "support/status.h"

namespace texloom::python {

// The shapes of the arrays in a compiled module's calls. Shapes are those that callers see, in the
// order of the arrays; kernels may see other axes after transform_layout. Callers must have checked
// the shapes of arrays without symbolic extents. Keeps no reference to the module.
class CallShapes {
 public:
  explicit CallShapes(const compile::CompiledModule& module);

  // The values of the launch plan's symbols. Fails like runtime::bind_symbols().
  Result<std::vector<std::int64_t>> symbols(std::span<const ir::Shape> shapes,
                                            const runtime::GivenSymbols& given) const;

  // The shapes of all arrays of a call; arrays that the call leaves out are nullopt in `shapes`.
  // Fails like runtime::complete_shapes().
  Result<std::vector<ir::Shape>> complete(std::span<const std::optional<ir::Shape>> shapes,
                                          const runtime::GivenSymbols& given) const;

 private:
  struct StaticShape {
    ir::Shape of_call, of_kernels;
  };

  // Replaces the shapes of arrays without symbolic extents by their static shapes: those of the
  // call or those of the kernels, as `kind` says.
  template <class T>
  void put_static(std::vector<T>& shapes, ir::Shape StaticShape::* kind) const;

  std::vector<std::optional<StaticShape>> static_shapes_;  // nullopt for symbolic arrays
  // A plan with only the symbols and the arguments of callers; empty if there are no symbols.
  runtime::LaunchPlan plan_;
};

}  // namespace texloom::python
