"""TVM's spellings: modules and names that its scripts use, and those that Texloom leaves out.

``import texloom as tvm`` has the modules as ``tvm.ir``, ``tvm.testing`` and so on
(:mod:`texloom.tvm.modules`). TVM's ``te``, ``tir``, ``nd``, ``target`` and ``runtime`` are
Texloom's own front end.
"""
