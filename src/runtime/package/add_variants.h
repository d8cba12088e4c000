// Puts forms of one graph for several targets into one package.
#pragma once

#include "runtime/package/package.h"
#include "support/status.h"

namespace texloom::runtime {

// Adds the variants of `other` after those of `package`: a device gets the first that it can run.
// Fails with InvalidArgument unless both packages are compiled from one model, so that callers pass
// and get the same tensors and numbers. Tensors and nodes of `other` that `package` lacks are
// added, under other names if theirs are taken: passes for different targets fuse different nodes.
// A file stores equal constants once (package_writer.h). On an error, the package is unchanged.
Status add_variants(Package& package, const Package& other);

}  // namespace texloom::runtime
