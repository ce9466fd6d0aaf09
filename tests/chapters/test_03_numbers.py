"""A number in the prose of chapter 03 is the number in its output.

The chapter's cells are run, and each claim is a phrase of its prose with the numbers put in from there: it must stand in
the chapter letter by letter. No decimal number may stand in the prose outside such a phrase. What training ends with differs
from machine to machine in its last digits, so the prose gives no number of it; the chapter's own cells assert what it says.
"""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from lib.attention import softmax
from lib.scaling import additive_variance, jacobian_norm, measure_queries, share_with_error, softmax_jacobian
from lib.show.explorers import random_scores
from lib.training import D_MODEL, N_PLACES

pytestmark = pytest.mark.slow

CHAPTER = nbformat.read(Path(__file__).parents[2] / "chapters" / "03-scaling.ipynb", as_version=4)
PROSE = " ".join(" ".join(cell.source for cell in CHAPTER.cells if cell.cell_type == "markdown").split())


def minus(number, digits):
    text = f"{number:.{digits}f}".replace("-", "−")
    return text[1:] if float(number.round(digits)) == 0 and text.startswith("−") else text


def claims(c):
    """Yield phrases of the prose, made from the names ``c`` that the chapter's cells define."""
    # by hand
    yield f"| 2 | −2, 0, 0, 2 | (4 + 0 + 0 + 4) / 4 = **2** | {np.sqrt(2):.2f} |"
    yield f"| 3 | −3, −1, −1, −1, 1, 1, 1, 3 | (9 + 6 · 1 + 9) / 8 = **3** | {np.sqrt(3):.2f} |"
    yield "with a **correlation** of 0.5"
    yield "The mean of each product is then 0.5. For its variance, 1 + 0.5², take the cell's word; it holds for the normal distribution, and for coins it is 1 − 0.5²."
    yield "any two of them have a correlation of 0.5"

    yield f"from 8 to {np.sqrt((1 + 0.5**2) * 64):.1f}"
    together = 64 + 64 * 63 * 0.5 * 0.5  # 1072
    assert together / 64**2 == pytest.approx(1 / 4, abs=0.02) and 16.5 < together / 64 < 17
    yield f"about a quarter of d_k², nearly 17 times what it was, and the spread about {np.sqrt(together):.0f} in place of 8"

    # the divisor
    yield f"at 1/√8 = {1 / np.sqrt(8):.2f} with 8 heads"
    yield f"(Its largest weight is {c['look']('nothing')[2]}, on average.)"

    # two keys
    a, b = softmax(np.array([1.0, 0.0]))
    yield f"the weight is {a:.3f}, the other one {b:.3f}, the slope {a:.3f} · {b:.3f} = **{a * b:.3f}**"
    a, b = softmax(np.array([8.0, 0.0]))
    yield f"the weights are {a:.5f} and {b:.5f}, and the slope is {a * b:.5f}"
    a_1, b_1 = softmax(np.array([1.0, 0.0]))
    yield f"2 · {a_1 * b_1:.3f} · 1/2 = {a_1 * b_1:.3f} with a lead of 1, and 2 · {a * b:.5f} · 1/2 = {a * b:.5f} with a lead of 8"

    # look it up
    a, words = softmax(np.array([0.0, 2.0, 4.0])), ("look", "it", "up")
    J = softmax_jacobian(a)
    np.testing.assert_allclose(c["J"], J)
    yield f"its weights {a[0]:.3f}, {a[1]:.3f}, {a[2]:.3f}"
    for i, word in enumerate(words):
        cells = [
            f"{a[i]:.3f} · {1 - a[i]:.3f} = **{J[i, i]:.2f}**"
            if i == j
            else f"−{a[i]:.3f} · {a[j]:.3f} = **{minus(J[i, j], 2)}**"
            for j in range(3)
        ]
        yield f"| *{word}* | {' | '.join(cells)} |"
    assert (abs(softmax_jacobian(softmax(np.array([0.0, 4.0, 8.0])))) < abs(J)).all()
    yield "Without the scale all nine slopes are weaker"

    # does the gradient vanish?
    found = {d: (c["unscaled"][d], c["with_scale"][d]) for d in c["unscaled"]}
    silent = {d: share_with_error(found[d][0].jacobian < 0.01)[0] for d in (64, 1024)}
    assert abs(silent[64] - 1 / 6) < 0.02 and abs(silent[1024] - 2 / 3) < 0.03
    yield "if its ‖J‖ is below 0.01"
    yield "The line at 0.01 is our own"
    yield "(What is below 0.0001 is drawn on the lower edge.)"
    wider, narrower = ((found[64][0].jacobian < line).mean() for line in (0.05, 0.001))
    yield f"With the line at 0.05 it would be {100 * wider:.1f} %, at 0.001 it would be {100 * narrower:.1f} %."
    yield from (
        "one in six at 64 (‖J‖ < 0.01)",
        "if ‖J‖ < 0.01 counts as vanished",
        "the Jacobian is below 0.01",
    )
    yield f"At 64, the paper's own d_k, it is {100 * silent[64]:.1f} %, one in six."
    yield f"At 1024 it is {100 * silent[1024]:.1f} %, two in three."
    median = {d: [np.median(side.jacobian) for side in found[d]] for d in found}
    yield f"The median ‖J‖ is {median[64][0]:.3f}, with the scale {median[64][1]:.3f}"
    assert median[16][0] > median[4][0] and median[64][0] > median[256][0] > median[1024][0]
    yield "From d_k = 4 to 16 it grows."
    yield f"64 equal weights of 1/64 have a ‖J‖ of only {jacobian_norm(np.full(64, 1 / 64)):.3f}"

    # few and many keys
    few, again, many = (measure_queries(64, n_key=n_key, n_query=600)[0] for n_key in (8, 64, 1024))
    assert np.median(few.gap) > np.median(again.gap) > np.median(many.gap)
    here = (again.jacobian < 0.01).mean()
    yield f"it is {100 * here:.0f} % here and {100 * silent[64]:.1f} % in the table above"
    shown = jacobian_norm(softmax(random_scores(64)))
    yield f"at 64 it finds {100 * (shown < 0.01).mean():.0f} % silent, and a median of {np.median(shown):.2f}. And the typical query's largest weight need not be the mean of all, {c['look']('nothing')[2]}"

    # by way of the query
    without, scaled = (np.median(side.follows_query) for side in found[64])
    yield f"At d_k = 64 the median of ‖da/dq‖ is {without:.3f} without the scale and {scaled:.3f} with it"
    assert 8.5 < without / scaled < 9
    yield "it is shaken: its weights move nearly 9 times as far as with the scale"
    assert np.median(found[1024][0].follows_query) < 0.01
    far = np.quantile(found[1024][0].follows_query, 0.95)
    yield f"at 1024 the median is {np.median(found[1024][0].follows_query):.3f}, and for one query in twenty it is about {far:.0f} or more"
    for d, (unscaled, with_scale) in found.items():
        lengths = np.median(unscaled.follows_query) / np.median(unscaled.jacobian)
        assert lengths == pytest.approx(np.sqrt(d), rel=0.15)
        assert np.median(with_scale.follows_query) == pytest.approx(np.median(with_scale.jacobian), rel=0.1)
    yield f"(tanh(0) = 0, tanh(1) = {np.tanh(1):.2f}, tanh(3) = {np.tanh(3):.3f})"

    # training
    yield f"ln 16 = {np.log(16):.2f}"
    assert c["starts"]["small start"] == 0.02
    yield "of standard deviation 0.02, as GPT-2 did"
    yield "here 16 times"
    assert np.sqrt(256) == 16 == N_PLACES

    # the paper
    yield "Section 3.2.1 of Vaswani et al. 2017"
    yield "by √32 ≈ 5.66"
    yield f"by √512 ≈ {np.sqrt(512):.1f}"


@pytest.fixture(scope="module")
def phrases(chapter_03):
    return list(claims(chapter_03))


def test_what_the_prose_says_is_what_is_computed(phrases):
    assert [phrase for phrase in phrases if phrase not in PROSE] == []


def unproved_numbers(text, phrases):
    """The decimal numbers of a text that stand in none of the phrases."""
    for phrase in sorted(phrases, key=len, reverse=True):
        text = text.replace(phrase, " ")
    text = re.sub(r"`[^`]*`", " ", text)  # code in the text is run, not claimed
    return re.findall(r"\d+\.\d+", text)


def test_no_number_in_the_prose_goes_without_proof(phrases):
    assert unproved_numbers(PROSE, phrases) == []


def test_a_number_without_proof_is_found():
    assert unproved_numbers("the median is 0.2, and 0.5 more", ["the median is 0.2"]) == ["0.5"]


def test_what_the_prose_says_in_words(chapter_03):
    c = chapter_03
    starts = {
        d: [c["summary"](c["runs"]["variance 1", d, scaled]) for scaled in (False, True)] for d in (16, 256)
    }
    without, scaled = starts[256]
    assert without.keys_read < 2 and 0.4 < without.silent < 0.5  # hardly more than one key; nearly half
    assert without.jacobian < scaled.jacobian / 10 and without.gradient > 3 * scaled.gradient
    narrow, narrow_scaled = starts[16]
    assert narrow.silent < 0.05 and narrow.jacobian > narrow_scaled.jacobian and 2 < narrow.keys_read < 3
    np.testing.assert_allclose(  # halved matrices start just as with the scale
        c["halved"].first["weights"], c["narrow_with"].first["weights"], atol=1e-5
    )
    for run in c["runs"].values():  # it starts a little above guessing
        assert np.log(16) < run.loss[0].min() < run.loss[0].max() < np.log(16) + 0.6
    run = c["wide_with"]
    assert np.exp(run.entropy[-1].mean()) < 2  # trained, it reads hardly more than one key
    before, after = (
        c["component_correlation_factor"](*(s[x][0].reshape(-1, 256) for x in ("queries", "keys")))
        for s in (run.first, run.last)
    )
    assert before == pytest.approx(1, abs=0.2) and after > 3
    rng = np.random.default_rng(0)
    assert all(1 / 4 < additive_variance(d, 1, rng) / d < 1 / 3 for d in (256, 1024))


@pytest.mark.parametrize(("layer", "ratio"), [("linear", 1 / 9), ("multihead", 1 / 4)])
def test_pytorch_starts_with_less_than_variance_1(layer, ratio):
    generator_state = torch.get_rng_state()
    torch.manual_seed(1)
    x, y = torch.randn(2, 500, 256)
    if layer == "linear":
        q, k = torch.nn.Linear(256, 256)(x), torch.nn.Linear(256, 256)(y)
    else:
        W = torch.nn.MultiheadAttention(256, 4).in_proj_weight
        q, k = x @ W[:256].T, y @ W[256:512].T
    torch.set_rng_state(generator_state)
    assert (q @ k.T).var().item() / 256 == pytest.approx(ratio, rel=0.08)


def test_the_explorers_answer():
    lost = {d: (jacobian_norm(softmax(random_scores(d))) < 0.01).mean() for d in (256, 512, 1024)}
    assert lost[256] < 0.5 <= min(lost[512], lost[1024])
    for power in range(11):
        assert (jacobian_norm(softmax(random_scores(2**power) / np.sqrt(2**power))) > 0.01).all()


def test_the_exercises_have_the_answers_that_their_hints_give(chapter_03):
    rng = np.random.default_rng(0)
    component = rng.choice([0, 0, 2, -2], size=(20_000, 8))
    assert component.var() == pytest.approx(2, rel=0.02)
    chapter_03["compare"](component, rng.choice([1, -1], size=(20_000, 8)), mean=0, variance=16)
    q, k = rng.normal(size=(2, 20_000, 64))
    chapter_03["compare"](q + 1, k, mean=0, variance=128)
    half = {d: share_with_error(measure_queries(d, n_query=500)[0].jacobian < 0.01)[0] for d in (256, 512)}
    assert half[256] < 0.5 < half[512]
    near = share_with_error(measure_queries(400)[0].jacobian < 0.01)
    assert near[0] == pytest.approx(0.5, abs=0.04)
    quiet = chapter_03["train"](256, scaled=False, start=D_MODEL**-0.5 / 4, rate=0.003)
    same, loud = chapter_03["wide_with"], chapter_03["wide"]
    np.testing.assert_allclose(quiet.loss[0], same.loss[0], rtol=1e-3)  # the same weights at the first step
    last = chapter_03["last_losses"]
    assert (last(same) < last(quiet)).all() and last(quiet).mean() < last(loud).mean() / 3
