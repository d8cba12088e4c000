"""tests/kernel_diff.py must notice each difference and compile what it claims to."""

import kernel_corpus
import kernel_diff
import kernel_dump
import pytest
from kernel_corpus import Program, Way

SCHEDULE = """program main stage=te target="opencl"
  param Y
  param X

placeholder X: float32[8]

compute Y(i < 8): float32 = X[i] + 1.0
  output
  bind i threadIdx.x
"""


def folders(tmp_path, before, after):
    """Write two folders of files, given as {name: text}."""
    both = []
    for name, files in (("before", before), ("after", after)):
        folder = tmp_path / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text)
        both.append(folder)
    return both


def test_equal_folders(tmp_path):
    before, after = folders(tmp_path, {"a.txt": "x\n"}, {"a.txt": "x\n"})
    found = kernel_diff.compare(before, after)
    assert not found
    assert str(found) == "1 equal"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a.txt": "x"}, {"a.txt": "y"}, "0 equal, 1 changed"),
        ({"a.txt": "x", "b.txt": "x"}, {"a.txt": "x"}, "1 equal, 1 missing"),
        ({}, {"a.txt": "x"}, "0 equal, 1 added"),
    ],
)
def test_differences(tmp_path, before, after, expected):
    found = kernel_diff.compare(*folders(tmp_path, before, after))
    assert found
    assert str(found) == expected


def test_long_differences_are_cut(tmp_path):
    both = folders(tmp_path, {"a.txt": "x\n" * 100}, {"a.txt": "y\n" * 100})
    lines = kernel_diff.unified(*both, "a.txt").splitlines()
    assert lines[0] == "--- before/a.txt"
    assert lines[3] == "-x"
    assert len(lines) == kernel_diff.SHOWN_LINES + 1
    assert lines[-1] == "... 143 more lines of this difference"


def test_a_part_is_kept_only_when_it_is_whole(tmp_path):
    with pytest.raises(KeyboardInterrupt), kernel_diff.whole_or_not(tmp_path / "part"):
        raise KeyboardInterrupt
    assert not (tmp_path / "part").exists()
    with kernel_diff.whole_or_not(tmp_path / "part") as folder:
        (folder / "a.txt").write_text("x")
    assert [file.name for file in (tmp_path / "part").iterdir()] == ["a.txt"]


def test_a_corpus_is_read_as_it_was_written(tmp_path):
    programs = [
        Program("one", "program one stage=te\n"),
        Program("two", "é\n", (Way("opt", target="opencl -contract=0"), Way(checked=True))),
    ]
    kernel_corpus.write(iter(programs), tmp_path)
    assert kernel_corpus.read(tmp_path) == programs


def test_programs_of_tests(tmp_path):
    """Each program occurs once, without comments; its targets include those of its RUN lines."""
    lit = tmp_path / "tests/lit/passes"
    lit.mkdir(parents=True)
    (lit / "a.tl").write_text(
        '// RUN: texloom-opt %s "--target=opencl -contract=0" \\\n// RUN:   --split-input-file\n'
        "program p stage=loops  // CHECK\n// -----\nprogram q stage=te\n"
    )
    (tmp_path / "tests/a_test.cc").write_text(
        'const char* kText = R"(program q stage=te\n)";\nconst char* kOther = R"(other)";\n'
    )
    found = {each.name: each for each in kernel_corpus.programs_of_tests(tmp_path)}
    assert list(found) == ["tests_lit_passes_a_0", "tests_lit_passes_a_1"]
    loops, schedule = found.values()
    assert loops.text == "program p stage=loops\n"
    assert [way.target for way in schedule.ways] == ["", "opencl -contract=0"]
    assert len(loops.ways) == 5


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("// RUN: texloom-opt %s --pass=x", []),
        ("// RUN: texloom-opt %s --target=opencl", ["opencl"]),
        ("// RUN: texloom-opt %s --target='opencl -a=1' | f", ["opencl -a=1"]),
        ('// RUN: texloom-opt %s --target="opencl -a=1"', ["opencl -a=1"]),
        ('// RUN: texloom-opt %s "--target=opencl -a=1"', ["opencl -a=1"]),
        ("// RUN: texloom-opt %s \\\n// RUN:   --target='opencl -a=1'", ["opencl -a=1"]),
    ],
)
def test_targets_of_run_lines(line, targets):
    assert kernel_corpus.run_targets(line) == targets


LISTED = """build_loops      te         -> loops      make the loop nests
pipeline_loops   loops      -> loops      run fills ahead
flatten_storage  loops      -> flattened  make linear offsets
split_kernels    flattened  -> kernels    make kernels
share_texels     kernels    -> kernels    read a texel once
legalize         kernels    -> legalised  bring kernels into a form, in these steps:
legalize.a       kernels    -> legalised  a step
"""


@pytest.mark.parametrize(
    ("stage", "passes"),
    [
        ("te", [("kernels", ["lower"])]),
        (
            "loops",
            [
                ("loops", ["pipeline_loops"]),
                ("flattened", ["flatten_storage"]),
                ("kernels", ["split_kernels", "share_texels"]),
            ],
        ),
        ("kernels", [("kernels", ["share_texels"])]),
        ("legalised", []),
    ],
)
def test_passes_that_are_left_to_run(stage, passes):
    assert kernel_dump.passes_from(stage, LISTED) == passes


def test_the_last_pass_of_lower():
    assert kernel_dump.last_pass(["lower"], LISTED) == "share_texels"
    assert kernel_dump.last_pass(["a", "b"], LISTED) == "b"


def test_messages_are_told_by_their_codes():
    told = (
        "error[TL6001]: words\n  help: x\n// after a\nprogram p\n  x\n"
        "// after b\nprogram q\nwarning[TL4002]: words\n  help: z\n"
    )
    text = kernel_dump.without_words(told, {"a": "loops", "b": "kernels"})
    assert text == "TL6001\n// stage loops\nprogram p\n  x\n// stage kernels\nprogram q\nTL4002"


def test_batches():
    """Programs of one stage, target and kind of target go to one process."""
    programs = [
        Program("a", "program a stage=te\n", (Way(), Way("opt"))),
        Program("b", "program b stage=kernels\n", (Way("opt"), Way("opt", target="opencl -x=1"))),
        Program("c", "program c stage=kernels\n", (Way("opt"),)),
        Program("d", 'program d stage=te target="metal -msl=3.1"\n', (Way("opt"),)),
    ]
    found = kernel_dump.batches(programs, opt_only=False)
    assert [(each.name, [program.name for program in each.programs]) for each in found] == [
        ("opt_te_.0", ["a"]),
        ("opt_kernels_.0", ["b", "c"]),
        ("opt_kernels_opencl_x_1.0", ["b"]),
        ("opt_te_metal.0", ["d"]),
    ]


def test_ways_without_the_package():
    """Ways with index checks are left out: texloom-opt cannot insert checks."""
    program = Program("p", SCHEDULE, (Way(), Way(checked=True), Way("opt", target="opencl")))
    assert kernel_dump.ways_of_opt(program) == [Way("opt"), Way("opt", target="opencl")]


def test_what_the_package_makes():
    """The package's output has the program, the launch plan and the source."""
    text = kernel_dump.compiled_by_package(Program("p", SCHEDULE), Way())
    sections = [line[5:] for line in text.splitlines() if line.startswith("==== ")]
    assert sections == ["program", "launch plan", "layouts", "kernel main_kernel0"]
    assert "launch main_kernel0(X, Y) grid=(1, 1, 1) block=(8, 1, 1)" in text
    assert "Y[threadIdx_x] = X[threadIdx_x] + 1.0f;" in text


def test_refusals_have_codes_alone():
    program = Program("p", SCHEDULE.replace("bind i threadIdx.x", "vectorize j"))
    assert kernel_dump.compiled_by_package(program, Way()) == "==== refused\nTL6002\n"


def test_operators_are_programs():
    names = [each.name for each in kernel_corpus.operators() if each.name.startswith("conv2d_nhwc")]
    assert len(names) == 3 * 12


def test_every_target_has_operators():
    drawn = [kernel_corpus.targets_of(number) for number in range(7)]
    assert set().union(*drawn) == set(kernel_corpus.TARGETS)
    assert all(len(set(each)) == 3 for each in drawn)
