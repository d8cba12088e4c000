// The table of what each stage allows, for ir/verify/verify.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/stmt.h"

namespace texloom::ir {

// The kind of code. From stage Kernels on, a program's body is a launch plan, and the code is in
// kernels.
enum class CodeKind : uint8_t { Loops, Flattened, Plan, Kernel, Legalized };

// "stage loops", "a launch plan", ...
std::string_view to_string(CodeKind code);

bool allows(CodeKind code, ExprKind kind);
bool allows(CodeKind code, StmtKind kind);
bool allows(CodeKind code, LoopKind loop);

// The name of the kind in nodes.def: "TextureLoad".
std::string_view name_of(ExprKind kind);
std::string_view name_of(StmtKind kind);

}  // namespace texloom::ir
