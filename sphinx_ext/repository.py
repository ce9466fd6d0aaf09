"""Points the page's buttons at the repository that the book is built from: a fork's build points at the
fork.

The repository is what CI says (GitHub and GitLab), or else git's remote. Without one there are no buttons,
rather than dead links. On a chapter one more button opens that chapter, running, in JupyterLab on Binder;
``_config.yml`` says on which (``launch_buttons: binderhub_url``).
"""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

HOSTS = ("github.com", "gitlab.com", "bitbucket.org")
REMOTE = re.compile(
    r"(?:https?://|ssh://|git@)(?:[^@/]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/](?P<path>[^/]+/[^/]+?)(?:\.git)?/?$"
)


class Repository(NamedTuple):
    """Where the book's source can be read, and on which branch."""

    url: str
    branch: str


def web_address(remote):
    """Return the web page of a git remote at a host that readers can open, or None.

    >>> web_address("git@github.com:someone/look-it-up.git")
    'https://github.com/someone/look-it-up'
    """
    match = REMOTE.match(remote.strip())
    if match is None or match["host"] not in HOSTS:
        return None
    return f"https://{match['host']}/{match['path']}"


def from_ci(env):
    """Return the repository that CI's variables name, or None."""
    if env.get("GITHUB_REPOSITORY"):
        remote = f"{env.get('GITHUB_SERVER_URL', 'https://github.com')}/{env['GITHUB_REPOSITORY']}"
        on_branch = env.get("GITHUB_REF_TYPE") == "branch" and "/merge" not in env.get("GITHUB_REF_NAME", "")
        branch = env["GITHUB_REF_NAME"] if on_branch else "main"
    elif env.get("CI_PROJECT_URL"):
        remote, branch = (
            env["CI_PROJECT_URL"],
            env.get("CI_COMMIT_BRANCH", env.get("CI_DEFAULT_BRANCH", "main")),
        )
    else:
        return None
    url = web_address(remote)
    return Repository(url, branch) if url else None


def git(folder, *arguments):
    """Return what git says, or an empty string where there is no git or no answer."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def from_git(folder):
    """Return the repository that git's remote ``origin`` names, or None."""
    url = web_address(git(folder, "remote", "get-url", "origin"))
    return Repository(url, git(folder, "branch", "--show-current") or "main") if url else None


def launch_url(hub, repository, path):
    """Return the link that opens a file of a repository in JupyterLab on a BinderHub.

    >>> launch_url("https://mybinder.org", Repository("https://github.com/ann/book", "main"), "chapters/01.ipynb")
    'https://mybinder.org/v2/gh/ann/book/main?urlpath=lab/tree/chapters/01.ipynb'
    """
    address = urlsplit(repository.url)
    owner_and_name = address.path.strip("/")
    where = {
        "github.com": f"gh/{owner_and_name}",
        "gitlab.com": f"gl/{quote(owner_and_name, safe='')}",
    }.get(address.netloc, f"git/{quote(repository.url, safe='')}")
    return f"{hub}/v2/{where}/{quote(repository.branch, safe='')}?urlpath=lab/tree/{quote(path)}"


def decide(app, config):
    """Tell the theme where the repository is; by default, Jupyter Book names its own."""
    repository = from_ci(os.environ) or from_git(app.srcdir)
    options = config.html_theme_options
    options["repository_url"] = repository.url if repository else ""
    options["repository_branch"] = repository.branch if repository else ""
    options["path_to_docs"] = ""
    options["use_repository_button"] = repository is not None
    # The theme knows no page for new issues elsewhere, and warns.
    options["use_issues_button"] = bool(repository) and "bitbucket" not in repository.url
    # The theme's own button puts a branch named a/b into the link as two parts of its path.
    hub = options.pop("launch_buttons", {}).get("binderhub_url", "").rstrip("/")
    config.launch_from = (hub, *repository) if hub and repository else None


def add_launch_button(app, pagename, templatename, context, doctree):
    """Put the button that opens this page on Binder first, if the page is a notebook."""
    source = Path(app.env.doc2path(pagename))
    if app.config.launch_from and doctree is not None and source.suffix == ".ipynb":
        hub, *repository = app.config.launch_from
        button = {
            "type": "link",
            "url": launch_url(hub, Repository(*repository), source.relative_to(app.srcdir).as_posix()),
            "tooltip": "Run this page: opens it in JupyterLab on Binder",
            "icon": "fas fa-rocket",
            "text": "",
            "label": "launch-button",
        }
        context["header_buttons"] = [button, *context.get("header_buttons", [])]


def setup(app):
    """Decide about the buttons as soon as the configuration is known."""
    app.add_config_value(
        "launch_from", None, "html"
    )  # where the repository is another, pages are written again
    app.connect("config-inited", decide)
    app.connect("html-page-context", add_launch_button, priority=600)  # after the theme's own
