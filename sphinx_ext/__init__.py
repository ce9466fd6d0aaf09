"""What the build of the book needs and Jupyter Book lacks. No chapter imports anything from here.

``_config.yml`` names this package as a Sphinx extension; each of its modules does one job and says which at
its head.
"""

import hashlib
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent

# A new part of the build is a module with a ``setup(app)``, named here.
PARTS = (
    "strict",
    "rerun",
    "mathematics",
    "pages",
    "text",
    "repository",
    "address",
    "explorers",
    "hands_on",
    "policy",
)


def own_fingerprint():
    """Return a hash of this package, so that Sphinx reads every page again after a change here."""
    files = sorted(path for path in HERE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def setup(app):
    """Load every part."""
    for part in PARTS:
        import_module(f"{__name__}.{part}").setup(app)
    return {"env_version": own_fingerprint(), "parallel_read_safe": True, "parallel_write_safe": True}
