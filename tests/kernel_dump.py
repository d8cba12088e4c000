"""Compile a corpus (kernel_corpus.py) with one revision of the compiler, and keep what it makes.

Of each program that the Python package compiles, and each way, FOLDER/NAME.N.txt is written: the
text of the program at stage `kernels`, the launch plan and the sources of its kernels, without
source locations. If the program is refused, the file has the codes of the diagnostics, not their
words. What texloom-opt makes of programs of one stage is in FOLDER/opt_STAGE_TARGET.N.txt, some
programs in a file: the sources of each, then the texts of all that were reached, and the codes.

python tests/kernel_dump.py CORPUS FOLDER TEXLOOM_OPT SHARD SHARDS [--opt-only]

With --opt-only everything is compiled by texloom-opt, and nothing needs the Python package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernel_corpus import HEAD, Program, Way, read

LEGALIZE = "legalize"  # the pass of texloom-opt after which kernels are printed as OpenCL C
LAST_STAGE = "kernels"  # to which `lower` leads
CODE = re.compile(r"\b(?:error|warning)\[(TL\d{4})\]")
ROW = re.compile(r"^(\w+)\s+(\w+)\s*->\s*(\w+)\s", re.MULTILINE)
PRINTED = re.compile(r"^// after ([\w.]+)\n", re.MULTILINE)
MESSAGE = re.compile(r"^(?:error\[|warning\[|texloom-opt: |internal error)", re.MULTILINE)
UNNAMED = re.compile(r"\W+")
DIVIDER = "// -----\n"
TOGETHER = 24  # programs of a process
SECONDS = 1200  # that it may take, on a busy machine


def compiled_by_package(program: Program, way: Way) -> str:
    """What the Python package makes of a schedule."""
    import texloom

    sections = []
    try:
        parsed = texloom.parse(program.text, f"{program.name}.tl")
        if not way.checked:
            parsed = texloom.lower(parsed)
            sections.append(("program", str(parsed)))
        function = texloom.build(parsed, checked=way.checked)
        sections.append(("launch plan", plan_of(str(function))))
        sections.append(("layouts", "\n".join(function.argument_layouts)))
        sections += [(f"kernel {kernel.name}", kernel.source) for kernel in function.kernels]
    except texloom.TVMError as error:
        codes = [d.code for d in getattr(error, "diagnostics", [])]
        sections.append(("refused", " ".join(codes) or type(error).__name__))
    return text_of(sections)


def plan_of(text: str) -> str:
    """The first part of a program of kernels, without its head, which names the stage."""
    return text.partition("\n\n")[0].partition("\n")[2]


@dataclass(frozen=True)
class Batch:
    """Programs that one process of texloom-opt compiles."""

    name: str
    stage: str
    target: str
    programs: tuple[Program, ...]


def batches(programs: list[Program], *, opt_only: bool) -> list[Batch]:
    """What is compiled by texloom-opt."""
    groups: dict[tuple[str, str], list[Program]] = {}
    for program in programs:
        head = HEAD.search(program.text)
        assert head is not None, program.name
        for way in ways_of_opt(program) if opt_only else program.ways:
            if way.tool == "opt":
                groups.setdefault((head[1], way.target), []).append(program)
    return [
        Batch(f"opt_{stage}_{UNNAMED.sub('_', target)}.{start}", stage, target, tuple(chunk))
        for (stage, target), all_of_it in groups.items()
        for start in range(0, len(all_of_it), TOGETHER)
        if (chunk := all_of_it[start : start + TOGETHER])
    ]


def compiled_by_opt(batch: Batch, opt: str) -> str:
    """What texloom-opt makes of programs of one stage, by all passes that are left to run."""
    groups = passes_from(batch.stage, pass_list(opt))
    passes = [name for _, names in groups for name in names]
    if passes:  # else they are legal already
        passes.append(LEGALIZE)
    stages = {last_pass(names, pass_list(opt)): stage for stage, names in groups}
    texts = run_opt(opt, batch, passes, stages)
    if batch.stage == LAST_STAGE:
        texts += run_opt(opt, batch, [LEGALIZE], {})
    return text_of(texts)


def last_pass(names: list[str], listed: str) -> str:
    """The last pass that really runs: `lower` stands for all that lead to the last stage."""
    if names != ["lower"]:
        return names[-1]
    own = [name for name, _, after in ROW.findall(listed) if after == LAST_STAGE]
    return own[-1]


def passes_from(stage: str, listed: str) -> list[tuple[str, list[str]]]:
    """The stages up to that of kernels, each with the passes that lead there, or run in it."""
    if stage == "te":
        return [(LAST_STAGE, ["lower"])]
    groups: dict[str, list[str]] = {}
    for name, before, after in ROW.findall(listed):
        if before == stage and name != LEGALIZE:
            groups.setdefault(after, []).append(name)
            stage = after
    return list(groups.items()) if stage == LAST_STAGE else []


@cache
def pass_list(opt: str) -> str:
    """What --list-passes prints."""
    listed = subprocess.run([opt, "--list-passes"], check=True, capture_output=True, text=True)
    return listed.stdout


def run_opt(
    opt: str, batch: Batch, passes: list[str], stages: dict[str, str]
) -> list[tuple[str, str]]:
    """The OpenCL C of each program; the texts of all programs after some passes, and codes."""
    command = [opt, "-", "--emit=opencl", "--split-input-file", f"--pass={','.join(passes)}"]
    if stages:
        command.append(f"--print-after={','.join(stages)}")
    if batch.target:
        command.append(f"--target={batch.target}")
    text = DIVIDER.join(in_words_of(opt, program.text) for program in batch.programs)
    try:
        done = subprocess.run(
            command, input=text.encode(), check=False, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return [("not done", f"after {SECONDS} seconds")]
    parts = done.stdout.decode(errors="replace").split(DIVIDER)
    count = len(batch.programs)
    if count > 1 and (done.returncode not in (0, 1) or len(parts) != count):  # ended early
        each = (replace(batch, programs=(program,)) for program in batch.programs)
        return [section for one in each for section in run_opt(opt, one, passes, stages)]
    sections = [(program.name, part) for program, part in zip(batch.programs, parts, strict=True)]
    told = without_words(done.stderr.decode(errors="replace"), stages)
    return [*sections, (f"texts and codes, exit status {done.returncode}", told)]


def without_words(told: str, stages: dict[str, str]) -> str:
    """What --print-after prints, by stage, and the codes of diagnostics in between."""
    first, *parts = PRINTED.split(told)
    lines = [*CODE.findall(first)]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        program, *_ = MESSAGE.split(text, maxsplit=1)
        lines += [f"// stage {stages[name]}", program.rstrip(), *CODE.findall(text)]
    return "\n".join(lines)


def in_words_of(opt: str, text: str) -> str:
    """The program with the name of the last stage as this revision spells it."""
    spelled = "legalized" if re.search(r"-> legalized\b", pass_list(opt)) else "legalised"
    return re.sub(r"(\bstage=)legali[sz]ed\b", rf"\1{spelled}", text)


def ways_of_opt(program: Program) -> list[Way]:
    """Ways for texloom-opt alone: it makes the same of a schedule, but has no tests of indices."""
    ways = [Way("opt", target=way.target) for way in program.ways if not way.checked]
    return list(dict.fromkeys(ways))


def text_of(sections: list[tuple[str, str]]) -> str:
    """One file with a line in front of each section."""
    return "".join(f"==== {name}\n{text.rstrip()}\n" for name, text in sections)


def main() -> None:
    """Compile a shard of the corpus."""
    corpus, folder, opt, shard, shards, *options = sys.argv[1:]
    warnings.simplefilter("ignore")
    opt_only = "--opt-only" in options
    programs = read(Path(corpus))
    own = slice(int(shard), None, int(shards))
    for batch in batches(programs, opt_only=opt_only)[own]:
        print(batch.name, flush=True)  # the last line names what crashed
        keep(Path(folder), batch.name, compiled_by_opt(batch, opt))
    for program in [] if opt_only else programs[own]:
        print(program.name, flush=True)
        for number, way in enumerate(program.ways):
            if way.tool == "python":
                text = compiled_by_package(program, way)
                keep(Path(folder), f"{program.name}.{number}", text)


def keep(folder: Path, name: str, text: str) -> None:
    """Write a file."""
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
