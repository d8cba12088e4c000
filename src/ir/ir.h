// The intermediate representation of Texloom.
//
// A *tensor* (tensor.h) is a name for the values of an index space, computed by an operation of
// the te stage. A *schedule* says how; lowering turns both into a *program* (program.h):
// parameters, a body, later kernels. The body is a tree of *statements* (stmt.h) over
// *expressions* (expr.h). All of them are immutable and shared through counted handles; passes
// build new ones. `nodes.def` lists the kinds once, `visit.h` is the way to look at them.
//
// Memory is declared by *buffers* (buffer.h). A buffer has an element type, a logical shape, a
// memory scope (global, shared, local) and a *layout* (layout.h), the map from logical indices
// to rows, columns and lanes. A layout of the object kind Image2d makes the buffer a texture:
// it is accessed by TextureLoad and TextureStore alone, a whole texel of four lanes at a time,
// at column x and row y. A texture also has an *origin*, the place of its rectangle in its
// image, known to be zero or two constants of the kernel. What padding holds, where no element
// lies, is part of the layout: zeros, or nothing that is known. Scope strings such as
// "texture:weight" are spellings (scope.h) of a memory scope and a layout rule; only their
// parser knows them.
//
// A program passes through *stages*: Loops (N-d Load and Store, thread axes as For loops with a
// tag), Flattened (linear offsets and texels), Kernels (kernels and a launch plan) and
// Legalised (only what a backend's printer can spell). ir/verify.h holds the table of what each
// stage allows; lower/pipeline.h the table of passes.
//
// Rounding is explicit: an addition of a product is rounded twice, Fma once; no printer lets a
// device compiler choose. Index expressions are int32; the linear offset into a buffer is int64
// where int32 is not known to suffice.
//
// Index arithmetic does not overflow: no sum or product of signed integers of 32 or 64 bits leaves
// its type, unless a value of memory is in it (arith/linear.h says what counts as one), which
// wraps. Who makes a program sees to it: lower/check_schedule.h refuses what is known to overflow,
// and a variable of which nothing is known is taken to be far from the ends of its type. All that
// is proved of indices, and signed arithmetic in printed code, rests on it; so every rewriting
// keeps it, and makes no sum that may leave a type where none did before.
//
// interpret/interpret.h says what programs mean by running them, and reports races, divergent
// barriers, accesses out of bounds and the use of undefined values. Of stage te it runs
// computes, scans and externs as they stand (lower/unscheduled.h): the oracle for what schedules
// make of them.
//
// A program may call *foreign* functions, which are C text that it brings along (ForeignCall). What
// one does is not known; it is trusted to go no further than its pointers say. It is not
// interpreted.
//
// Every node knows the line of the user's program it came from; passes hand it on.
#pragma once

#include "ir/buffer.h"
#include "ir/equal.h"
#include "ir/expr.h"
#include "ir/program.h"
#include "ir/stmt.h"
#include "ir/tensor.h"
#include "ir/visit.h"
