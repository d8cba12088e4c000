"""A builder of statements, line by line: ``tir.ir_builder.create()``.

``with`` opens a statement that encloses others; a ``scope_attr``, ``let`` or ``allocate`` applies
to the rest of its block::

    ib = tvm.tir.ir_builder.create()
    a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    bx = te.thread_axis("blockIdx.x")
    ib.scope_attr(bx, "thread_extent", 8)
    with ib.for_range(0, 4) as i:
        b[bx, i] = a[bx, i] + 1.0
    return ib.get()
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from .. import _core
from .._core import Buffer, Expr, IterVar, Stmt
from ..checks.argument_kinds import kind_of
from ..checks.checked_calls import check_calls, check_methods
from ..dtypes import DType
from ..errors import refuse
from .op import likely
from .string_imm import StringImm

_refuse = partial(refuse, "BadExtern")

# An entry of a block: a statement, or a function that wraps the following statements.
Opening = Callable[[Stmt], Stmt]
_KINDS = ("serial", "unroll", "vectorize", "parallel")


class WithScope:
    """The block of a ``with`` statement; ``as`` binds `value`."""

    def __init__(self, value: Any, close: Callable[[], None]) -> None:
        self._value, self._close = value, close

    def __enter__(self) -> Any:
        return self._value

    def __exit__(self, kind: type | None, value: object, trace: object) -> None:
        if kind is None:
            self._close()


class BufferVar:
    """The elements of a buffer: ``A[i, j]`` reads an element, ``A[i, j] = value`` emits a store.

    A single index into a buffer with several axes counts elements in row-major order.
    """

    def __init__(self, builder: IRBuilder, buffer: Buffer) -> None:
        self._builder, self._buffer = builder, buffer
        self._used = False

    @property
    def dtype(self) -> str:
        """The type of an element."""
        return self._buffer.dtype

    @property
    def buffer(self) -> Buffer:
        """The buffer, whose use this counts as."""
        self._used = True
        return self._buffer

    def asobject(self) -> BufferVar:
        """The buffer itself, for ``scope_attr``."""
        return self

    def access_ptr(self, access_mask: str | int, **options: Any) -> Expr:
        """Return a pointer for a foreign function, as for a ``Buffer``."""
        self._used = True
        return self._buffer.access_ptr(access_mask, **options)

    def _indices(self, index: Any) -> list[Any]:
        self._used = True
        given = list(index) if isinstance(index, (list, tuple)) else [index]
        shape = self._buffer.shape
        if len(given) != 1 or len(shape) <= 1:
            return given
        rest, indices = _core.to_expr(given[0]), []
        for extent in reversed(shape[1:]):
            indices.append(rest % extent)
            rest = rest // extent
        return [rest, *reversed(indices)]

    def __getitem__(self, index: Any) -> Expr:
        """The element at these indices, as an expression; TL1002 for a wrong number of indices."""
        return self._buffer.vload(self._indices(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Emit the store of a value, which is converted to the dtype of the buffer."""
        self._builder.emit(self._buffer.vstore(self._indices(index), value))

    # Forbids iteration: Python would iterate endlessly with __getitem__.
    __iter__ = None


class IRBuilder:
    """A builder of one statement, which :meth:`get` returns.

    Misuse, such as an ``else_scope`` without an ``if_scope``, is TL1020, also a ValueError.
    """

    def __init__(self) -> None:
        self._blocks: list[list[Stmt | Opening]] = [[]]
        self._done = False  # get has been called
        self._loops = 0
        self._threads = 0  # enclosing thread axes
        # For a block that ends with an `if` statement: the statement, its condition and its body.
        self._last_if: tuple[Stmt, Expr, Stmt] | None = None

    # -- Blocks.

    def _enter(self) -> None:
        self._blocks.append([])

    def _leave(self) -> Stmt:
        block: list[Stmt] = []
        for each in reversed(self._blocks.pop()):
            block = [each, *block] if isinstance(each, Stmt) else [each(_core.make_seq(block))]
        return _core.make_seq(block)

    def _open(self, opening: Opening) -> None:
        self._blocks[-1].append(opening)

    def emit(self, stmt: Stmt | Expr) -> None:
        """Add a statement: ``buffer.vstore(begin, value)``, or a call of a foreign function."""
        if isinstance(stmt, Expr):
            stmt = _core.evaluated(stmt)
        if not isinstance(stmt, Stmt):
            _refuse(
                f"emit takes a statement, not {kind_of(stmt)}",
                "store the value somewhere: an expression by itself has no effect",
            )
        self._blocks[-1].append(stmt)

    def get(self) -> Stmt:
        """Return the statement of everything emitted, and close the builder."""
        if self._done:
            _refuse("get is called twice", "keep the first result, or make a new builder")
        if len(self._blocks) != 1:
            _refuse("get is called inside a block of the builder", "call it after the `with`")
        self._done = True
        return self._leave()

    def new_scope(self) -> WithScope:
        """Open a block, which limits the effect of a ``scope_attr``, ``let`` or ``allocate``."""
        threads = self._threads

        def close() -> None:
            self._threads = threads
            self.emit(self._leave())

        self._enter()
        return WithScope(None, close)

    # -- Loops and conditions.

    def for_range(
        self,
        begin: Any,
        end: Any,
        name: str = "i",
        dtype: DType | None = None,
        kind: str = "serial",
    ) -> WithScope:
        """Open a loop from `begin` to ``end - 1``; ``as`` names its index.

        Parameters
        ----------
        begin, end : Expr or int
            The first index, and one past the last.
        name : str
            The name of the index in kernels; by default i, j, k, ...
        dtype : str, optional
            The type of the index; by default int32, or int64 if `begin` or `end` is int64.
        kind : str
            ``serial``, ``unroll``, ``vectorize`` or ``parallel``. A parallel loop runs serially: on
            a GPU, only threads run in parallel.

        Raises
        ------
        TVMError
            TL1020, also a ValueError, for another kind.
        """
        if kind not in _KINDS:
            _refuse(f"there is no loop of the kind '{kind}'", f"use one of {', '.join(_KINDS)}")
        begin, end = _core.to_expr(begin), _core.to_expr(end)
        if name == "i":
            name = chr(ord("i") + self._loops) if self._loops < 3 else f"i_{self._loops - 3}"
        self._loops += 1
        if dtype is None:
            dtype = "int64" if "int64" in (begin.dtype, end.dtype) else "int32"
        var = _core.var(name, dtype)
        from_zero = begin.equal(0)._class == "IntImm" and bool(begin.equal(0))
        threads = self._threads

        def close() -> None:
            self._threads = threads
            extent = end if from_zero else end - begin
            self.emit(_core.make_for(var, extent, kind, self._leave()))

        self._enter()
        return WithScope(var if from_zero else var + begin.astype(dtype), close)

    def while_loop(self, condition: Any) -> WithScope:
        """Open a loop that runs while the condition, tested before each iteration, holds."""
        condition = _core.to_expr(condition)
        threads = self._threads

        def close() -> None:
            self._threads = threads
            self.emit(_core.make_while(condition, self._leave()))

        self._enter()
        return WithScope(None, close)

    def if_scope(self, cond: Any) -> WithScope:
        """Open a block that runs if the condition holds."""
        condition = _core.to_expr(cond)
        threads = self._threads

        def close() -> None:
            self._threads = threads
            body = self._leave()
            self.emit(_core.make_if(condition, body))
            self._last_if = (self._blocks[-1][-1], condition, body)

        self._enter()
        return WithScope(None, close)

    def else_scope(self) -> WithScope:
        """Open a block that runs if the condition of the preceding ``if_scope`` does not hold."""
        block = self._blocks[-1]
        if self._last_if is None or not block or block[-1] is not self._last_if[0]:
            _refuse(
                "else_scope does not follow an if_scope",
                "put it directly after the block of an if_scope",
            )
        _, condition, then = self._last_if
        threads = self._threads

        def close() -> None:
            self._threads = threads
            otherwise = self._leave()
            # Evaluate the condition once: the first branch may write values that the condition
            # reads.
            asked_once = _core.reads_memory(condition)
            decided = _core.var("condition", "bool") if asked_once else condition
            branches = _core.make_seq(
                [
                    _core.make_if(decided, then),
                    _core.make_if(_core.logical_not(decided), otherwise),
                ]
            )
            if asked_once:
                branches = _core.make_let(decided, condition, branches, _core.location())
            self._blocks[-1][-1] = branches
            self._last_if = None

        self._enter()
        return WithScope(None, close)

    def likely(self, expr: Any) -> Expr:
        """Return the condition; the hint has no effect."""
        return likely(expr)

    # -- For the rest of a block.

    def let(self, var_name: str, value: Any) -> Expr:
        """Bind a value to a variable for the rest of the block, and return the variable.

        Parameters
        ----------
        var_name : str
            The name used in kernels.
        value : Expr
            The value, which is computed once, here.
        """
        value = _core.to_expr(value)
        var = _core.var(var_name, value.dtype)
        where = _core.location()
        self._open(lambda body: _core.make_let(var, value, body, where))
        return var

    def allocate(
        self,
        dtype: DType,
        shape: Any,
        name: str = "buf",
        axis_separators: Any = None,
        scope: str = "",
    ) -> BufferVar:
        """Allocate memory for the rest of the block.

        Parameters
        ----------
        dtype : str
            The type of an element.
        shape : int or sequence of int
            Extents: constants; in global memory, also expressions of symbols.
        name : str
            The name used in messages and kernels.
        scope : str
            ``local`` to each thread, ``shared`` by a block, or ``global`` outside thread axes; by
            default local inside thread axes, global outside.
        """
        if isinstance(axis_separators, str):
            scope = axis_separators
        scope = scope or ("local" if self._threads else "global")
        extents = list(shape) if isinstance(shape, (list, tuple)) else [shape]
        var = BufferVar(self, _core.allocated_buffer(dtype, extents, name, scope))
        self._open(lambda body: _core.make_allocate(var._buffer, body))
        return var

    def counters(self, count: Any, name: str = "counters") -> Buffer:
        """Allocate counters of groups of blocks for the rest of the block, outside thread axes.

        Parameters
        ----------
        count : int or Expr
            The number of groups.
        name : str
            The name used in messages and kernels.
        """
        counters = _core.allocated_counters(count, name)
        self._open(lambda body: _core.make_allocate(counters, body))
        return counters

    def last_block(self, counters: Buffer, group: Any, count: int) -> WithScope:
        """Open a block that runs once for a group of blocks of threads.

        The block of threads that comes here last runs it: there, its threads see what all threads
        of the group wrote before. All threads of all blocks of the group come here, each once.

        Parameters
        ----------
        counters : Buffer
            Made by :meth:`counters`; nothing else uses them.
        group : Expr or int
            The number of the group, which is equal for all threads of a block.
        count : int
            Blocks of threads of a group.

        Raises
        ------
        TVMError
            TL1020, also a ValueError, where threads may not come here, or several times. Building
            raises TL3013 for targets without ``-device_fence=1``.
        """
        if not isinstance(counters, Buffer) or not isinstance(count, int):
            _refuse(
                f"last_block is given {kind_of(counters)} and {kind_of(count)}",
                "give the result of counters, and the number of blocks of a group",
            )
        where = _core.location()
        threads = self._threads

        def close() -> None:
            self._threads = threads
            self.emit(_core.make_last_block(counters, group, count, self._leave(), where))

        self._enter()
        return WithScope(None, close)

    def buffer_ptr(self, buf: Buffer) -> BufferVar:
        """Return the elements of a buffer passed to ``fcompute``."""
        return BufferVar(self, buf)

    def pointer(self, content_type: str, name: str = "ptr", scope: str = "") -> NoReturn:
        """Refused: a free pointer would not point to any memory."""
        del content_type, scope
        _refuse(f"pointer('{name}') would point to no memory", "use buffer_ptr, or allocate")

    def scope_attr(self, node: Any, attr_key: str, value: Any) -> None:
        """Set an attribute for the rest of the block.

        Parameters
        ----------
        node : IterVar or BufferVar
            A thread axis, or memory that was allocated just before.
        attr_key : str
            ``thread_extent`` and ``virtual_thread``: the block runs on that many threads.
            ``storage_scope``: the scope of the memory. Pragmas are ignored, except
            ``pragma_import_c``, which is refused: C text belongs to a schedule.
        value
            The number of threads, or the name of a scope.

        Raises
        ------
        TVMError
            TL1020, also a ValueError, for another attribute, for threads of a value that is not a
            thread axis, and for the scope of memory that is already in use.
        """
        if attr_key in ("thread_extent", "virtual_thread"):
            if not isinstance(node, IterVar):
                _refuse(
                    f"{attr_key} is applied to {kind_of(node)}",
                    "apply it to an axis made by te.thread_axis",
                )
            self._threads += 1
            where = _core.location()
            self._open(lambda body: _core.make_thread_for(node, value, body, where))
        elif attr_key == "storage_scope":
            self._move(node, value.value if isinstance(value, StringImm) else value)
        elif attr_key == "pragma_import_c":
            _refuse(
                "pragma_import_c is applied to a statement",
                'give it to the schedule: s[T].pragma(axis, "import_c", text)',
            )
        elif not attr_key.startswith("pragma_"):
            _refuse(
                f"there is no attribute '{attr_key}'",
                "use thread_extent, virtual_thread, storage_scope or a pragma",
            )

    def _move(self, memory: Any, scope: str) -> None:
        if not isinstance(memory, BufferVar):
            _refuse(
                f"storage_scope is applied to {kind_of(memory)}",
                "apply it to the result of allocate",
            )
        if memory._used:
            _refuse("storage_scope is applied to memory in use", "call it directly after allocate")
        old = memory._buffer
        memory._buffer = _core.allocated_buffer(old.dtype, list(old.shape), old.name, scope)


def create() -> IRBuilder:
    """Return an empty builder."""
    return IRBuilder()


__all__ = ["BufferVar", "IRBuilder", "create"]
check_calls(globals())
check_methods(IRBuilder)
