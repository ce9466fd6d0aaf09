"""Runs a chapter again when anything that it uses has changed, and only then.

jupyter-cache looks at a notebook's code alone, so it would keep old outputs after a change in ``lib/``. Here each page gets a
fingerprint of all that its code depends on: the project's modules that it imports, directly or through others, the data beside
them and beside the notebook, and the versions of the installed packages that any of these import. The fingerprint joins what
jupyter-cache hashes (the kernel's entry in the metadata), and Sphinx is told to read a page again when it differs.

Imports are found by reading the code, not by running it: a module that is named only in a string is not seen.
"""

import ast
import hashlib
import json
import os
import sys
from functools import lru_cache
from importlib.metadata import packages_distributions, version
from importlib.util import resolve_name
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager


def imported_names(code, package=""):
    """Return the dotted names that Python code imports; a name may end in a function or a class.

    >>> sorted(imported_names("import numpy as np\\nfrom lib.show import word"))
    ['lib.show', 'lib.show.word', 'numpy']
    """
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            module = resolve_name(module, package) if node.level else module
            names.update({module, *(f"{module}.{alias.name}" for alias in node.names)})
    return names


def module_files(name, root):
    """Return the files under ``root`` that Python reads to import a dotted name: the packages on the way, and the module."""
    parts = name.split(".")
    paths = [root.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
    return {file for path in paths for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()}


def follow_imports(names, root):
    """Return the project's files that these names lead to, and the names of the installed packages that they import."""
    files, installed, waiting, seen = set(), set(), list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        found = module_files(name, root)
        if not found:
            installed.add(name.partition(".")[0])
        for file in found - files:
            package = ".".join(file.parent.relative_to(root).parts)
            waiting.extend(imported_names(file.read_text(encoding="utf-8"), package))
        files |= found
    return files, installed


def data_beside(folder):
    """Return the data that stands in a folder of notebooks or modules, and in the folders below it."""
    code = {".py", ".pyc", ".ipynb", ".md"}
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix not in code}


@lru_cache(maxsize=1)
def installed_packages():
    """Return which distributions provide each top-level module (asked once: it reads every installed package)."""
    return packages_distributions()


def installed_versions(names):
    """Return 'name version' of the distributions that provide the modules of these names."""
    return sorted({f"{dist} {version(dist)}" for name in names for dist in installed_packages().get(name, [])})


def fingerprint(code, notebook_folder, root):
    """Return a hash of everything that a notebook's code depends on, its own text excepted."""
    files, installed = follow_imports(imported_names(code), root)
    folders = {file.parent for file in files} | ({notebook_folder} - {root})
    files |= {path for folder in folders for path in data_beside(folder)}
    digest = hashlib.sha256()
    for line in [*sys.version_info[:2], *installed_versions(installed), *book_settings()]:
        digest.update(f"{line}\n".encode())
    for file in sorted(files):
        digest.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def book_settings():
    """Return the environment variables that change what the book shows, such as its language."""
    return sorted(f"{key}={value}" for key, value in os.environ.items() if key.startswith("LOOK_IT_UP_"))


def notebook_fingerprint(path, root):
    """Return the fingerprint of a notebook file."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    code = "\n".join(TransformerManager().transform_cell(source) for source in sources)
    try:
        return fingerprint(code, Path(path).parent, root)
    except SyntaxError as error:  # running the cell will say so, in its place
        return f"unreadable: {error}"


def is_notebook(env, docname):
    """Tell whether a page is a notebook."""
    return str(env.doc2path(docname)).endswith(".ipynb")


def add_fingerprint(app, docname, source):
    """Put the fingerprint into the notebook that is about to be read, where jupyter-cache hashes it."""
    if not is_notebook(app.env, docname):
        return
    current = notebook_fingerprint(app.env.doc2path(docname), Path(app.srcdir))
    notebook = json.loads(source[0])
    notebook["metadata"].setdefault("kernelspec", {"name": "python3", "display_name": "Python 3"})
    notebook["metadata"]["kernelspec"]["depends_on"] = current
    source[0] = json.dumps(notebook)
    app.env.metadata[docname]["depends_on"] = current


def outdated(app, env, added, changed, removed):
    """Name the pages whose fingerprint is no longer the one that they were read with."""
    known = [doc for doc in env.found_docs - added if is_notebook(env, doc)]
    return [
        doc
        for doc in known
        if env.metadata[doc].get("depends_on") != notebook_fingerprint(env.doc2path(doc), Path(app.srcdir))
    ]


def setup(app):
    """Connect to the two places where Sphinx decides what to read, and reads it."""
    app.connect("source-read", add_fingerprint)
    app.connect("env-get-outdated", outdated)
