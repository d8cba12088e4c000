"""Statements of tensor intrinsics as C macros, which accept pointers to any memory."""

from __future__ import annotations

from .intrinsics import IntrinsicWriter


class ForeignStatements:
    """Macros for the statements of an intrinsic, and their calls.

    A call passes a pointer to the first element of the result and of each operand, the row stride
    of those that have rows, and the scalar. The reset of a reduction needs only the result.
    """

    def __init__(self, writer: IntrinsicWriter) -> None:
        self.writer = writer
        self.reads = [f"x{n}" for n in range(len(writer.kind.operands))]

    def write(self) -> None:
        """Write the C text with the macros, and a function that returns the statements."""
        w = self.writer
        w.c.feature("intrinsic of a foreign function")
        kinds = ["all"]
        if w.updates:
            kinds += ["start", "step"]
        w.add(f"c_{w.var} = '''")
        for kind in kinds:
            self.define(kind)
        w.add("'''")
        w.add(f"def statement_{w.var}(ins, outs, sp, kind):")
        w.add("    ib = tvm.tir.ir_builder.create()")
        access = "rw" if w.kind.reducer else "w"
        w.add("    ins, sp = ([], []) if kind == 'start' else (ins, list(sp))")
        w.add(f"    given = [outs[0].access_ptr('w' if kind == 'start' else '{access}')]")
        w.add("    given += [each.access_ptr('r') for each in ins]")
        w.add("    given += [e.strides[0] for e in [*outs, *ins] if len(e.shape) == 2] + sp")
        w.add(f"    ib.emit(tvm.tir.call_extern('int32', f'{w.var}_{{kind}}', *given))")
        w.add("    return ib.get()")
        made = ", ".join(f"statement_{w.var}(ins, outs, sp, '{kind}')" for kind in kinds)
        w.add(f"body_{w.var} = lambda ins, outs, sp=(): [{made}]")

    def define(self, kind: str) -> None:
        """Write a macro: loops over the tile, with names that do not clash with a caller's."""
        w = self.writer
        places = self.places()[:1] if kind == "start" else self.places()
        parameters = [name for name, _ in places]
        parameters += [f"{name}_row" for name, axes in places if len(axes) == 2]
        if w.scalar and kind != "start":
            parameters.append("s")
        w.add(f"#define {w.var}_{kind}({', '.join(parameters)}) do {{ \\\\")
        for axis in w.kind.data:
            w.add(f"{self.loop(axis)} {{ \\\\")
        y = self.element("y", w.kind.data)
        value = w.value(
            [
                [self.element(x, operand.axes, shift) for shift in operand.shifts]
                for x, operand in zip(self.reads, w.kind.operands, strict=True)
            ],
            "(s)" if w.scalar else w.number_of_factor,
        ).replace("te.max", self.maximum)
        if w.kind.reducer:
            if kind != "step":
                w.add(f"  {y} = {self.first()}; \\\\")
            if kind != "start":
                step = w.joined(y, value).replace("te.max", self.maximum)
                w.add(f"{self.loop('k')} {y} = {step}; \\\\")
        else:
            w.add(f"  {y} = {value}; \\\\")
        w.add(f"{'}' * len(w.kind.data)}}} while (0)")

    def places(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the names and axes of the result and of the operands."""
        operands = zip(self.reads, self.writer.kind.operands, strict=True)
        return [("y", self.writer.kind.data), *((x, o.axes) for x, o in operands)]

    def loop(self, axis: str) -> str:
        """Return the head of a loop."""
        w = self.writer
        i = f"{w.var}_{axis}"
        return f"  for (int {i} = 0; {i} < {w.tile[axis]}; ++{i})"

    def element(self, pointer: str, axes: tuple[str, ...], shift: int = 0) -> str:
        """Return the C expression for an element of the tile at the pointer."""
        *rows, column = (f"{self.writer.var}_{axis}" for axis in axes)
        place = f"{rows[0]} * ({pointer}_row) + {column}" if rows else column
        return f"({pointer})[{place} + {shift}]"

    @property
    def maximum(self) -> str:
        """Return the name of OpenCL C's function for a maximum."""
        return "fmax" if self.writer.dtype.startswith("float") else "max"

    def first(self) -> str:
        """Return the initial value of a reduction."""
        lowest = {"float32": "-FLT_MAX", "int32": "INT_MIN", "int16": "SHRT_MIN", "uint8": "0"}
        return "0" if self.writer.kind.reducer == "sum" else lowest[self.writer.dtype]
