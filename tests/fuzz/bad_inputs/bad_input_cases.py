"""Lists all bad-input cases, for tests/python/errors/test_bad_input.py and show_bad_input.py."""

from __future__ import annotations

import json
import sys

import bad_annotations
import bad_arguments
import bad_attachments
import bad_bindings
import bad_buffers
import bad_caches
import bad_calls
import bad_custom
import bad_externs
import bad_foreign
import bad_graphs
import bad_input
import bad_intrinsic_scalars
import bad_intrinsics
import bad_layouts
import bad_loops
import bad_lowering
import bad_reductions
import bad_scans
import bad_targets
import bad_tensors
import bad_texts

FILES = (
    bad_tensors,
    bad_externs,
    bad_foreign,
    bad_scans,
    bad_intrinsics,
    bad_intrinsic_scalars,
    bad_loops,
    bad_bindings,
    bad_annotations,
    bad_attachments,
    bad_caches,
    bad_buffers,
    bad_layouts,
    bad_reductions,
    bad_lowering,
    bad_graphs,
    bad_targets,
    bad_calls,
    bad_custom,
    bad_arguments,
    bad_texts,
)
CASES = [c for file in FILES for c in bad_input.CASES if c.run.__module__ == file.__name__]

# The codes that no Python script can cause by itself, and why.
UNREACHABLE = {
    "TL3012": "reductions in textures are refused before, and nothing else reads what it writes; "
    "a text of stage flattened shows it",
    "TL3041": "it is about a whole graph, such as one compiled with `max_live_bytes=8`, and has no "
    "line",
    "TL3044": "a graph of so many launches takes minutes to compile",
    "TL5007": "what a driver refuses at run time is up to the driver",
    "TL5010": "what is refused, such as C text that is none, is up to the device's compiler",
    "TL6004": "the interpreter is run by texloom-opt",
    "TL6005": "the interpreter is run by texloom-opt",
}

if __name__ == "__main__":
    # A case with an environment runs in its own process, which is this script.
    (chosen,) = [c for c in CASES if c.name == sys.argv[1]]
    print(json.dumps(chosen.here()))
