"""Fixtures of the attention tests."""

import numpy as np
import pytest


@pytest.fixture
def normal():
    """Return a function that draws float64 normals of a shape, the same in every run."""
    rng = np.random.default_rng(0)
    return lambda *shape: rng.normal(size=shape)
