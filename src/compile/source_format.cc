#include "compile/source_format.h"

#include "support/check.h"

namespace texloom::compile {

SourceFormat source_format(const ir::Target& target) {
  switch (target.kind) {
    case ir::TargetKind::OpenCL:
      return {hal::KernelFormat::OpenClC, {"-cl-std=CL1.2"}};
    case ir::TargetKind::Metal:
      return {hal::KernelFormat::Msl, {"-std=metal" + to_string(target.language)}};
  }
  TL_UNREACHABLE("a kind of target without a source format");
}

}  // namespace texloom::compile
