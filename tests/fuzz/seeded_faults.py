"""Seeds miscompiles, each a change of one line, that the fuzzer must find.

.venv/bin/python tests/fuzz/seeded_faults.py [--only NAME ...] [--count 2000] [--jobs 1]

Each change is made in a copy of the checkout, which is rebuilt; then texloom_fuzz runs without
devices until a program fails. The script prints a table; the exit status tells whether all changes
were found. --jobs builds that many copies, each with all cores, and runs them in parallel.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tree_copy import ROOT, Fault, TreeCopy

SCHEDULE, LOWER, LEGALIZE = "src/schedule/", "src/lower/", "src/codegen/legalize/"

FAULTS = (
    Fault(
        "a guard against the end of an axis is dropped",
        SCHEDULE + "bounds/bounds.cc",
        "guard(IterKind::Data, index < own.end[i], own);",
        "",
    ),
    Fault(
        "one element too few is computed",
        SCHEDULE + "bounds/bounds.cc",
        "make_int(last - first + 1)};",
        "make_int(last - first + (first > 0 ? 0 : 1))};",
    ),
    Fault(
        "the tail of a split is not guarded",
        SCHEDULE + "bounds/axis_values.cc",
        "if (!arith::prove_equal(extents.at(split.outer) * inner, parent, {}))",
        "if (!arith::prove(extents.at(split.outer) * inner <= parent * 2, {}))",
    ),
    Fault(
        "the inner part of a fused axis takes the outer extent",
        SCHEDULE + "bounds/axis_values.cc",
        "values[fuse->inner] = floormod(fused, inner);",
        "values[fuse->inner] = floormod(fused, extents.at(fuse->outer));",
    ),
    Fault(
        "a region that is read with gaps is addressed without them",
        SCHEDULE + "bounds/strided_axis.cc",
        "place = place + floordiv(rest, d->stride) * below;",
        "place = place + rest * below;",
    ),
    Fault(
        "the condition of a reduction is dropped",
        LOWER + "build/build_loops.cc",
        "guards.push_back(accesses_.reads(reduce->condition, b));",
        "guards.push_back(make_bool(true));",
    ),
    Fault(
        "a reduction begins with another value",
        LOWER + "build/stage_accesses.cc",
        "return reads(reduce.init.empty() ? reduce.reducer.identities : reduce.init, b);",
        "return reads(reduce.reducer.identities, b);",
    ),
    Fault(
        "both halves of a doubled stage are one",
        LOWER + "build/build_loops.cc",
        "accesses_.use_slot(each, floormod(loop.var, 2));",
        "accesses_.use_slot(each, make_int(0));",
    ),
    Fault(
        "the last thread's part of a reduction is left out",
        LOWER + "build/thread_reduction.cc",
        "make_if(own < make_int(left - half)",
        "make_if(own < make_int(left - half - (left > 2 ? 1 : 0))",
    ),
    Fault(
        "columns and rows of a texel are swapped",
        LOWER + "loops/flatten_storage.cc",
        "return {position.col, position.row};",
        "return {position.row, position.col};",
    ),
    Fault(
        "the origin's words are swapped",
        LOWER + "loops/flatten_storage.cc",
        "return {moved(position.col, texture.origin.x), moved(position.row, texture.origin.y)};",
        "return {moved(position.col, texture.origin.y), moved(position.row, texture.origin.x)};",
    ),
    Fault(
        "all virtual threads use the copy of the first",
        LOWER + "loops/inject_virtual_threads.cc",
        "Exprs all{loop_.var};",
        "Exprs all{make_int(0)};",
    ),
    Fault(
        "no barrier between a read and a later write",
        LOWER + "barriers/collected_accesses.cc",
        "if (meet(reads, before.writes) || meet(writes, before.reads)) return true;",
        "if (meet(reads, before.writes)) return true;",
    ),
    Fault(
        "no barrier between two iterations",
        LOWER + "barriers/insert_barriers.cc",
        "if (threads_.empty()) forget_places(loop.var);\n"
        "      if (accesses.conflicts_with(pending_, overwritten_)) body = run(body);",
        "if (threads_.empty()) forget_places(loop.var);",
    ),
    Fault(
        "every thread stores what one should",
        LOWER + "kernels/kernel_builder.cc",
        "if (repeated) first = first &&",
        "if (repeated && !shared && false) first = first &&",
    ),
    Fault(
        "a quotient of another divisor is used again",
        LOWER + "kernels/hoist_divisions.cc",
        "[&](const Binding& b) { return equal(b.value, e); });",
        "[&](const Binding& b) { return equal(as<Binary>(b.value)->a, n.a); });",
    ),
    Fault(
        "the fill of a pipelined buffer is one iteration behind",
        LOWER + "loops/pipelined_fill.cc",
        "if (!is_shared()) return {filled(iteration + ahead_)};",
        "if (!is_shared()) return {filled(iteration + (ahead_ - 1))};",
    ),
    Fault(
        "a contracted difference is a sum",
        LOWER + "kernels/contract_fma.cc",
        "return make_fma(product->a, product->b, sum ? n.b : negated(n.b));",
        "return make_fma(product->a, product->b, n.b);",
    ),
    Fault(
        "lanes that are stored one by one are all the first",
        LEGALIZE + "split_lanes.cc",
        'const Expr value = named(lane(n.value, number(i)), "value");',
        'const Expr value = named(lane(n.value, number(0)), "value");',
    ),
    Fault(
        "half values that are computed in single precision are not rounded",
        LEGALIZE + "widen_storage.cc",
        "return is_widened(e->type) && !is_exact(e) ? rounded(rebuilt, e->type.element()) "
        ": rebuilt;",
        "return rebuilt;",
    ),
    Fault(
        "a floor division of a negative number rounds towards zero",
        LEGALIZE + "integer_divisions.cc",
        "return interval.min >= 0 && interval.bounded()",
        "return interval.min < 0 || interval.bounded()",
    ),
    Fault(
        "threads of a SIMD-group read a right factor as its transpose",
        LEGALIZE + "distribute_fragments.cc",
        "own == FragmentRole::Right ? at(k, column) : at(column, k)",
        "at(column, k)",
    ),
    Fault(
        "no barrier is placed between copies and the fragments that are loaded from them",
        LOWER + "barriers/collected_accesses.cc",
        "if (is_step) return note_part(e);",
        "if (is_step) return;",
    ),
)


FAILURE = re.compile(r"^seed (\d+): (.*)$", re.MULTILINE)
DONE = re.compile(r"^(\d+) programs", re.MULTILINE)


def find(fault: Fault, copy: TreeCopy, options: argparse.Namespace) -> bool:
    """Build, run, print a row, and revert the change."""
    source = copy.folder / fault.source
    right = source.read_text()
    begin = time.monotonic()
    source.write_text(fault.apply(right))
    try:
        copy.compile()
        numbers = ("--count", str(options.count), "--seed", str(options.seed))
        done = copy.fuzz(*numbers, "--no-device", "--first", "--no-reduce")
    except subprocess.CalledProcessError:
        print(f"| {fault.name} | does not compile, see {copy.folder}/build.log | | |", flush=True)
        return False
    finally:
        source.write_text(right)
    found, programs = FAILURE.search(done.stdout), DONE.search(done.stdout)
    after = programs[1] if programs else "?"
    what = f"{found[2][:70]} (seed {found[1]})" if found else "NOT FOUND"
    row = f"| {fault.name} | {fault.source} | {after} | {what} | {time.monotonic() - begin:.0f} s |"
    print(row, flush=True)
    return found is not None


def main() -> int:
    """Print the table; the exit status tells whether all faults were found."""
    parser = argparse.ArgumentParser(description="Run the fuzzer against seeded miscompiles.")
    parser.add_argument("--count", type=int, default=2000, help="programs for each at most (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (0)")
    parser.add_argument("--only", nargs="+", metavar="WORDS", help="those whose name has these")
    parser.add_argument("--jobs", type=int, default=1, help="copies of the checkout (1)")
    options = parser.parse_args()
    chosen = [f for f in FAULTS if not options.only or any(w in f.name for w in options.only)]
    copies: SimpleQueue[TreeCopy] = SimpleQueue()
    for number in range(options.jobs):
        copy = TreeCopy(ROOT / f"build/fuzz-copy{number}", "-O0")
        copy.update()
        copy.compile()
        copies.put(copy)
    print("| fault | in | programs | first failure | time |\n| --- | --- | --- | --- | --- |")

    def in_a_copy(fault: Fault) -> bool:
        copy = copies.get()
        try:
            return find(fault, copy, options)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(options.jobs) as pool:
        found = sum(pool.map(in_a_copy, chosen))
    print(f"\n{found} of {len(chosen)} found")
    return int(found < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
