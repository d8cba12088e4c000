#include "compile/source_format.h"

#include "ir/analysis/limits.h"
#include "support/check.h"

namespace texloom::compile {

SourceFormat source_format(const ir::Kernel& kernel, const ir::Target& target) {
  switch (target.kind) {
    case ir::TargetKind::OpenCL:
      return {hal::KernelFormat::OpenClC, {"-cl-std=CL1.2"}};
    case ir::TargetKind::Metal: {
      SourceFormat format{hal::KernelFormat::Msl, {"-std=metal" + to_string(target.language)}};
      if (ir::relies_on_simd_width(kernel, target))
        format.build_options.push_back("-simd-width=" + std::to_string(target.simd_width()));
      return format;
    }
  }
  TL_UNREACHABLE("a kind of target without a source format");
}

}  // namespace texloom::compile
