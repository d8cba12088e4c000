// Docstrings of the directives, in numpy style: of methods of Stage, then of Schedule.
#pragma once

namespace texloom::python::docs {

inline constexpr const char* kSplit = R"(Split an axis into two nested loops.

The axis becomes ``outer * extent(inner) + inner``. If the factor does not divide the extent, a
condition skips the indices past the end.

Parameters
----------
parent : IterVar
    A loop of this stage.
factor : int, optional
    The extent of the inner loop.
nparts : int, optional
    The extent of the outer loop. Exactly one of `factor` and `nparts` is given.
exact : bool
    Whether the inner loop has `factor` iterations even if the axis is shorter, so that stages
    attached outside of it compute whole tiles; by default it is as long as the axis then.

Returns
-------
(IterVar, IterVar)
    The outer and the inner loop, which take the place of the axis.

Raises
------
TVMError
    TL2004 unless exactly one positive constant is given, TL2005 if the axis is not a loop of this
    stage, TL2016 if it is bound or tensorized.
)";

inline constexpr const char* kTile = R"(Split two axes and order the parts: rectangles of a plane.

Parameters
----------
x_parent, y_parent : IterVar
    Two loops of this stage.
x_factor, y_factor : int
    The extents of the inner loops.

Returns
-------
(IterVar, IterVar, IterVar, IterVar)
    The loops in their new order: outer x, outer y, inner x, inner y.

Raises
------
TVMError
    As :meth:`Stage.split` and :meth:`Stage.reorder`. A refused call changes nothing.
)";

inline constexpr const char* kFuse =
    R"(Join adjacent axes into one, as ``outer * extent(inner) + inner``.

Parameters
----------
args : IterVar or list of IterVar
    Loops of this stage that are next to one another. Without any, a new outermost loop of extent 1
    is added, to be bound to a thread.

Returns
-------
IterVar
    The fused loop.

Raises
------
TVMError
    TL2009 for axes that are not adjacent, TL2005 if one is not a loop of this stage, TL2016 if one
    is bound or tensorized.
)";

inline constexpr const char* kReorder = R"(Put loops into this order, outermost first.

The named loops exchange their positions; all others keep theirs.

Parameters
----------
args : IterVar or list of IterVar
    Distinct loops of this stage.

Raises
------
TVMError
    TL2008 if an axis is named twice, TL2005 if one is not a loop of this stage.
)";

inline constexpr const char* kBind = R"(Run the iterations of a loop on threads or blocks.

Parameters
----------
ivar : IterVar
    A loop of this stage.
thread_ivar : IterVar
    An axis made by ``te.thread_axis``: ``blockIdx.x``, ``threadIdx.x``, ``vthread``, ... Axes with
    one tag are one index of a kernel, and their extents must agree.

Warns
-----
TexloomWarning
    TL2003 if the loop was bound before.

Raises
------
TVMError
    TL2005 if the axis is not a loop of this stage, TL2006 for what is not a thread axis,
    TL2014 for a reduction axis that cannot be bound. At lower, TL3001 for different extents of
    one tag and TL3015 for two loops of a stage that are bound to one tag.
)";

inline constexpr const char* kVectorize =
    R"(Compute the iterations of a loop as the lanes of one vector.

Parameters
----------
var : IterVar
    A loop of this stage, the innermost one of constant extent.

Warns
-----
TexloomWarning
    TL3021 if the loop stays serial, with the reason.

Raises
------
TVMError
    TL2005 if the axis is not a loop of this stage, TL2010 for an axis of a reduction; at lower,
    TL3002 for an extent that is not constant.
)";

inline constexpr const char* kUnroll = R"(Copy the body for each iteration of a loop.

Arrays in ``local`` can then be kept in registers, because their indices become constants.

Parameters
----------
var : IterVar
    A loop of this stage. A loop whose extent is not constant stays a loop.

Raises
------
TVMError
    TL2005 if the axis is not a loop of this stage.
)";

inline constexpr const char* kParallel = R"(Run the iterations of a loop at once, on a processor.

The outermost parallel loops of a stage become its grid if the target is a processor and no stage is
bound to threads. Otherwise the loop stays serial: on a GPU, bind it to a thread axis.

Parameters
----------
var : IterVar
    A loop of this stage.

Warns
-----
TexloomWarning
    TL3021, at lower, if the loop stays serial.
)";

inline constexpr const char* kPragma = R"(Annotate a loop.

Parameters
----------
var : IterVar
    A loop of this stage.
pragma_type : str
    ``auto_unroll_max_step`` (a number of stores: loops inside are unrolled up to it),
    ``unroll_explicit``, ``import_c`` (C text with the functions that ``tir.call_extern`` calls),
    ``nontemporal`` (on processors, the stage's vectors are stored past the caches), or
    ``unroll`` and ``vectorize``, which are the directives. Other keys are kept without effect.
pragma_value : optional
    A number, a bool or a string.

Raises
------
TVMError
    TL2005 if the axis is not a loop of this stage; at lower, TL2034 for an invalid value.
)";

inline constexpr const char* kComputeAt =
    R"(Compute this stage inside a loop of a stage that reads it.

At each iteration, the part that the loop's body reads is computed. In ``shared`` memory the
part is what a block of threads reads, in ``local`` memory what one thread reads.

Parameters
----------
parent : Stage
    The stage that reads this one, directly or through others that are computed inside the loop.
scope : IterVar
    A loop of `parent`.

Raises
------
TVMError
    TL2013 for a loop of this stage itself, TL2005 if the axis is not a loop of `parent`, TL2015
    for a placeholder. At lower, TL3005 if a reader is outside the loop, TL3014 for stages
    attached in a cycle, TL3017 for an output.
)";

inline constexpr const char* kPipeline =
    R"(Compute this stage ahead of the loop that it is attached to.

The loop then uses one part while the next ones are fetched; each part in flight has memory of its
own.

Parameters
----------
stages : int
    The number of parts in flight, 2 or 3: the stage is computed ``stages - 1`` iterations before
    the one that reads it.
asynchronous : bool
    Copy to shared memory without registers in between, up to 8 parts in flight. Targets that have
    such copies are NVIDIA's with ``-matrix_unit=mma_sync``; others copy at once.

Raises
------
TVMError
    TL2025 for another number and for a stage that cannot be computed ahead, such as a reduction;
    at lower, TL3025 for a loop that does not allow it.
)";

inline constexpr const char* kComputeInline = R"(Write the stage's expression into its readers.

Raises
------
TVMError
    TL2012 for a stage that is not a single expression, such as a reduction; TL2015 for a
    placeholder; at lower, TL3017 for an output.
)";

inline constexpr const char* kComputeRoot =
    R"(Compute the stage separately, before its readers; the default.

Raises
------
TVMError
    TL2015 for a placeholder.
)";

inline constexpr const char* kSetScope =
    R"(Set the memory scope and the layout of the stage's result.

For an input or an output, this is where the caller's array must be.

Parameters
----------
scope : str
    ``global``, ``shared``, ``local``, ``texture``, ``texture:weight`` or ``texture:nhwc``; empty to
    have it inferred from the threads that compute the stage.
layout : str
    A layout that replaces the scope's own mapping, ``"texture[(h, w, c) -> rows=(h),
    cols=(c/4, w), lanes=c%4]"`` or ``"buffer[...]"``; the names stand for the axes, in order.

Raises
------
TVMError
    TL2001 for an unknown scope, TL2017 for a layout that does not fit, TL3009 for an input in
    shared or local memory; at lower, TL3009 if the readers cannot see the memory.
)";

inline constexpr const char* kStorageAlign = R"(Space the indices of an axis apart in memory.

The distance from one index of the axis to the next becomes ``k * factor + offset`` elements,
for the least possible k; in ``shared`` memory this avoids conflicts of banks.

Parameters
----------
axis : IterVar
    An axis of the stage's operation.
factor, offset : int
    Numbers of elements.

Raises
------
TVMError
    TL2032 if no extent of the following axis gives such a distance, TL2005 for another axis.
)";

inline constexpr const char* kDoubleBuffer =
    R"(Compute the next iteration's values while those of this one are read.

The stage gets two copies of its memory.

Raises
------
TVMError
    TL2033 for a stage that cannot be computed ahead of its readers, such as an output.
)";

inline constexpr const char* kStorePredicate =
    R"(Choose the thread that stores a result which several have.

Parameters
----------
predicate : Expr
    A condition on thread axes. The first thread for which it holds stores the result; by default it
    is the first thread.

Raises
------
TVMError
    TL2031 for a value that is not a condition on thread axes; at lower, for a condition on threads
    that compute different elements.
)";

inline constexpr const char* kCacheRead =
    R"(Copy a tensor into a memory scope for some of its readers.

Parameters
----------
tensor : Tensor
    The tensor to copy.
scope : str
    As for :meth:`Stage.set_scope`.
readers : Tensor, Operation or list of them
    The operations that read the copy instead of the tensor.
layout : str
    As for :meth:`Stage.set_scope`.

Returns
-------
Tensor
    The copy. Its stage is scheduled like any other.

Raises
------
TVMError
    TL2001 for an unknown scope, TL2002 for a reader that does not read the tensor, TL2007 for a
    tensor that is not in the schedule, TL2017 for a layout that does not fit.
)";

inline constexpr const char* kCacheWrite =
    R"(Compute a tensor in a memory scope, and copy it out from there.

Parameters
----------
tensor : Tensor or list of Tensor
    A tensor; or a list of all outputs of one operation.
scope : str
    As for :meth:`Stage.set_scope`.
layout : str
    As for :meth:`Stage.set_scope`.

Returns
-------
Tensor or list of Tensor
    What is computed in the scope, with the axes of the reduction; a list for a list. The stage
    of `tensor` copies it. If loops of the tensor were split, fused or reordered before, they
    are the axes of the cache, and the tensor gets its original loops back.

Raises
------
TVMError
    TL2001 for an unknown scope, TL2007 for a tensor that is not in the schedule, TL2011 for tensors
    that are not all outputs of one operation, TL2017 for a layout that does not fit.
)";

inline constexpr const char* kRfactor =
    R"(Compute partial results of a reduction as a tensor of their own.

Parameters
----------
tensor : Tensor
    The result of a reduction.
axis : IterVar
    A loop of the reduction, which becomes an axis of the partial results.
factor_axis : int
    The position of that axis; negative positions count from the end.

Returns
-------
Tensor or list of Tensor
    The partial results, which `tensor` then reduces over the axis; a list for a reduction of
    several values.

Raises
------
TVMError
    TL2030 for an axis that is not one of the reduction, and for an invalid position.
)";

inline constexpr const char* kMatrices =
    R"(Write a sum of products as a product of two matrices, which have stages of their own.

The axes of each list become one axis; the last of them varies fastest. Data axes in neither list
number matrices. Factors of float16 and bfloat16 that the sum converts to float32 keep their type;
stages that are inlined become part of the factors.
The stage of `tensor` then copies the sums out of the product; it may be inlined.

Parameters
----------
tensor : Tensor
    A ``te.sum`` of ``a * b``, where `a` depends on no column and `b` on no row, of constant extents.
rows, columns : list of IterVar
    Data axes.
steps : list of IterVar
    All reduction axes, in the order in which they become one.
multiples : tuple of int
    Zeros after the last row, column and step make their numbers multiples of these.
row_extents : list of int, optional
    How many values of each axis of `rows` count, if nothing reads the others.
left_transposed, right_transposed : bool, optional
    Whether a factor is stored as its transpose; by default, if its tensor has that axis last.

Returns
-------
left, right, product : Tensor
    ``[..., rows, steps]``, ``[..., steps, columns]`` and ``[..., rows, columns]``; transposed
    factors have their last two axes exchanged.

Raises
------
TVMError
    TL2035 for another computation, or if a loop of its stage is scheduled already; TL2005 for axes
    of other stages.
)";

}  // namespace texloom::python::docs
