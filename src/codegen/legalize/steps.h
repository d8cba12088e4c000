// The rewrites that the backends share, as rows for their tables.
#pragma once

#include "codegen/legalize/align_access.h"
#include "codegen/legalize/distribute_fragments.h"
#include "codegen/legalize/expand_functions.h"
#include "codegen/legalize/integer_divisions.h"
#include "codegen/legalize/kernel_ranges.h"
#include "codegen/legalize/limit_exponents.h"
#include "codegen/legalize/split_lanes.h"
#include "codegen/legalize/unused_values.h"
#include "codegen/legalize/verify_dialect.h"
#include "codegen/legalize/widen_storage.h"
#include "lower/kernels/share_texels.h"
#include "lower/kernels/unique_definitions.h"
#include "lower/loops/copy_at_once.h"
#include "lower/pass.h"

namespace texloom::codegen {

// The rewrites for the language that `dialect_of` describes. A backend lists them in its table,
// among its own rewrites, in the order of the members. The order has these reasons:
//  * Definitions are unique before any step identifies expressions by their variables.
//  * Lanes are split on the user's types; this turns one read of a texel into several.
//  * Texels are shared before types are widened, while equal reads are equal nodes.
//  * Limits are checked after types are widened, which makes arrays of 16-bit floats larger.
//  * Functions and exponents are rewritten when their types are final, and before comparisons of
//    integers are made.
//  * Accesses are aligned on the final types of arrays, before integer operations, since alignment
//    makes divisions.
template <Dialect (*dialect_of)(const ir::Target&)>
struct Steps {
  using Kernel = ir::Kernel;
  using Pass = lower::Pass;
  using Stage = ir::ProgramStage;
  using Target = ir::Target;

  static constexpr Pass unique_definitions{"legalize.unique_definitions", lower::unique_definitions,
                                           Stage::Kernels, Stage::Kernels,
                                           "define each variable and buffer once"};
  static constexpr Pass split_lanes{
      "legalize.split_lanes", lower::in_each_kernel<[](Kernel& k, const Target& t) {
        k.body = codegen::split_lanes(k.body, dialect_of(t));
      }>,
      Stage::Kernels, Stage::Kernels,
      "split vectors into those that the language has, gather elements that are not consecutive"};
  static constexpr Pass distribute_fragments{
      "legalize.distribute_fragments", lower::in_each_kernel<[](Kernel& k, const Target& t) {
        if (!dialect_of(t).fragments) codegen::distribute_fragments(k);
      }>,
      Stage::Kernels, Stage::Kernels, "make steps of fragments from loops of each thread"};
  static constexpr Pass copy_at_once{
      "legalize.copy_at_once", lower::in_each_kernel<[](Kernel& k, const Target& t) {
        if (!dialect_of(t).async_copies) k.body = lower::copy_at_once(k.body);
      }>,
      Stage::Kernels, Stage::Kernels, "make asynchronous copies where they begin"};
  static constexpr Pass bind_texels{
      "legalize.bind_texels",
      lower::in_each_kernel<[](Kernel& k, const Target&) { k.body = lower::bind_texels(k.body); }>,
      Stage::Kernels, Stage::Kernels, "read a texel once if split lanes read it several times"};
  static constexpr Pass widen_storage{
      "legalize.widen_storage", lower::in_each_kernel<[](Kernel& k, const Target& t) {
        k.body = codegen::widen_storage(k.body, dialect_of(t));
      }>,
      Stage::Kernels, Stage::Legalized,
      "compute in types that the language supports, and round float16"};
  static constexpr Pass check_limits{
      "legalize.check_limits",
      lower::in_each_kernel<[](Kernel& k, const Target& t) { codegen::check_limits(k, t); }>,
      Stage::Legalized, Stage::Legalized, "refuse arrays that widened types make too large"};
  static constexpr Pass expand_functions{
      "legalize.expand_functions", lower::in_each_kernel<[](Kernel& k, const Target& t) {
        k.body = codegen::expand_functions(k.body, dialect_of(t));
      }>,
      Stage::Legalized, Stage::Legalized, "compute functions that the language lacks by others"};
  static constexpr Pass limit_exponents{
      "legalize.limit_exponents", lower::in_each_kernel<[](Kernel& k, const Target&) {
        k.body = codegen::limit_exponents(k.body);
      }>,
      Stage::Legalized, Stage::Legalized,
      "make the conversion of ldexp's exponents to integers defined"};
  static constexpr Pass align_accesses{
      "legalize.align_accesses", lower::in_each_kernel<[](Kernel& k, const Target& t) {
        k.body = codegen::align_accesses(k.body, ranges_of(k), dialect_of(t));
      }>,
      Stage::Legalized, Stage::Legalized, "find the vector accesses that are aligned"};
  static constexpr Pass make_divisions_explicit{
      "legalize.make_divisions_explicit", lower::in_each_kernel<[](Kernel& k, const Target&) {
        k.body = codegen::make_divisions_explicit(k.body, ranges_of(k));
      }>,
      Stage::Legalized, Stage::Legalized,
      "spell divisions and bools by operations that all languages have"};
  static constexpr Pass drop_unused_values{
      "legalize.drop_unused_values", lower::in_each_kernel<[](Kernel& k, const Target&) {
        k.body = codegen::drop_unused_values(k.body);
      }>,
      Stage::Legalized, Stage::Legalized, "drop values that nothing reads"};
  static constexpr Pass verify_dialect{
      "legalize.verify_dialect",
      [](lower::Lowering& lowering) {
        codegen::verify_dialect(lowering.program, dialect_of(lowering.target));
      },
      Stage::Legalized, Stage::Legalized,
      "check that kernels contain only what the language can spell"};
};

}  // namespace texloom::codegen
