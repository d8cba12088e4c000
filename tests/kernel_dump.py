"""Compiles a corpus (kernel_corpus.py) with one revision of the compiler and stores the output.

For each program that the Python package compiles, and each way, the script writes
FOLDER/NAME.N.txt: the text of the program at stage `kernels`, the launch plan and the kernel
sources, without source locations. If the program is refused, the file has the codes of the
diagnostics but not their messages. The output of texloom-opt for programs of one stage is in
FOLDER/opt_STAGE_TARGET.N.txt, several programs per file: the sources of each, then the texts of all
stages reached, and the codes.

python tests/kernel_dump.py CORPUS FOLDER TEXLOOM_OPT SHARD SHARDS [--opt-only]

With --opt-only, texloom-opt compiles everything and the Python package is not needed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernel_corpus import HEAD, UNNAMED, Program, Way, read

LEGALIZE = "legalize"  # the texloom-opt pass after which kernels are printed
LAST_STAGE = "kernels"  # the stage that `lower` produces
CODE = re.compile(r"\b(?:error|warning)\[(TL\d{4})\]")
ROW = re.compile(r"^(\w+)\s+(\w+)\s*->\s*(\w+)\s", re.MULTILINE)
PRINTED = re.compile(r"^// after ([\w.]+)\n", re.MULTILINE)
MESSAGE = re.compile(r"^(?:error\[|warning\[|texloom-opt: |internal error)", re.MULTILINE)
TARGET = re.compile(r'^program\b.* target="([^"]*)"', re.MULTILINE)
DIVIDER = "// -----\n"
TOGETHER = 24  # programs per process
SECONDS = 1200  # time limit of a process, on a busy machine


def compiled_by_package(program: Program, way: Way) -> str:
    """Return the output of the Python package for a schedule."""
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
    """Return the first part of a program of kernels, without its head, which names the stage."""
    return text.partition("\n\n")[0].partition("\n")[2]


@dataclass(frozen=True)
class Batch:
    """Programs that one process of texloom-opt compiles."""

    name: str
    stage: str
    target: str
    programs: tuple[Program, ...]
    kind: str = "opencl"  # the kind of target, given here or by the programs


def batches(programs: list[Program], *, opt_only: bool) -> list[Batch]:
    """Group the programs that texloom-opt compiles."""
    groups: dict[tuple[str, str, str], list[Program]] = {}
    for program in programs:
        head = HEAD.search(program.text)
        assert head is not None, program.name
        for way in ways_of_opt(program) if opt_only else program.ways:
            if way.tool == "opt":
                key = (head[1], way.target, kind_of(program, way))
                groups.setdefault(key, []).append(program)
    return [
        Batch(f"opt_{stage}_{name_of(target, kind)}.{start}", stage, target, tuple(chunk), kind)
        for (stage, target, kind), all_of_it in groups.items()
        for start in range(0, len(all_of_it), TOGETHER)
        if (chunk := all_of_it[start : start + TOGETHER])
    ]


def kind_of(program: Program, way: Way) -> str:
    """Return the first word of the way's target, or else the program's, or else the default."""
    own = TARGET.search(program.text)
    return (way.target or (own[1] if own else "opencl")).split()[0]


def name_of(target: str, kind: str) -> str:
    """Return a part of a file's name for programs of a kind that are compiled for a target."""
    named = target or ("" if kind == "opencl" else kind)
    return UNNAMED.sub("_", named)


def compiled_by_opt(batch: Batch, opt: str) -> str:
    """Return texloom-opt's output for programs of one stage, after all remaining passes."""
    groups = passes_from(batch.stage, pass_list(opt))
    passes = [name for _, names in groups for name in names]
    if passes:  # otherwise the programs are legalized already
        passes.append(LEGALIZE)
    stages = {last_pass(names, pass_list(opt)): stage for stage, names in groups}
    texts = run_opt(opt, batch, passes, stages)
    if batch.stage == LAST_STAGE:
        texts += run_opt(opt, batch, [LEGALIZE], {})
    return text_of(texts)


def last_pass(names: list[str], listed: str) -> str:
    """Return the last pass that runs; `lower` stands for all passes up to the last stage."""
    if names != ["lower"]:
        return names[-1]
    own = [name for name, _, after in ROW.findall(listed) if after == LAST_STAGE]
    return own[-1]


def passes_from(stage: str, listed: str) -> list[tuple[str, list[str]]]:
    """Return the stages up to `kernels`, each with the passes that lead to it or run in it."""
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
    """Return the output of --list-passes."""
    listed = subprocess.run([opt, "--list-passes"], check=True, capture_output=True, text=True)
    return listed.stdout


def run_opt(
    opt: str, batch: Batch, passes: list[str], stages: dict[str, str]
) -> list[tuple[str, str]]:
    """Return the sources of each program, then the texts after some passes and the codes."""
    command = [opt, "-", f"--emit={batch.kind}", "--split-input-file", f"--pass={','.join(passes)}"]
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
    if count > 1 and (done.returncode not in (0, 1) or len(parts) != count):  # it ended early
        each = (replace(batch, programs=(program,)) for program in batch.programs)
        return [section for one in each for section in run_opt(opt, one, passes, stages)]
    sections = [(program.name, part) for program, part in zip(batch.programs, parts, strict=True)]
    told = without_words(done.stderr.decode(errors="replace"), stages)
    return [*sections, (f"texts and codes, exit status {done.returncode}", told)]


def without_words(told: str, stages: dict[str, str]) -> str:
    """Return the output of --print-after by stage, with only the codes of the diagnostics."""
    first, *parts = PRINTED.split(told)
    lines = [*CODE.findall(first)]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        program, *_ = MESSAGE.split(text, maxsplit=1)
        lines += [f"// stage {stages[name]}", program.rstrip(), *CODE.findall(text)]
    return "\n".join(lines)


def in_words_of(opt: str, text: str) -> str:
    """Return the program with the last stage's name as this revision spells it."""
    spelled = "legalized" if re.search(r"-> legalized\b", pass_list(opt)) else "legalised"
    return re.sub(r"(\bstage=)legali[sz]ed\b", rf"\1{spelled}", text)


def ways_of_opt(program: Program) -> list[Way]:
    """Return the ways for texloom-opt alone, which inserts no index checks."""
    ways = [Way("opt", target=way.target) for way in program.ways if not way.checked]
    return list(dict.fromkeys(ways))


def text_of(sections: list[tuple[str, str]]) -> str:
    """Join sections into one text, with a heading line before each."""
    return "".join(f"==== {name}\n{text.rstrip()}\n" for name, text in sections)


def main() -> None:
    """Compile a shard of the corpus."""
    corpus, folder, opt, shard, shards, *options = sys.argv[1:]
    warnings.simplefilter("ignore")
    opt_only = "--opt-only" in options
    programs = read(Path(corpus))
    own = slice(int(shard), None, int(shards))
    for batch in batches(programs, opt_only=opt_only)[own]:
        print(batch.name, flush=True)  # so that the last line names the program that crashed
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
