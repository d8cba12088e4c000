#include "compile/array_accesses.h"

#include "schedule/operation/operation.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR types

ComputedArrays computed_arrays(const lower::Lowering& lowering) {
  ComputedArrays computed(lowering.array_layouts.size());
  for (size_t i = 0; i < lowering.arguments.size(); ++i) {
    computed[i] = !schedule::operation_of(lowering.arguments[i].tensor)->is_placeholder();
  }
  return computed;
}

std::vector<Access> array_accesses(const Program& program, const ComputedArrays& computed) {
  std::vector<Access> accesses;
  for (size_t i = 0; i < computed.size(); ++i) {
    bool is_read = false, is_written = false;
    for (const Kernel& kernel : program.kernels) {
      for (const KernelParam& param : kernel.params) {
        if (!param.buffer.same_as(program.params[i])) continue;
        is_read = is_read || reads(param.access);
        is_written = is_written || writes(param.access);
      }
    }
    const bool is_input = computed[i] ? !*computed[i] : is_read;
    if (!is_written) {
      accesses.push_back(Access::Read);
    } else {
      accesses.push_back(is_input ? Access::ReadWrite : Access::Write);
    }
  }
  return accesses;
}

}  // namespace texloom::compile
