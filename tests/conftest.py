"""What all tests share: Hypothesis draws the same examples in every run, and PyTorch stays on one core."""

import os

from hypothesis import HealthCheck, Phase, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when a test imports torch

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow],
)
# For the deliberate bugs: that an example fails is enough, nobody reads the smallest one.
settings.register_profile("first-failure", settings.get_profile("deterministic"), phases=[Phase.generate])
settings.load_profile("deterministic")
