// Files of packages that Python writes.
#pragma once

#include "support/status.h"

namespace texloom::python {

// Fails with BadModuleFile, at the user's line, if packages could not be written to a file.
void throw_if_not_written(const Status& status);

}  // namespace texloom::python
