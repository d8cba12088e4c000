"""Nodes of the domain ``ai.onnx.ml``, run by Texloom and by onnxruntime."""

from __future__ import annotations

from node_peers import model_of, onnxruntimes, ours

DOMAIN = "ai.onnx.ml"


def both(op, inputs, version=3, outputs=1, **attributes):
    """Return our outputs and onnxruntime's."""
    model = model_of(op, inputs, outputs, domain_version=version, domain=DOMAIN, **attributes)
    return ours(model, inputs), onnxruntimes(model, inputs)


def own(op, inputs, version=3, outputs=1, **attributes):
    """Return our outputs."""
    model = model_of(op, inputs, outputs, domain_version=version, domain=DOMAIN, **attributes)
    return ours(model, inputs)
