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

// The arrays of a compiled module's calls. Shapes are those that callers see, in the order of the
// arrays; kernels may see other axes after transform_layout. The shapes of arrays without symbolic
// extents must be right. Does not refer to the module.
class CallShapes {
 public:
  explicit CallShapes(const compile::CompiledModule& module);

  // The values of the launch plan's symbols. Fails like runtime::bind_symbols().
  Result<std::vector<std::int64_t>> symbols(std::span<const ir::Shape> shapes,
                                            const runtime::GivenSymbols& given) const;

  // The shapes of all arrays of a call that gives only some: the others are nullopt here. Fails
  // like runtime::complete_shapes().
  Result<std::vector<ir::Shape>> complete(std::span<const std::optional<ir::Shape>> shapes,
                                          const runtime::GivenSymbols& given) const;

 private:
  struct StaticShape {
    ir::Shape of_call, of_kernels;
  };

  // Replaces the shapes of arrays without symbolic extents.
  template <class T>
  void put_static(std::vector<T>& shapes, ir::Shape StaticShape::* kind) const;

  std::vector<std::optional<StaticShape>> static_shapes_;  // nullopt for symbolic arrays
  // Has only the symbols and the arguments that callers pass; empty if there are no symbols.
  runtime::LaunchPlan plan_;
};

}  // namespace texloom::python
