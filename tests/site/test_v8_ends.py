"""A process that has used V8 to draw or to render ends by itself: on Python 3.13 one with an open V8 does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USES = {
    "a formula": "from sphinx_ext.mathematics import render; assert 'katex' in render('x^2')",
    "an explorer": "from lib.show import explorers; assert 'lu-plane' in explorers.shelf().to_html()",
}


@pytest.mark.parametrize("code", USES.values(), ids=USES)
def test_it_ends(code, tmp_path):
    env = os.environ | {"PYTHONPATH": str(ROOT), "LOOK_IT_UP_FRAMES": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
