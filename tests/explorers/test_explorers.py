"""What the book's explorers show is what `lib.attention` computes."""

import re

import numpy as np
import pytest

from lib.attention import causal_mask, scaled_dot_product_attention
from lib.scaling import jacobian_norm
from lib.show import explorers
from lib.show.example import TOKENS, W_K, W_Q, W_V, X
from lib.show.explorers import MASKS, PADDED, STEPS, mask_of, random_scores


def texts(frame):
    return re.findall(r"<text[^>]*>([^<]*)</text>", frame.svg)


def test_the_five_steps_show_the_numbers_of_the_library():
    x = X[-3:]
    output, weights = scaled_dot_product_attention(x @ W_Q, x @ W_K, x @ W_V)
    pipeline = explorers.pipeline()
    frames = dict(zip(STEPS, map(pipeline.frame, pipeline.settings), strict=True))
    for shape in ("X  (3 × 5)", "Q  (3 × 4)", "K  (3 × 4)", "V  (3 × 2)"):
        assert shape in texts(frames["project"])
    assert [f"{w:.2f}" for w in weights.ravel()] == [
        t for t in texts(frames["softmax"]) if re.fullmatch(r"0\.\d\d", t)
    ]
    assert [f"{o:.2f}" for o in output.ravel()] == [t for t in texts(frames["mix"]) if "." in t][-6:]
    assert (
        "look 0, it 4, up 8" in frames["score"].sentence and "look 0, it 2, up 4" in frames["scale"].sentence
    )
    assert f"up {weights[0, 2]:.2f}" in frames["softmax"].sentence


def test_the_jacobian_is_the_softmaxs():
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.3, -1.2, 2.0, 0.1]], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores[0])
    assert jacobian_norm(torch.softmax(scores, -1).numpy())[0] == pytest.approx(float(jacobian.norm()))


@pytest.mark.parametrize(
    "d_k, unscaled_lost, tolerance", [(16, 0.017, 0.03), (64, 0.165, 0.06), (1024, 0.676, 0.08)]
)
def test_the_share_of_queries_without_gradient_is_the_known_one(d_k, unscaled_lost, tolerance):
    """Independent numbers: 4000 draws of 64 keys each."""
    frame = explorers.scaling().frame(([2**p for p in range(11)].index(d_k), 0))
    lost = float(re.search(r"for (\d+) % of", frame.sentence)[1]) / 100
    assert lost == pytest.approx(unscaled_lost, abs=tolerance)
    scaled = explorers.scaling().frame(([2**p for p in range(11)].index(d_k), 1))
    assert "standard deviation of 1.0" in scaled.sentence and "for 0 % of" in scaled.sentence


@pytest.mark.parametrize("d_k", [1, 16, 1024])
def test_the_variance_of_a_score_is_d_k(d_k):
    # 64 keys are few: their lengths vary by sqrt(2 / d_k), which is most of the error
    assert random_scores(d_k).var() == pytest.approx(d_k, rel=0.08 + 3 * np.sqrt(2 / d_k / 64))


def test_masks_are_the_librarys_and_the_first_two_keys_are_padding():
    none, causal, padding, window, both = (mask_of(kind, 8) for kind in MASKS)
    assert none.all() and (causal == causal_mask(8, 8)).all()
    assert not padding[:, :2].any() and padding[:, 2:].all()
    assert window[4].tolist() == [False, False, True, True, True, True, True, False]
    assert (both == (causal & padding)).all() and not both[:2].any() and both[2:].any(axis=1).all()


def test_a_row_that_may_attend_to_nothing_says_so():
    masks = explorers.masks()
    frame = masks.frame((MASKS.index("causal_padding"), 0))
    assert "may attend to nothing" in frame.sentence and "nothing to attend to: all weights are 0" in texts(
        frame
    )
    assert not [t for t in texts(frame) if re.fullmatch(r"0\.\d\d", t)]
    allowed = masks.frame((MASKS.index("causal_padding"), 3))
    assert f"“{PADDED[3]}”, may attend to 2 of 8 keys" in allowed.sentence


@pytest.mark.parametrize(
    "setting, kind, shape",
    [((0, 0), "Self", "5 × 5"), ((1, 0), "Cross", "3 × 5"), ((0, 1), "Cross", "5 × 3")],
)
def test_the_map_has_a_row_for_each_query_and_a_column_for_each_key(setting, kind, shape):
    frame = explorers.self_or_cross().frame(setting)
    assert f"{kind}-attention: weights {shape}" in texts(frame)
    rows, columns = (int(n) for n in shape.split(" × "))
    numbers = [float(t) for t in texts(frame) if re.fullmatch(r"[01]\.\d\d", t)]
    assert np.array(numbers).reshape(rows, columns).sum(axis=1) == pytest.approx(1, abs=0.03)


def test_it_finds_its_word_across():
    assert "“it” takes most from “word”, 0.76" in explorers.self_or_cross().frame((1, 0)).sentence
    assert TOKENS[4] == "word"
