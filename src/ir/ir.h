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
// image, known to be zero or two constants of the kernel. Scope strings such as
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
// interpret/interpret.h says what programs mean by running them, and reports races, divergent
// barriers, accesses out of bounds and the use of undefined values. Of stage te it runs the
// computes as they stand (lower/unscheduled.h): the oracle for what schedules make of them.
//
// Every node knows the line of the user's program it came from; passes hand it on.
#pragma once

#include "ir/buffer.h"
#include "ir/expr.h"
#include "ir/program.h"
#include "ir/stmt.h"
#include "ir/tensor.h"
#include "ir/visit.h"
