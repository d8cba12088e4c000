// Evaluates attributes' indices that are constant expressions: `[[buffer(kInput + 1)]]`.
#pragma once

#include "tests/softmetal/source/code.h"

namespace softmetal {

// Replaces the arguments of [[buffer]], [[texture]], [[sampler]], [[threadgroup]], [[id]] and
// [[function_constant]] by their values, if these depend only on numbers, enumerators and integer
// constants of the program. Other arguments stay unchanged.
void evaluate_indices(Code& code);

}  // namespace softmetal
