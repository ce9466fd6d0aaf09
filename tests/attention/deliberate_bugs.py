"""Deliberate bugs in lib/attention.py, each of which the tests beside this file must catch.

    python tests/attention/deliberate_bugs.py               all of them, as a table: bug, first test that caught it
    python tests/attention/deliberate_bugs.py "no scale"    only those whose name contains this

Most of them happened in public. Each is a patch, old text to new text, applied alone to a copy of the file;
the tests then run on the copy and stop at the first failure. The last row is the control: a patch that
changes no line of code, with which every test must pass. If it fails, the other rows prove nothing.

It is fast because PyTorch, ONNX and the rest are imported once; a process is forked off for each bug.
"""

import contextlib
import gc
import importlib
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "lib" / "attention.py"
PATIENCE = 300  # seconds for one bug, after which it counts as an error


class Bug(NamedTuple):
    """One wrong version of lib/attention.py."""

    name: str
    old: str
    new: str


MASK_LINE = "        scores = xp.where(mask, scores, -inf)\n"
SCORES_LINES = """\
    scores = query @ xp.matrix_transpose(key)  # (..., n_query, n_key)
    scores = _hide(xp, scores * scale, mask, bias, is_causal)
    weights = _softmax(xp, scores)  # (..., n_query, n_key), rows sum to 1
    output = weights @ value  # (..., n_query, d_v)
    return Attention(xp.astype(output, dtype, copy=False), xp.astype(weights, dtype, copy=False))
"""
SOFTMAX_LINES = """\
    exponentials = xp.exp(scores - xp.where(largest == -inf, 0.0, largest))
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / xp.where(total == 0, 1.0, total)
"""
HEADS_LINE = "heads = scaled_dot_product_attention(query, key, value, mask, bias=bias, is_causal=is_causal)"


def scores_lines(old, new):
    """Return a patch inside the five lines of the formula, which other functions resemble."""
    assert SCORES_LINES.count(old) == 1, old
    return SCORES_LINES, SCORES_LINES.replace(old, new)


BUGS = [
    # Masks
    Bug("mask the other way round: True hides", MASK_LINE, MASK_LINE.replace("scores, -inf", "-inf, scores")),
    Bug("numeric mask accepted", 'if _name(mask.dtype) != "bool":', "if False:"),
    Bug("hidden with -1e4, to which a low score loses", MASK_LINE, MASK_LINE.replace("-inf", "-1e4")),
    Bug("hidden with -1e9, to which a lower score loses", MASK_LINE, MASK_LINE.replace("-inf", "-1e9")),
    Bug(
        "hidden with a tiny number instead of a large negative one",
        MASK_LINE,
        MASK_LINE.replace("-inf", "1e-12"),
    ),
    Bug(
        "hidden with the lowest float: uniform weights where all is hidden",
        MASK_LINE,
        MASK_LINE.replace("-inf", "xp.finfo(scores.dtype).min"),
    ),
    Bug(
        "hidden by adding -inf: a NaN in a hidden key stays",
        MASK_LINE,
        "        scores = scores + xp.where(mask, 0.0, -inf)\n",
    ),
    Bug(
        "mask after the softmax: rows no longer sum to 1",
        *scores_lines(
            "    scores = _hide(xp, scores * scale, mask, bias, is_causal)\n    weights = _softmax(xp, scores)",
            "    hidden = _hide(xp, scores * scale, mask, bias, is_causal) == -inf\n"
            "    weights = xp.where(hidden, 0.0, _softmax(xp, _hide(xp, scores * scale, None, bias, False)))",
        ),
    ),
    Bug(
        "mask ignored where is_causal is set",
        "    if mask is not None:\n        _check_mask",
        "    if mask is not None and not is_causal:\n        _check_mask",
    ),
    Bug("is_causal ignored", "    if is_causal:\n", "    if False:\n"),
    Bug("is_causal accepted for n_query != n_key", "        if n_query != n_key:\n", "        if False:\n"),
    Bug(
        "is_causal makes its mask on the default device",
        "causal_mask(n_query, n_key, like=scores)",
        "causal_mask(n_query, n_key, like=xp.ones(1))",
    ),
    Bug("causal mask hides the token itself", "(j <= i + right)", "(j < i + right)"),
    Bug("causal mask shows one token of the future", "(j <= i + right)", "(j <= i + right + 1)"),
    Bug(
        "causal mask with rows and columns swapped: the past is hidden",
        "return window_mask(n_query, n_key, left=None, right=0,",
        "return window_mask(n_query, n_key, left=0, right=None,",
    ),
    Bug("offset ignored: a cache is aligned top-left", "[:, None] + offset", "[:, None]"),
    Bug("offset the other way round", "[:, None] + offset", "[:, None] - offset"),
    Bug("always aligned bottom-right", "[:, None] + offset", "[:, None] + offset + n_key - n_query"),
    Bug("window one token short", "(j >= i - left)", "(j > i - left)"),
    Bug("window of 0 taken for no limit", "if left is not None:", "if left:"),
    Bug(
        "mask ignores the library asked for",
        "if like is None else (_namespace(like=like), ",
        "if True else (_namespace(like=like), ",
    ),
    Bug("padding mask shows one token of padding", "[None, None, :] < lengths", "[None, None, :] <= lengths"),
    Bug("padding mask the other way round", "[None, None, :] < lengths", "[None, None, :] >= lengths"),
    Bug(
        "padding mask without the axis for the queries",
        "[None, None, :] < lengths[:, None, None]",
        "[None, :] < lengths[:, None]",
    ),
    Bug("padding mask accepts lengths beyond n_key", " or xp.any(lengths > n_key)", ""),
    Bug(
        "a mask may enlarge the scores",
        "if _broadcast(x.shape, shape) != tuple(shape):",
        "if _broadcast(x.shape, shape) is None:",
    ),
    Bug(
        "mask of each sequence used for each head",
        'return mask[..., None, :, :] if getattr(mask, "ndim", 0) >= 2 else mask',
        "return mask",
    ),
    # Nothing to attend to
    Bug("NaN where there is nothing to attend to", "xp.where(largest == -inf, 0.0, largest)", "largest"),
    Bug(
        "NaN repaired after the exp: right values, NaN gradients",
        SOFTMAX_LINES,
        '    with numpy.errstate(invalid="ignore"):\n'
        "        exponentials = xp.exp(scores - largest)\n"
        "        total = xp.sum(exponentials, axis=axis, keepdims=True)\n"
        "        return xp.where(largest == -inf, 0.0, exponentials / total)\n",
    ),
    Bug("division by 0 where there is nothing to attend to", "xp.where(total == 0, 1.0, total)", "total"),
    Bug("no keys", "if scores.shape[axis] == 0:", "if False:"),
    Bug("d_k of 0 accepted", "    if q[-1] == 0:\n", "    if False:\n"),
    Bug(
        "a NaN in a value is swept under the carpet",
        *scores_lines("weights @ value", "weights @ xp.where(xp.isnan(value), 0.0, value)"),
    ),
    # Scale and softmax
    Bug("no scale", "scale = key.shape[-1] ** -0.5 if", "scale = 1.0 if"),
    Bug(
        "scale of the whole d_model, not of the head",
        HEADS_LINE,
        HEADS_LINE[:-1] + ", scale=W_Q.shape[-1] ** -0.5)",
    ),
    Bug("scale from d_v", "scale = key.shape[-1] **", "scale = value.shape[-1] **"),
    Bug("scale from n_key", "scale = key.shape[-1] **", "scale = key.shape[-2] **"),
    Bug("scale without the root", "key.shape[-1] ** -0.5", "key.shape[-1] ** -1.0"),
    Bug("multiplied by the root instead of divided", "key.shape[-1] ** -0.5", "key.shape[-1] ** 0.5"),
    Bug(
        "scale given but ignored",
        "if scale is None else _check_scale(scale)",
        "if True else _check_scale(scale)",
    ),
    Bug("scale of 0 taken for none", "if scale is None else", "if not scale else"),
    Bug(
        "bias scaled, too",
        *scores_lines(
            "_hide(xp, scores * scale, mask, bias, is_causal)",
            "scale * _hide(xp, scores, mask, bias, is_causal)",
        ),
    ),
    Bug("bias ignored", "    if bias is not None:\n", "    if False:\n"),
    Bug("softmax over the queries", *scores_lines("_softmax(xp, scores)", "_softmax(xp, scores, -2)")),
    Bug(
        "softmax always over the last axis",
        "_softmax(xp, scores, axis), dtype",
        "_softmax(xp, scores), dtype",
    ),
    Bug(
        "softmax without subtracting the largest",
        "xp.exp(scores - xp.where(largest == -inf, 0.0, largest))",
        "xp.exp(scores)",
    ),
    Bug(
        "softmax subtracts the largest of all rows",
        "xp.max(scores, axis=axis, keepdims=True)",
        "xp.max(scores)",
    ),
    Bug(
        "softmax with a little something in the denominator",
        "xp.where(total == 0, 1.0, total)",
        "(total + 1e-9)",
    ),
    Bug(
        "returns the scores as weights", *scores_lines("xp.astype(weights, dtype", "xp.astype(scores, dtype")
    ),
    Bug(
        "output and weights swapped",
        "    output: Any\n    weights: Any\n",
        "    weights: Any\n    output: Any\n",
    ),
    # Types, libraries, gradients
    Bug(
        "half precision computed in half precision",
        "working = xp.float32 if _is_half(dtype) else dtype",
        "working = dtype",
    ),
    Bug("half precision not cast back", *scores_lines("xp.astype(output, dtype, copy=False)", "output")),
    Bug("integers in, integers out", 'default_dtypes()["real floating"]', 'default_dtypes()["integral"]'),
    Bug(
        "float32 becomes float64",
        "dtype = xp.result_type(*floats) if",
        "dtype = xp.result_type(*floats, xp.float64) if",
    ),
    Bug(
        "the query is scaled in place",
        *scores_lines(
            "    scores = query @ xp.matrix_transpose(key)  # (..., n_query, n_key)\n"
            "    scores = _hide(xp, scores * scale,",
            "    query *= scale\n    scores = query @ xp.matrix_transpose(key)\n    scores = _hide(xp, scores,",
        ),
    ),
    Bug("keys transposed over all axes", *scores_lines("xp.matrix_transpose(key)", "key.T")),
    Bug("NumPy called where the arrays may be another library's", "xp.exp(", "numpy.exp("),
    Bug(
        "the gradient stops at the weights",
        *scores_lines("_softmax(xp, scores)", 'getattr(s := _softmax(xp, scores), "detach", lambda: s)()'),
    ),
    Bug("PyTorch needed to import", "\nimport numpy\n", "\nimport numpy\nimport torch  # noqa\n"),
    # Heads
    Bug(
        "heads joined without moving the axis back",
        "    x = xp.moveaxis(x, -3, -2)  # (..., n, n_heads, d_v): without this step the heads are shuffled, not joined\n"
        "    *leading, n, n_heads, d_v = x.shape\n",
        "    *leading, n_heads, n, d_v = x.shape\n",
    ),
    Bug(
        "heads split without moving the axis",
        "    x = xp.reshape(x, (*leading, n, n_heads, d_model // n_heads))  # (..., n, n_heads, d_k)\n"
        "    return xp.moveaxis(x, -2, -3)",
        "    return xp.reshape(x, (*leading, n_heads, n, d_model // n_heads))",
    ),
    Bug(
        "heads take every n-th column",
        "(*leading, n, n_heads, d_model // n_heads))  # (..., n, n_heads, d_k)\n    return xp.moveaxis(x, -2, -3)",
        "(*leading, n, d_model // n_heads, n_heads))  # (..., n, d_k, n_heads)\n    return xp.moveaxis(x, -1, -3)",
    ),
    Bug("n_heads need not divide d_model", "if n_heads < 1 or width % n_heads:", "if n_heads < 1:"),
    Bug(
        "weights averaged over the heads",
        "xp.astype(heads.weights, dtype, copy=False)",
        "xp.mean(heads.weights, axis=-3)",
    ),
    Bug(
        "W_O forgotten",
        "output = _project(joined_heads=join_heads(heads.output), W_O=W_O)",
        "output = join_heads(heads.output)",
    ),
    Bug("matrices multiply from the wrong side", "    return x @ W\n", "    return x @ W.T\n"),
    Bug(
        "keys projected with W_Q",
        "_project_to_heads(n_heads, key=key, W_K=W_K)",
        "_project_to_heads(n_heads, key=key, W_K=W_Q)",
    ),
    Bug(
        "values projected with W_K",
        "_project_to_heads(n_heads, value=value, W_V=W_V)",
        "_project_to_heads(n_heads, value=value, W_V=W_K)",
    ),
    Bug("multi-head: is_causal not handed on", HEADS_LINE, HEADS_LINE.replace(", is_causal=is_causal", "")),
    Bug("multi-head: bias not handed on", HEADS_LINE, HEADS_LINE.replace(", bias=bias", "")),
    Bug("multi-head: mask not handed on", HEADS_LINE, HEADS_LINE.replace(", mask,", ", None,")),
    # Additive
    Bug("additive: mask ignored", "_hide(xp, hidden @ v, mask,", "_hide(xp, hidden @ v, None,"),
    Bug(
        "additive: divided by the root as well",
        "_hide(xp, hidden @ v,",
        "_hide(xp, hidden @ v * v.shape[0] ** -0.5,",
    ),
    Bug("additive: difference instead of sum", "None, :] + key[..., None", "None, :] - key[..., None"),
    Bug("additive: no tanh", "hidden = xp.tanh(query", "hidden = (query"),
    Bug(
        "additive: queries and keys change places",
        "query[..., :, None, :] + key[..., None, :, :]",
        "query[..., None, :, :] + key[..., :, None, :]",
    ),
]
CONTROL = Bug("control: a comment, no bug", "# no entries, so nothing to share out", "# nothing to share out")


def patched(source, bug):
    """Return the source with the bug in it. A patch that fits nowhere or twice, or breaks the syntax, is an error."""
    found = source.count(bug.old)
    if found != 1:
        raise ValueError(
            f"the old text of '{bug.name}' must be in the source once, found {found} times: mend the patch"
        )
    wrong = source.replace(bug.old, bug.new)
    if wrong == source:
        raise ValueError(
            f"the new text of '{bug.name}' must differ from the old, got the same twice: mend the patch"
        )
    compile(wrong, bug.name, "exec")
    return wrong


class FirstFailure:
    """A pytest plugin that keeps the name of the first test that failed."""

    name = ""

    def pytest_runtest_logreport(self, report):
        """Called by pytest after each phase of each test."""
        if report.failed and not self.name:
            self.name = report.nodeid.rpartition("/")[2]


def first_failure(bug):
    """Run the tests on a copy with this bug, in this process; return the first test that failed, or ''."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        copy = Path(folder, "lib")
        copy.mkdir()
        (copy / "__init__.py").touch()
        (copy / "attention.py").write_text(patched(SOURCE.read_text(), bug))
        sys.path.insert(0, folder)
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            return run_tests(copy / "attention.py")


def run_tests(copy):
    """Run pytest up to the first failure on the `lib.attention` that lies at this path."""
    import pytest

    loaded = importlib.import_module("lib.attention")
    assert Path(loaded.__file__) == copy, "another lib was imported before"
    keeper = FirstFailure()
    options = ["-x", "--assert=plain", "-p", "no:cacheprovider", "--hypothesis-profile=first-failure"]
    for (
        test
    ) in TESTS:  # one at a time: most bugs need the first only, and collecting takes longer than running
        place = [f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"), str(test)]
        code = pytest.main([*options, *place], plugins=[keeper])
        if code == pytest.ExitCode.TESTS_FAILED:
            break
        if code != pytest.ExitCode.OK:
            raise RuntimeError(f"{test.name} did not run: pytest ended with {code!r}")
    return keeper.name


# The quick ones first.
TESTS = [
    HERE / f"test_{name}.py"
    for name in "behaviour heads masks additive errors array_api gradients opinfo onnx torch_sdpa".split()
]


def warm_up():
    """Import what the tests import, except lib, before the forking."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in (
        "torch.testing._internal.common_methods_invocations",
        "onnx.backend.test.case.node.attention",
        "hypothesis.extra.numpy",
        "array_api_strict",
        "ml_dtypes",
        "pytest",
    ):
        importlib.import_module(name)
    importlib.import_module("torch").set_num_threads(1)
    gc.freeze()  # pytest collects garbage at its end; without this it would walk through all of PyTorch


def run(bugs):
    """Return (bug, first test that failed or '', error or '') for each bug, two at a time."""
    warm_up()
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        # The control runs all tests, so it starts first.
        tasks = [
            (bug, pool.apply_async(first_failure, [bug]))
            for bug in sorted(bugs, key=lambda b: b is not CONTROL)
        ]
        for bug, task in tasks[1:] + tasks[:1]:
            try:
                yield bug, task.get(timeout=PATIENCE), ""
            except Exception as error:
                yield bug, "", f"ERROR {type(error).__name__}: {error}"


def verdict(bug, test, error):
    """Return (whether this is as it must be, what to say about it)."""
    if error:
        return False, error
    if bug is CONTROL:
        return (
            not test,
            f"CAUGHT by {test}, so the other rows prove nothing" if test else "nothing, as it must be",
        )
    return bool(test), test or "NOT CAUGHT"


def main(wanted=""):
    """Print the table; return 0 if every bug was caught and the control was not, else 1."""
    bugs = [bug for bug in BUGS if wanted in bug.name]
    print(f"| bug | first of {len(TESTS)} files' tests that caught it |\n|---|---|")
    good = []
    for bug, test, error in run([*bugs, CONTROL]):
        right, words = verdict(bug, test, error)
        good.append(right)
        print(f"| {bug.name} | {words} |", flush=True)
    print(f"{sum(good[:-1])} of {len(bugs)} bugs caught")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
