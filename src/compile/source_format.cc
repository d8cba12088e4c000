#include "compile/source_format.h"

#include "support/check.h"

namespace texloom::compile {

SourceFormat source_format(ir::TargetKind kind) {
  switch (kind) {
    case ir::TargetKind::OpenCL:
      return {hal::KernelFormat::OpenClC, {"-cl-std=CL1.2"}};
  }
  TL_UNREACHABLE("a kind of target without a source format");
}

}  // namespace texloom::compile
