"""A small model to train with the scale and without it: the experiment of chapter *scaling*.

Where it stands: on `lib.attention`, under the chapter; needs PyTorch. The model is one layer of attention
between an embedding and a vote, no more than the question needs. Its task is to write 16 letters backwards:
place i has to look up place 15 - i, which only attention can do.

Several models are trained at once, one a seed: every array has a leading axis ``seed``, and what is
multiplied stays within a seed. So five seeds cost little more than one. Call ``torch.set_num_threads(1)``
first, because on small arrays two threads wait for each other, and ``torch.set_flush_denormal(True)``,
because without the scale many weights are too small for ordinary numbers, and processors are slow with
those.
"""

from typing import NamedTuple

import numpy as np
import torch

from lib.attention import scaled_dot_product_attention
from lib.scaling import entropy, jacobian_norm

__all__ = ["History", "Summary", "forward", "last_losses", "start_values", "summary", "train"]

N_LETTERS, N_PLACES, D_MODEL, BATCH = 16, 16, 32, 8


class History(NamedTuple):
    """What happened while the models were trained.

    ``loss``, ``gradient`` (length of the gradient of W_Q and W_K together) and ``entropy`` (of the weights,
    mean over rows) are arrays ``(steps, seeds)``. ``first`` and ``last`` are the state before and after: a
    dictionary of ``queries``, ``keys`` (seeds, batch, places, d_k) and ``weights`` (seeds, batch, places,
    places).
    """

    loss: np.ndarray
    gradient: np.ndarray
    entropy: np.ndarray
    first: dict
    last: dict


class Summary(NamedTuple):
    """What a `History` comes to: how the models started, and how they ended.

    Of the first step: ``gradient``, the length of the gradient of W_Q and W_K, mean over seeds; ``jacobian``,
    the median ‖J‖ of all queries; ``silent``, the share of queries whose ‖J‖ is below 0.01; ``keys_read``, e
    to the mean entropy. Of the end: ``best`` and ``worst``, the last losses of the best and the worst seed.
    """

    gradient: float
    jacobian: float
    silent: float
    keys_read: float
    best: float
    worst: float


def start_values(d_k, start, n_seeds):
    """Return the parameters of ``n_seeds`` models before training, each with a leading axis ``seed``.

    ``start`` is the standard deviation of the numbers in W_Q and W_K. ``D_MODEL ** -0.5`` gives queries and
    keys whose components have variance 1, the paper's assumption; smaller ones give smaller queries and
    keys.

    >>> start_values(8, 0.02, n_seeds=3)["W_Q"].shape
    torch.Size([3, 32, 8])
    """
    unit = D_MODEL**-0.5  # keeps the variance of what is multiplied
    shapes = {
        "letter": (N_LETTERS, D_MODEL, 1.0),
        "place": (N_PLACES, D_MODEL, 1.0),
        "W_Q": (D_MODEL, d_k, start),
        "W_K": (D_MODEL, d_k, start),
        "W_V": (D_MODEL, D_MODEL, unit),
        "W_O": (D_MODEL, D_MODEL, unit),
        "vote": (D_MODEL, N_LETTERS, unit),
    }
    generators = [torch.Generator().manual_seed(seed) for seed in range(n_seeds)]
    return {
        name: torch.stack(
            [spread * torch.randn(rows, columns, generator=g) for g in generators]
        ).requires_grad_()
        for name, (rows, columns, spread) in shapes.items()
    }


def forward(parameters, letters, scale):
    """Run the models: letters ``(seed, batch, place)`` in, ``(seed, batch, place, letter)`` votes out.

    Also returns the state, as in `History`.
    ``scale`` goes to attention as it is: None for 1/√d_k, 1 for no scale.
    """
    seeds = torch.arange(letters.shape[0])[:, None, None]
    x = parameters["letter"][seeds, letters] + parameters["place"][:, None]  # (seed, batch, place, d_model)
    query, key, value = (_times(_normal(x), parameters[name]) for name in ("W_Q", "W_K", "W_V"))
    output, weights = scaled_dot_product_attention(query, key, value, scale=scale)
    x = x + _times(output, parameters["W_O"])
    state = {"queries": query, "keys": key, "weights": weights}
    state = {name: array.detach().numpy() for name, array in state.items()}
    return _times(_normal(x), parameters["vote"]), state


def _times(x, matrix):
    return torch.einsum("s...i,sij->s...j", x, matrix)  # each seed with its own matrix


def _normal(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:])  # each token to mean 0 and variance 1


def train(d_k, *, scaled, start, rate, steps=200, n_seeds=5):
    """Train ``n_seeds`` models to write letters backwards and return their `History`.

    Parameters
    ----------
    d_k : int, the width of queries and keys
    scaled : bool, divide the scores by √d_k or not
    start : float, the standard deviation of W_Q and W_K at the start
    rate : float, the learning rate of Adam
    steps, n_seeds : int. Seed s sees the same letters and, but for ``start``, the same starting values in
    every setting.

    >>> history = train(4, scaled=True, start=0.02, rate=1e-3, steps=3, n_seeds=2)
    >>> history.loss.shape, history.last["weights"].shape
    ((3, 2), (2, 8, 16, 16))
    """
    parameters = start_values(d_k, start, n_seeds)
    optimizer = torch.optim.Adam(parameters.values(), lr=rate)
    generators = [torch.Generator().manual_seed(1000 + seed) for seed in range(n_seeds)]
    records, first = [], None
    for _ in range(steps):
        letters = torch.stack([torch.randint(N_LETTERS, (BATCH, N_PLACES), generator=g) for g in generators])
        votes, state = forward(parameters, letters, None if scaled else 1)
        loss = _loss(votes, letters.flip(-1))  # (seed,)
        optimizer.zero_grad()
        loss.sum().backward()  # the sum, so that each seed has the gradient of its own loss
        optimizer.step()
        first = first or state
        spread_out = entropy(state["weights"]).mean(axis=(1, 2))  # (seed,)
        records.append((loss.detach().numpy(), _length(parameters), spread_out))
    return History(*(np.stack(column) for column in zip(*records, strict=True)), first, state)


def last_losses(history, steps=20):
    """Return the loss of each seed at the end, as the mean over the last ``steps``: ``(seeds,)``."""
    return history.loss[-steps:].mean(axis=0)


def summary(history):
    """Return the `Summary` of a `History`.

    >>> start = summary(train(4, scaled=True, start=0.02, rate=1e-3, steps=1, n_seeds=2))
    >>> f"{start.keys_read:.1f} of 16 keys read, {start.silent:.0%} of the queries silent"
    '16.0 of 16 keys read, 0% of the queries silent'
    """
    follows, losses = jacobian_norm(history.first["weights"]), last_losses(history)
    return Summary(
        gradient=float(history.gradient[0].mean()),
        jacobian=float(np.median(follows)),
        silent=float((follows < 0.01).mean()),
        keys_read=float(np.exp(history.entropy[0].mean())),
        best=float(losses.min()),
        worst=float(losses.max()),
    )


def _loss(votes, letters):
    """Return the cross-entropy of each seed: how surprised it is by the right letters."""
    return torch.nn.functional.cross_entropy(votes.movedim(-1, 1), letters, reduction="none").mean(dim=(1, 2))


def _length(parameters):
    """Return the length of the gradient of W_Q and W_K together, for each seed."""
    squares = sum(parameters[name].grad.square().sum(dim=(1, 2)) for name in ("W_Q", "W_K"))
    return squares.sqrt().numpy()
