"""The small model of chapter 03: what is trained is what the chapter says is trained."""

import numpy as np
import pytest
import torch

from lib.scaling import entropy
from lib.training import (
    BATCH,
    D_MODEL,
    N_LETTERS,
    N_PLACES,
    History,
    forward,
    last_losses,
    start_values,
    summary,
    train,
)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def letters(n_seeds):
    return torch.randint(N_LETTERS, (n_seeds, BATCH, N_PLACES), generator=torch.Generator().manual_seed(0))


def test_variance_1_is_what_the_start_gives():
    _, state = forward(start_values(256, D_MODEL**-0.5, n_seeds=3), letters(3), None)
    assert state["queries"].var() == pytest.approx(1, rel=0.1)
    assert state["keys"].var() == pytest.approx(1, rel=0.1)


def test_a_seed_does_not_know_of_the_others():
    kwargs = dict(scaled=False, start=0.1, rate=0.01, steps=3)
    three, one = train(8, n_seeds=3, **kwargs), train(8, n_seeds=1, **kwargs)
    np.testing.assert_allclose(three.loss[:, :1], one.loss, rtol=1e-4)
    np.testing.assert_allclose(three.gradient[:, :1], one.gradient, rtol=1e-3)
    assert not np.allclose(three.loss[:, 0], three.loss[:, 1])


def test_without_the_scale_is_with_larger_scores():
    parameters = start_values(16, 0.1, n_seeds=1)
    louder = {name: array.detach() * (4 if name == "W_Q" else 1) for name, array in parameters.items()}
    without, _ = forward(parameters, letters(1), 1)
    with_scale, _ = forward(louder, letters(1), None)  # √16 = 4
    torch.testing.assert_close(without, with_scale)


def test_the_gradient_is_that_of_the_two_matrices():
    history = train(4, scaled=True, start=0.1, rate=0.01, steps=1, n_seeds=1)
    parameters = start_values(4, 0.1, n_seeds=1)
    generator = torch.Generator().manual_seed(1000)
    shown = torch.randint(N_LETTERS, (BATCH, N_PLACES), generator=generator)[None]
    votes, state = forward(parameters, shown, None)
    torch.nn.functional.cross_entropy(
        votes[0].reshape(-1, N_LETTERS), shown[0].flip(-1).reshape(-1)
    ).backward()
    both = torch.cat([parameters[name].grad.reshape(-1) for name in ("W_Q", "W_K")])
    assert history.gradient[0, 0] == pytest.approx(both.norm().item(), rel=1e-4)
    assert history.entropy[0, 0] == pytest.approx(entropy(state["weights"]).mean(), rel=1e-4)


def test_a_model_learns_to_write_backwards():
    history = train(16, scaled=True, start=0.02, rate=0.01, steps=150, n_seeds=1)
    assert history.loss[0, 0] > 2.5 and history.loss[-10:].mean() < 0.2  # ln 16 = 2.77 is guessing
    asked = history.last["weights"][0].mean(axis=0).argmax(axis=-1)
    assert (asked == np.arange(N_PLACES)[::-1]).mean() > 0.9  # place i looks up place 15 - i


def test_a_summary_is_of_the_first_step_and_of_the_last_losses():
    steps = np.arange(30.0)[:, None]
    loss = np.concatenate([30 - steps, 60 - steps], axis=1)  # the last 20 are 20 … 1 and 50 … 31
    gradient, entropies = steps + [[1, 3]], steps * 0 + np.log([[4, 4]])
    clear = np.eye(4)[None, None]  # four queries, each with all its weight on one key
    first = {"weights": np.stack([clear, np.full_like(clear, 0.25)])}  # of one seed silent, of the other not
    history = History(loss, gradient, entropies, first, last={"weights": clear})
    np.testing.assert_allclose(last_losses(history), [10.5, 40.5])
    found = summary(history)
    level = np.sqrt(4 * (1 / 4 * 3 / 4) ** 2 + 12 / 16**2)  # ‖J‖ of four equal weights
    np.testing.assert_allclose(found, (2, level / 2, 0.5, 4, 10.5, 40.5))
