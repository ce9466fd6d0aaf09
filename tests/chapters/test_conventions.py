"""The converters of masks, held against PyTorch itself and against what they must refuse."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention import bias as torch_bias

from lib import conventions
from lib.attention import (
    causal_mask,
    multi_head_attention,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
)

N_QUERY, N_KEY, D_MODEL, N_HEADS, BATCH = 3, 5, 8, 2, 4


@pytest.fixture
def tokens():
    """Return queries and keys of a batch, float64, in PyTorch."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda n: torch.randn(BATCH, n, D_MODEL, generator=generator, dtype=torch.float64)  # noqa: E731
    return draw(N_QUERY), draw(N_KEY)


@pytest.fixture
def module():
    """Return PyTorch's attention with matrices of its own and no biases."""
    torch.manual_seed(1)
    return torch.nn.MultiheadAttention(D_MODEL, N_HEADS, bias=False, batch_first=True, dtype=torch.float64)


def by_lib(module, query, key, mask):
    W_Q, W_K, W_V = (w.T for w in module.in_proj_weight.chunk(3))
    return multi_head_attention(query, key, key, W_Q, W_K, W_V, module.out_proj.weight.T, N_HEADS, mask)


def by_module(module, query, key, **masks):
    output, weights = module(query, key, key, average_attn_weights=False, **masks)
    return output, weights


def assert_same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def random_mask(*shape):
    mask = np.random.default_rng(2).random(shape) < 0.5
    mask[..., 0] = True  # nobody with nothing to attend to: there the module says NaN
    return torch.tensor(mask)


# Against torch.nn.MultiheadAttention


def test_one_mask_for_all_goes_to_the_module_and_back(module, tokens):
    mask = random_mask(N_QUERY, N_KEY)
    attn_mask = conventions.to_multihead_attention(mask)
    assert_same(by_lib(module, *tokens, mask), by_module(module, *tokens, attn_mask=attn_mask))
    assert (conventions.from_multihead_attention(attn_mask) == mask).all()


def test_a_mask_of_each_sequence_goes_to_the_module_and_back(module, tokens):
    mask = random_mask(BATCH, N_QUERY, N_KEY)
    attn_mask = conventions.to_multihead_attention(mask, n_heads=N_HEADS)
    assert attn_mask.shape == (BATCH * N_HEADS, N_QUERY, N_KEY)
    assert_same(by_lib(module, *tokens, mask), by_module(module, *tokens, attn_mask=attn_mask))
    back = conventions.from_multihead_attention(attn_mask, n_heads=N_HEADS)
    assert (back == mask[:, None]).all() and back.shape == (BATCH, N_HEADS, N_QUERY, N_KEY)


def test_a_mask_of_each_head_keeps_its_head(module, tokens):
    mask = random_mask(BATCH, N_HEADS, N_QUERY, N_KEY)
    attn_mask = conventions.to_multihead_attention(mask)
    _, weights = by_module(module, *tokens, attn_mask=attn_mask)
    assert ((weights > 0) == mask).all()
    assert (conventions.from_multihead_attention(attn_mask, n_heads=N_HEADS) == mask).all()


def test_a_padding_mask_goes_to_the_module(module, tokens):
    mask = padding_mask(torch.tensor([5, 3, 1, 4]), N_KEY)
    attn_mask = conventions.to_multihead_attention(mask, n_query=N_QUERY, n_heads=N_HEADS)
    assert_same(by_lib(module, *tokens, mask), by_module(module, *tokens, attn_mask=attn_mask))


@pytest.mark.parametrize("attn_axes", [2, 3])
def test_the_modules_two_masks_become_one(module, tokens, attn_axes):
    hidden = ~random_mask(*((BATCH * N_HEADS,) if attn_axes == 3 else ()), N_QUERY, N_KEY)
    padded = ~padding_mask(torch.tensor([5, 3, 1, 4]), N_KEY)[:, 0]  # (batch, n_key)
    mask = conventions.from_multihead_attention(hidden, padded, n_heads=N_HEADS)
    _, weights = by_module(module, *tokens, attn_mask=hidden, key_padding_mask=padded)
    assert ((weights > 0) == (mask if mask.ndim == 4 else mask[:, None])).all()


def test_key_padding_alone(module, tokens):
    padded = ~padding_mask(torch.tensor([5, 3, 1, 4]), N_KEY)[:, 0]
    mask = conventions.from_multihead_attention(key_padding_mask=padded)
    assert mask.shape == (BATCH, 1, N_KEY)
    assert_same(by_lib(module, *tokens, mask), by_module(module, *tokens, key_padding_mask=padded))


def test_key_padding_without_a_batch():
    mask = conventions.from_multihead_attention(np.zeros((3, 5), dtype=bool), np.array([False] * 4 + [True]))
    assert mask.shape == (3, 5) and (mask == [True] * 4 + [False]).all()


# Against PyTorch's own function


def test_additive_masks_mean_the_same_to_pytorch(tokens):
    query, key = tokens
    mask = random_mask(N_QUERY, N_KEY)
    added = conventions.to_additive(mask, like=query)
    theirs = torch.nn.functional.scaled_dot_product_attention(query, key, key, attn_mask=added)
    torch.testing.assert_close(scaled_dot_product_attention(query, key, key, mask).output, theirs)
    assert (conventions.from_additive(added) == mask).all()


@pytest.mark.filterwarnings(
    "ignore:Lower right causal bias will produce NaNs"
)  # not here: we compare the masks
@pytest.mark.parametrize("n_query, n_key", [(2, 5), (5, 2), (4, 4), (1, 6)])
def test_causal_corners_are_pytorchs(n_query, n_key):
    for corner in ("causal_upper_left", "causal_lower_right"):
        theirs = getattr(torch_bias, corner)(n_query, n_key)._materialize()
        assert (getattr(conventions, corner)(n_query, n_key, like=theirs) == theirs).all(), corner


def test_is_causal_of_pytorch_is_the_upper_left_corner():
    query, key = torch.zeros(2, 4), torch.zeros(5, 4)
    weights = torch.nn.functional.scaled_dot_product_attention(query, key, torch.eye(5), is_causal=True)
    assert ((weights > 0) == conventions.causal_upper_left(2, 5, like=query)).all()


# There and back, in every library


@settings(max_examples=30)
@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=4))
def test_there_and_back(rows):
    mask = np.array(rows)
    assert (conventions.from_hidden(conventions.to_hidden(mask)) == mask).all()
    assert (conventions.from_additive(conventions.to_additive(mask)) == mask).all()
    assert (conventions.from_ones(mask.astype(int)) == mask).all()
    assert (conventions.to_hidden(mask) != mask).all()


def test_any_library_that_follows_the_standard():
    strict = pytest.importorskip("array_api_strict")
    mask = strict.asarray([[True, False, True]])
    assert strict.all(conventions.from_hidden(conventions.to_hidden(mask)) == mask)
    assert strict.all(conventions.from_additive(conventions.to_additive(mask)) == mask)
    assert conventions.to_multihead_attention(mask, n_query=2).shape == (2, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_additive_keeps_the_dtype_and_knows_its_minimum(dtype):
    mask = torch.tensor([True, False])
    added = conventions.to_additive(mask, like=torch.zeros(1, dtype=dtype))
    assert added.dtype == dtype and added.tolist() == [0.0, -torch.inf]
    smallest = torch.tensor([0.0, torch.finfo(dtype).min], dtype=dtype)  # as Hugging Face writes it
    assert (conventions.from_additive(smallest) == mask).all()


def test_nothing_is_changed_in_place():
    mask = causal_mask(3, 3)
    before = mask.copy()
    conventions.to_multihead_attention(mask), conventions.to_hidden(mask), conventions.to_additive(mask)
    assert (mask == before).all()


# How a library reads a mask, found out by asking


def made_up_library(reads):
    """A library of which nothing is known but what it does with scores of 0 to 4 and a mask."""
    scores = np.arange(10.0).reshape(2, 5) % 5

    def weights_of(mask=None, is_causal=False):
        seen = scores if mask is None else reads(scores, mask)
        return softmax(np.where(conventions.causal_lower_right(2, 5), seen, -np.inf) if is_causal else seen)

    return weights_of


def test_a_library_that_adds_everything_is_found_out():
    answers = conventions.how_it_reads(made_up_library(lambda scores, mask: scores + mask))
    assert answers["True means"] == "neither"
    assert answers["whole numbers"] == answers["floats"] == "added"
    assert answers["is_causal, 2 × 5"] == "4 and 5 keys"  # the lower right corner


def test_a_library_that_takes_every_number_for_true_or_false_is_found_out():
    def averages(scores, mask):
        return np.where(mask.astype(bool), scores, -1e9)

    answers = conventions.how_it_reads(made_up_library(averages))
    assert answers["True means"] == "may attend"
    assert answers["whole numbers"] == answers["floats"] == "neither"
    assert answers["nobody to ask"] == "weights of 0.2"  # a plain average


def test_a_library_where_true_is_hidden_is_asked_about_the_empty_row_in_its_own_way():
    def hides(scores, mask):
        return np.where(conventions.from_hidden(mask), scores, -1e9)  # refuses numbers

    answers = conventions.how_it_reads(made_up_library(hides))
    assert list(answers.values()) == ["hidden", "refused", "refused", "4 and 5 keys", "weights of 0.2"]


# What must be refused, and how it says so

SQUARE, TRIPLE = causal_mask(3, 3), np.ones((4, 3, 3), dtype=bool)
REFUSED = [
    (
        lambda: conventions.from_hidden(np.eye(2)),
        TypeError,
        "hidden must be boolean, got float64: call from_ones",
    ),
    (lambda: conventions.to_hidden([[True]]), TypeError, "mask must be a boolean array, got list: wrap it"),
    (
        lambda: conventions.from_additive(np.array([0, 1])),
        TypeError,
        "got int64: for ones and zeros call from_ones",
    ),
    (
        lambda: conventions.from_additive(np.array([0.0, 1.0])),
        ValueError,
        "0 and -inf only, got 1: pass a bias as bias=",
    ),
    (lambda: conventions.from_additive(np.array([0.0, -1e4])), ValueError, "got -10000"),
    (lambda: conventions.from_additive(np.array([0.0, np.nan])), ValueError, "got nan"),
    (lambda: conventions.from_additive(SQUARE), TypeError, "added must hold numbers, got bool"),
    (
        lambda: conventions.from_ones(SQUARE),
        TypeError,
        "ones must hold numbers, got bool: it needs no conversion",
    ),
    (
        lambda: conventions.from_ones(np.array([1.0, -np.inf])),
        ValueError,
        "1 and 0 only, got -inf: for 0 and -inf call from_additive",
    ),
    (lambda: conventions.from_ones([1, 0]), TypeError, "ones must be an array, got list"),
    (
        lambda: conventions.to_additive(SQUARE, like=np.array([1])),
        TypeError,
        "like must hold floats, got int64",
    ),
    (lambda: conventions.from_multihead_attention(), TypeError, "both missing"),
    (
        lambda: conventions.from_multihead_attention(TRIPLE),
        ValueError,
        "joins batch and heads in its first axis: say n_heads=",
    ),
    (lambda: conventions.from_multihead_attention(TRIPLE, n_heads=3), ValueError, "got 4 with n_heads = 3"),
    (lambda: conventions.from_multihead_attention(TRIPLE[None]), ValueError, "2 or 3 axes, got shape"),
    (
        lambda: conventions.from_multihead_attention(key_padding_mask=TRIPLE),
        ValueError,
        "(batch, n_key) or (n_key,)",
    ),
    (lambda: conventions.to_multihead_attention(TRIPLE), ValueError, "n_heads is missing"),
    (lambda: conventions.to_multihead_attention(TRIPLE[:, :1], n_heads=2), ValueError, "n_query is missing"),
    (
        lambda: conventions.to_multihead_attention(SQUARE, n_query=4),
        ValueError,
        "got n_query = 4 and a mask with 3",
    ),
    (lambda: conventions.to_multihead_attention(SQUARE[0]), ValueError, "2, 3 or 4 axes"),
    (
        lambda: conventions.to_multihead_attention(TRIPLE, n_heads=True),
        ValueError,
        "whole number from 1 on, got True",
    ),
]


@pytest.mark.parametrize("call, kind, message", REFUSED)
def test_what_is_ambiguous_is_refused_in_one_line(call, kind, message):
    with pytest.raises(kind) as error:
        call()
    assert message in str(error.value) and "\n" not in str(error.value)
