"""The child process of :mod:`texloom.measure.processes`.

    python -m texloom.measure.child FOLDER

FOLDER contains the request; the child writes the record of the measurement to FOLDER.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from pathlib import Path

from .measurement import ErrorClass, Measurement, MeasurementError
from .processes import RECORD, REQUEST


def main() -> None:
    """Call the function, and write its measurement, or the error of a failed measurement."""
    folder = Path(sys.argv[1])
    module, name, arguments = pickle.loads((folder / REQUEST).read_bytes())
    try:
        record = getattr(importlib.import_module(module), name)(*arguments)
    except MeasurementError as error:
        record = Measurement((), 0, error.error, str(error))
    except Exception as error:
        record = Measurement((), 0, ErrorClass.RUN, f"{type(error).__name__}: {error}")
    written = folder / f"{RECORD}.part"
    written.write_bytes(pickle.dumps(record))
    written.replace(folder / RECORD)
    # Exit without releasing objects: with time stamps, NVIDIA's driver 580 fails to release them.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
