#include "codegen/msl/fragment_functions.h"

#include <fmt/format.h>

#include "support/check.h"

namespace texloom::codegen::msl {

std::string fragment_function(Prelude& prelude, ir::FragmentOp op, bool transposed) {
  switch (op) {
    case ir::FragmentOp::Fill:
      return prelude.use(
          "tl_fragment_fill",
          "template <typename T>\n"
          "void tl_fragment_fill(thread simdgroup_matrix<T, 8, 8>* part, T value) {\n"
          "  for (int i = 0; i < 4; ++i) part[i] = make_filled_simdgroup_matrix<T, 8, 8>(value);\n"
          "}\n");
    case ir::FragmentOp::Load: {
      const std::string name = transposed ? "tl_fragment_load_transposed" : "tl_fragment_load";
      // The matrix in row i and column j of the part is in row j and column i of its transpose.
      return prelude.use(
          name, fmt::format("template <typename T, typename Pointer>\n"
                            "void {}(thread simdgroup_matrix<T, 8, 8>* part, Pointer source, "
                            "int stride) {{\n"
                            "  for (int i = 0; i < 2; ++i) {{\n"
                            "    for (int j = 0; j < 2; ++j) {{\n"
                            "      simdgroup_load(part[i * 2 + j], source + {} * 8 * stride + "
                            "{} * 8, stride, ulong2(0), {});\n"
                            "    }}\n"
                            "  }}\n"
                            "}}\n",
                            name, transposed ? "j" : "i", transposed ? "i" : "j", transposed));
    }
    case ir::FragmentOp::Mma:
      return prelude.use("tl_fragment_mma",
                         "template <typename S, typename T>\n"
                         "void tl_fragment_mma(thread simdgroup_matrix<S, 8, 8>* sums,\n"
                         "                     thread simdgroup_matrix<T, 8, 8>* left,\n"
                         "                     thread simdgroup_matrix<T, 8, 8>* right) {\n"
                         "  for (int k = 0; k < 2; ++k) {\n"
                         "    for (int i = 0; i < 2; ++i) {\n"
                         "      for (int j = 0; j < 2; ++j) {\n"
                         "        simdgroup_multiply_accumulate(sums[i * 2 + j], left[i * 2 + k], "
                         "right[k * 2 + j], sums[i * 2 + j]);\n"
                         "      }\n"
                         "    }\n"
                         "  }\n"
                         "}\n");
    case ir::FragmentOp::Store:
      return prelude.use(
          "tl_fragment_store",
          "template <typename T, typename Pointer>\n"
          "void tl_fragment_store(Pointer to, int stride, thread simdgroup_matrix<T, 8, 8>* part) "
          "{\n"
          "  for (int i = 0; i < 2; ++i) {\n"
          "    for (int j = 0; j < 2; ++j) {\n"
          "      simdgroup_store(part[i * 2 + j], to + i * 8 * stride + j * 8, stride);\n"
          "    }\n"
          "  }\n"
          "}\n");
  }
  TL_UNREACHABLE();
}

}  // namespace texloom::codegen::msl
