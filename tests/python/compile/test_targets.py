"""Targets: strings, attributes, and the current one."""

import pytest

import texloom as tvm
from texloom import te
from texloom.target import Target


def program_limit(target=None):
    """Build a block of 512 threads; return the program's target, or None if that is refused."""
    x = te.placeholder((512,), name="X")
    y = te.compute((512,), lambda i: x[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    try:
        return tvm.build(s, [x, y], target).target
    except tvm.TVMError as error:
        assert error.code == "TL4001"
        return None


def test_attributes():
    assert Target("opencl").attrs["texture_spatial_limit"] == 8192
    assert Target("opencl -device=adreno").attrs["texture_spatial_limit"] == 16384
    assert Target("opencl -device=mali").max_num_threads == 256
    own = Target("opencl -device=mali -max_num_threads=64 -texture_spatial_limit=100")
    assert (own.max_num_threads, own.attrs["texture_spatial_limit"]) == (64, 100)
    assert own.attrs["device"] == "mali"


@pytest.mark.parametrize(
    "text",
    [
        "opencl",
        "opencl -device=adreno",
        "opencl -max_num_threads=7 -contract=0",
        "opencl  -contract=0   -device=intel_graphics",
    ],
)
def test_text_is_canonical(text):
    """A printed target parses back to itself; the order of attributes does not matter."""
    target = Target(text)
    assert Target(str(target)) == target
    assert hash(Target(str(target))) == hash(target)
    assert eval(repr(target), {"Target": Target}) == target


def test_attributes_override_the_preset_wherever_they_stand():
    assert Target("opencl -max_num_threads=8 -device=mali").max_num_threads == 8


@pytest.mark.parametrize(
    "text, help", [("opencl -device=m99", "use one of adreno, "), ("llvm -device=m99", "haswell, ")]
)
def test_a_device_without_a_preset_is_a_warning(text, help):
    with pytest.warns(tvm.TexloomWarning, match=f"(?s)TL4003.*  help: .*{help}"):
        Target(text)


def test_with_a_target():
    """The innermost target applies inside its `with`; an argument takes precedence."""
    small, large = Target("opencl -max_num_threads=64"), Target("opencl -max_num_threads=512")
    assert Target.current() is None
    with small:
        assert Target.current() == small
        assert program_limit() is None
        with large:
            assert program_limit() == "opencl -max_num_threads=512"
        assert program_limit() is None
        assert program_limit("opencl") == "opencl"
        assert program_limit(large) == str(large)
    assert Target.current() is None
    assert program_limit() == "opencl"


def test_with_leaves_after_an_error():
    with pytest.raises(KeyError), Target("opencl -max_num_threads=64"):
        raise KeyError
    assert Target.current() is None


def test_one_target_can_be_entered_twice():
    target = Target("opencl")
    with target, target:
        assert Target.current() is target
    assert Target.current() is None


def test_no_current_target():
    with pytest.raises(ValueError, match="with tvm.target.Target"):
        Target.current(allow_none=False)


def test_target_of_a_build_positional_and_by_name():
    """Both spellings work, and a host target is accepted for existing scripts."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    for build in (
        lambda: tvm.build(s, [x, y], "opencl"),
        lambda: tvm.build(s, [x, y], target="opencl", target_host="llvm", name="fn"),
        lambda: tvm.build(s, [x, y], Target("opencl"), "llvm"),
    ):
        assert build().target == "opencl"
    assert tvm.build(s, [x, y], "opencl", name="fn").kernels[0].name == "fn_kernel0"


def test_target_of_a_device(dev):
    """The target has the device's limits and a text that parses; its programs run on the device."""
    target = Target.from_device(dev)
    assert Target(str(target)) == target
    assert target.attrs["texture_spatial_limit"] == min(
        dev.info["max_image_width"], dev.info["max_image_height"]
    )
    assert target.max_num_threads == dev.info["max_threads_per_block"]
    assert target.attrs["images"] == dev.info["images"]
    assert target.attrs["float64"] == dev.info["float64"]
    assert program_limit(target) == str(target)
    assert Target(f"{dev.driver}:{dev.device_id}") == target


def test_options_count_more_than_those_of_the_device_before_them(dev):
    named = f"{dev.driver}:{dev.device_id}"
    target = Target(f"{named} -max_num_threads=3")
    assert target.max_num_threads == 3
    own = Target(named).attrs
    assert {k: v for k, v in target.attrs.items() if own[k] != v}.keys() == {"max_num_threads"}


@pytest.mark.parametrize(("name", "code"), [("opencl:99", "TL5006"), ("nothing:0", "TL5016")])
def test_absent_devices_are_no_targets(name, code):
    with pytest.raises(tvm.TVMError) as refused:
        Target(name)
    assert refused.value.code == code


def test_text_of_a_target_is_read_back():
    target = Target({"kind": "opencl", "model": "Adreno 640"}, host="llvm")
    assert Target(str(target)) == target and Target(str(target)).model == "Adreno 640"
    assert str(Target(target).host) == "llvm"


def test_broken_json_is_refused():
    with pytest.raises(tvm.TVMError, match="TL4003.*not valid JSON"):
        Target('{"kind": "opencl"')
