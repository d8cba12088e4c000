"""The demo and the benchmarks, on small pictures and layers."""

import dataclasses
import sys

import numpy as np
import pytest
from PIL import Image

import texloom
from texloom_bench import __main__ as bench_command
from texloom_bench import compilation, growth
from texloom_bench import convolution as bench_convolution
from texloom_demo import __main__ as demo_command
from texloom_demo import console, convolution, filters, photographs, pictures, texture_cache
from texloom_demo.ocr import reading, rectangles

DEVICE = texloom.opencl(0)


@pytest.fixture
def small_photographs(monkeypatch):
    """Use corners of 21 x 30 pixels instead of whole pictures."""
    load = photographs.load

    def corner(name):
        whole = load(name)
        return dataclasses.replace(whole, pixels=whole.pixels[:, :, :21, :30].copy())

    monkeypatch.setattr(photographs, "load", corner)


@pytest.fixture
def wrong_reference(monkeypatch):
    """Make the SciPy reference wrong: one pixel becomes slightly larger."""

    def shifted(module):
        reference = module.conv2d_reference

        def one_wrong(*args, **keywords):
            result = reference(*args, **keywords)
            result[0, 0, 1, 1] += 1e-3
            return result

        monkeypatch.setattr(module, "conv2d_reference", one_wrong)

    shifted(convolution)
    shifted(bench_convolution)


@pytest.mark.usefixtures("small_photographs")
def test_demo_shows_every_step_and_writes_pictures(tmp_path, capsys):
    assert demo_command.main(["schedule", "--out", str(tmp_path / "new"), "--device", "0"]) == 0
    shown = capsys.readouterr().out
    for step in (
        "  bind ax0 blockIdx.x\n  bind ax1 threadIdx.x\n  vectorize ax2\n",
        "texture2d.store(X.texture, x=ax1, y=ax0",
        "launch main_kernel1(X.texture, Y) grid=(8, 1, 1) block=(8, 1, 1)",
        "write_imagef(X_texture",
        "read_imagef(X_texture",
        "4096 values, equal bit by bit",
        "3 channels in, 11 filters out",
        "1 channel in, 11 filters out",
        "medians of",
    ):
        assert step in shown
    assert shown.count(": right") == 4
    assert "WRONG" not in shown
    if DEVICE.info["type"] == "cpu":
        assert "emulated" in shown
    for name in ("astronaut", "page"):
        path = tmp_path / "new" / f"{name}.png"
        assert str(path) in shown
        with Image.open(path) as image:
            assert image.size[0] > 4 * 30
            assert image.size[1] > 3 * 21
        for suffix in ("texture.cl", "buffer.cl", "texture.tl", "buffer.tl"):
            assert (tmp_path / "new" / f"{name}_{suffix}").stat().st_size > 1000


@pytest.mark.usefixtures("small_photographs", "wrong_reference")
def test_demo_fails_when_a_pixel_is_wrong(tmp_path, capsys):
    assert demo_command.main(["schedule", "--out", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out.count(": WRONG") == 4
    assert "a result is wrong" in captured.err


def test_demo_fails_when_the_example_is_wrong(monkeypatch, capsys):
    monkeypatch.setattr(texture_cache.np, "count_nonzero", lambda _: 3)
    assert not texture_cache.show(console.PlainOutput(), DEVICE)
    assert "WRONG in 3 places" in capsys.readouterr().out


class _OwnEngine:
    """A fake engine that answers as for a page with one line of text, "ab"."""

    def prepare(self, network, shape):
        pass

    def run(self, network, x):
        if network == "detection":
            made = np.zeros((1, 1, *x.shape[2:]), "float32")
            made[:, :, 40:60, 100:300] = 0.9
            return made
        if network == "direction":
            return np.array([[0.9, 0.1]], "float32")
        scores = np.full((1, 6, 4), 0.05, "float32")
        for step, each in enumerate([1, 1, 0, 2, 2, 0]):
            scores[0, step, each] = 0.8
        return scores


def test_reading_finds_boxes_and_text():
    lines = reading.read(_OwnEngine(), np.ones((96, 320, 3), "float32"), 1.0, ["a", "b", "c"])
    assert [line.text for line in lines] == ["ab"]
    (box,) = (line.box for line in lines)
    # A box of 200 x 20 pixels grows on each side by 1.6 * area / perimeter, and one mask pixel.
    grown = 1.6 * 200 * 20 / (2 * (200 + 20))
    assert box.size[0] == pytest.approx(200 + 2 * grown, abs=3)
    assert box.size[1] == pytest.approx(20 + 2 * grown, abs=3)
    assert box.center == pytest.approx((200, 50), abs=1)


@pytest.mark.parametrize("angle", [0.0, 0.3, -0.5, np.pi / 2])
def test_the_smallest_rectangle_is_found(angle):
    wanted = rectangles.Rectangle((50.0, 40.0), (30.0, 8.0), angle)
    along = np.linspace(0, 1, 9)[:, None]
    corners = wanted.corners()
    points = np.concatenate(
        [a + along * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    )
    found = rectangles.around(points)
    np.testing.assert_allclose(found.size, wanted.size, atol=1e-9)
    np.testing.assert_allclose(found.center, wanted.center, atol=1e-9)
    np.testing.assert_allclose(np.sin(found.angle - angle), 0, atol=1e-9)
    assert rectangles.around(np.array([[0, 0], [1, 1], [2, 2]])) is None


@pytest.mark.nightly  # compiles three networks
@pytest.mark.parametrize(("device", "by"), [(["--device", "0"], "OpenCL device 0"), ([], "Native")])
def test_the_page_is_read_as_onnxruntime_reads_it(tmp_path, capsys, default_target, device, by):
    pytest.importorskip("rapidocr_onnxruntime")
    assert demo_command.main(["--out", str(tmp_path), *device]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(by)
    assert "Let us first determine markers of the coins and the" in shown
    assert "boxes: the same" in shown
    assert "text: the same" in shown
    with Image.open(tmp_path / "page_read.png") as image:
        assert image.size[0] == 2 * 384


def test_demo_chooses_the_processor_for_the_page_alone(monkeypatch, default_target):
    """Without LLVM it says so, and reads the page through OpenCL."""
    assert demo_command.choose_for_page(None)[0] == texloom.device("host:0")
    assert demo_command.choose_for_page(("opencl", 0))[0] == DEVICE
    assert demo_command.choose_for_schedule(None)[0].driver == "opencl"
    with pytest.raises(LookupError, match="OpenCL and Metal have them"):
        demo_command.choose_for_schedule(("host", 0))
    monkeypatch.setattr(demo_command, "has_llvm", lambda: False)
    device, described = demo_command.choose_for_page(None)
    assert device.driver == "opencl" and "LLVM plug-in is not built" in described
    with pytest.raises(LookupError, match="LLVM plug-in is not built"):
        demo_command.choose_for_page(("host", 0))


def test_demo_lists_devices(capsys, monkeypatch):
    monkeypatch.setattr(demo_command, "has_llvm", lambda: False)
    assert demo_command.main(["--list-devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    taken = [each for each in texloom.devices() if each["driver"] in ("opencl", "metal")]
    assert len(lines) == len(taken)
    assert f"0: {texloom.devices('opencl')[0]['name']} (" in "\n".join(lines)
    for number, each in enumerate(each for each in taken if each["driver"] == "metal"):
        assert any(line.startswith(f"metal:{number}: {each['name']} (") for line in lines)


@pytest.mark.parametrize("main", [demo_command.main, bench_command.main])
def test_a_missing_device_is_one_clear_line(main, capsys):
    assert main(["--device", "77"]) == 1
    assert "there is no OpenCL device 77" in capsys.readouterr().err
    with pytest.raises(SystemExit) as exit_:
        main(["--device", "-1"])
    assert exit_.value.code == 2


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt, 130, "interrupted"),
        (ModuleNotFoundError("No module named 'PIL'", name="PIL"), 1, "PIL is missing"),
        (FileExistsError(17, "File exists", "x"), 1, "File exists: 'x'"),
        (texloom.TVMError("error[TL5006]: nothing there"), 1, "TL5006"),
    ],
)
def test_what_ends_the_demo_is_said_without_a_traceback(
    monkeypatch, tmp_path, capsys, error, status, said
):
    def fail(*_):
        raise error

    monkeypatch.setattr(texture_cache, "show", fail)
    assert demo_command.main(["schedule", "--out", str(tmp_path)]) == status
    message = capsys.readouterr().err
    assert said in message
    assert "Traceback" not in message


def test_diagnostics_of_a_command_line_name_no_line_of_the_package():
    with pytest.raises(texloom.TVMError) as caught:
        texloom.target.Target("no such thing")
    from texloom_bench.device import message

    lines = message(caught.value).splitlines()
    assert lines[0].startswith("error[TL4003]: ")
    assert lines[-1].startswith("  help: ")
    assert ".py" not in "".join(lines)


def test_photographs_are_files_of_the_package():
    page, astronaut = photographs.load("page"), photographs.load("astronaut")
    assert page.pixels.shape == (1, 1, 191, 384)
    assert astronaut.pixels.shape == (1, 3, 512, 512)
    assert astronaut.pixels.dtype == np.float32
    assert (astronaut.pixels.min(), astronaut.pixels.max()) == (0, 1)
    with pytest.raises(FileNotFoundError, match="no elephant.png"):
        photographs.load("elephant")


def test_filters_are_what_their_names_say():
    bank = {f.name: f.coefficients() for f in filters.FILTERS}
    assert len(bank) >= 8
    ramp = np.add.outer(-np.arange(3), 10 * np.arange(3))  # brighter upwards and to the right
    responses = {name: float((kernel * ramp).sum()) for name, kernel in bank.items()}
    assert responses["Sobel 0° (rightwards)"] == 80
    assert responses["Sobel 90° (upwards)"] == 8
    assert responses["Laplacian"] == responses["Laplacian, 8 neighbors"] == 0
    for f in filters.FILTERS:
        total = float(f.coefficients().sum())
        assert total == pytest.approx(1 if f.shows == "brightness" else 0, abs=1e-6)
    assert filters.weights(3).shape == (len(bank), 3, 3, 3)
    np.testing.assert_allclose(filters.weights(3).sum(axis=1), filters.weights(1)[:, 0], rtol=1e-6)


def test_zero_is_gray_and_the_border_has_no_say():
    response = np.zeros((9, 9), dtype=np.float32)
    response[4, 4], response[0] = -2, 100
    low, high = pictures.change_range(response)
    assert low == -high
    assert high < 2.1
    levels = pictures.stretched(np.array([low, 0, high, 2 * high]), low, high)
    assert levels.tolist() == [0, 128, 255, 255]


def test_accuracy_holds_each_value_against_its_own_bound():
    bound = np.array([1.0, 0.25, 0.0])
    reference = np.array([10.0, 20.0, 30.0])
    good = convolution.accuracy(reference + [0.5, -0.2, 0], reference, bound)
    assert good.holds
    assert (good.largest_error, good.bound_there) == (0.5, 1.0)
    assert good.largest_share == pytest.approx(0.8)
    for wrong in ([0, 0.26, 0], [0, 0, 1e-30], [np.nan, 0, 0]):
        assert not convolution.accuracy(reference * 0 + wrong, reference * 0, bound).holds


def test_plain_words_without_a_terminal(monkeypatch, capsys):
    assert isinstance(console.standard_output(), console.PlainOutput)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(console, "find_spec", lambda _: None)  # no rich
    assert isinstance(console.standard_output(), console.PlainOutput)


def test_a_terminal_gets_the_same_words(capsys):
    out = console.TerminalOutput()
    out.heading("a part")
    out.text("[1] a sentence")
    out.program("a title", "int x = 1;\n", "c")
    shown = capsys.readouterr().out
    for words in ("a part", "[1] a sentence", "a title", "int x = 1;"):
        assert words in shown


@pytest.fixture
def small_shapes(monkeypatch):
    shapes = (bench_convolution.Shape(8, 7), bench_convolution.Shape(4, 8))
    monkeypatch.setattr(bench_convolution, "SHAPES", shapes)


@pytest.mark.usefixtures("small_shapes")
def test_bench_prints_one_table(capsys):
    assert bench_command.main(["--quick", "--tile", "1x4"]) == 0
    shown = capsys.readouterr().out
    assert texloom.devices("opencl")[0]["name"] in shown
    rows = [line.split() for line in shown.splitlines() if " @ " in line]
    assert [row[0] for row in rows] == ["channels", "8", "4"]
    assert all(float(cell) >= 0 for row in rows[1:] for cell in row[5:9])


@pytest.mark.usefixtures("small_shapes", "wrong_reference")
def test_bench_fails_when_a_result_is_wrong(capsys):
    assert bench_command.main(["--quick"]) == 1
    assert capsys.readouterr().out.count("WRONG") == 2


@pytest.mark.parametrize(
    ("kind", "kernels"), [("one kernel", 1), ("many kernels", 4)], ids=["one", "many"]
)
def test_programs_of_the_growth_table_have_the_size_they_say(kind, kernels):
    schedule, arguments = growth.KINDS[kind](200)
    source = texloom.build(schedule, arguments, "opencl").get_source()
    assert source.count("__kernel") == kernels
    stores = [line for line in source.splitlines() if "] = " in line]
    assert len(stores) == 200


def test_bench_compile_measures_convolution_and_growth(capsys, monkeypatch):
    monkeypatch.setattr(compilation, "SIZES", (100,))
    assert bench_command.main(["compile", "--quick"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    times = {row[0]: float(row[1]) for row in rows if row and row[0] in ("texture", "buffer")}
    assert len(times) == 2
    assert all(milliseconds > 0 for milliseconds in times.values())
    growing = {row[0]: row[2:] for row in rows if row[1:2] in (["kernel"], ["kernels"])}
    assert set(growing) == {"one", "many"}
    assert all(float(row[1]) > 0 and float(row[3]) >= 0 for row in growing.values())


@pytest.mark.parametrize("text", ["2", "0x4", "2x", "axb", "2x-4"])
def test_bench_refuses_a_bad_tile(text, capsys):
    with pytest.raises(SystemExit):
        bench_command.main(["--tile", text])
    assert "such as 2x4" in capsys.readouterr().err


def test_legend_is_of_the_tables_that_were_run():
    from texloom_bench import kernels

    assert "cuDNN" not in kernels.legend(["products"]) and "cuBLAS" in kernels.legend(["products"])
    workloads = kernels.legend(["workloads"])
    assert "buf/tex" in workloads and "blocked" in workloads and "products" not in workloads
    assert all(text in kernels.legend(kernels.TABLES) for _, text in kernels.LEGEND)
