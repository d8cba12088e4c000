#include "core/function/call_shapes.h"

#include <utility>

#include "compile/launch_plan.h"

namespace texloom::python {

using ir::Shape;

CallShapes::CallShapes(const compile::CompiledModule& module) {
  const std::size_t count = module.array_layouts.size();  // without a checked build's report buffer
  for (std::size_t i = 0; i < count; ++i) {
    const ir::BufferNode& param = *module.program.params[i];
    static_shapes_.emplace_back();
    if (!param.is_symbolic()) static_shapes_[i] = {module.array_layouts[i].shape, param.shape};
  }
  if (module.symbols.sizes.empty()) return;
  runtime::LaunchPlan whole = compile::make_launch_plan(module);
  plan_.symbols = std::move(whole.symbols);
  plan_.arguments = std::move(whole.arguments);
  plan_.arguments.resize(count);
}

// `T` is Shape or std::optional<Shape>.
template <class T>
void CallShapes::put_static(std::vector<T>& shapes, Shape StaticShape::* kind) const {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (static_shapes_[i]) shapes[i] = (*static_shapes_[i]).*kind;
  }
}

Result<std::vector<std::int64_t>> CallShapes::symbols(std::span<const Shape> shapes,
                                                      const runtime::GivenSymbols& given) const {
  if (plan_.symbols.empty()) return std::vector<std::int64_t>();
  std::vector<Shape> in_kernels(shapes.begin(), shapes.end());
  put_static(in_kernels, &StaticShape::of_kernels);
  return runtime::bind_symbols(plan_, in_kernels, given);
}

Result<std::vector<Shape>> CallShapes::complete(std::span<const std::optional<Shape>> shapes,
                                                const runtime::GivenSymbols& given) const {
  std::vector<Shape> all(shapes.size());
  if (!plan_.symbols.empty()) {
    std::vector<std::optional<Shape>> in_kernels(shapes.begin(), shapes.end());
    put_static(in_kernels, &StaticShape::of_kernels);
    TL_ASSIGN_OR_RETURN(all, runtime::complete_shapes(plan_, in_kernels, given));
  }
  put_static(all, &StaticShape::of_call);
  return all;
}

}  // namespace texloom::python
