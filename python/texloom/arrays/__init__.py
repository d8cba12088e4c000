"""Parts of arrays (:mod:`texloom.nd`): arguments, arrays of the host, bfloat16, DLPack."""
