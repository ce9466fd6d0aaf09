"""Points the page's buttons at the repository that the book is built from: a fork's build points at the fork.

The repository is what CI says (GitHub and GitLab), or else git's remote. Without one there are no buttons, rather than dead links.
"""

import os
import re
import subprocess
from typing import NamedTuple

HOSTS = ("github.com", "gitlab.com", "bitbucket.org")
REMOTE = re.compile(r"(?:https?://|ssh://|git@)(?:[^@/]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/](?P<path>[^/]+/[^/]+?)(?:\.git)?/?$")


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
    if "GITHUB_REPOSITORY" in env:
        remote = f"{env.get('GITHUB_SERVER_URL', 'https://github.com')}/{env['GITHUB_REPOSITORY']}"
        on_branch = env.get("GITHUB_REF_TYPE") == "branch" and "/merge" not in env.get("GITHUB_REF_NAME", "")
        branch = env["GITHUB_REF_NAME"] if on_branch else "main"
    elif "CI_PROJECT_URL" in env:
        remote, branch = env["CI_PROJECT_URL"], env.get("CI_COMMIT_BRANCH", env.get("CI_DEFAULT_BRANCH", "main"))
    else:
        return None
    url = web_address(remote)
    return Repository(url, branch) if url else None


def git(folder, *arguments):
    """Return what git says, or an empty string where there is no git or no answer."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def from_git(folder):
    """Return the repository that git's remote ``origin`` names, or None."""
    url = web_address(git(folder, "remote", "get-url", "origin"))
    return Repository(url, git(folder, "branch", "--show-current") or "main") if url else None


def add_buttons(app, config):
    """Tell the theme where the repository is, in place of Jupyter Book's default, which is Jupyter Book's own."""
    repository = from_ci(os.environ) or from_git(app.srcdir)
    options = config.html_theme_options
    options["repository_url"] = repository.url if repository else ""
    options["repository_branch"] = repository.branch if repository else ""
    options["path_to_docs"] = ""
    options["use_repository_button"] = options["use_issues_button"] = repository is not None
    options["launch_buttons"] = {}


def setup(app):
    """Decide about the buttons as soon as the configuration is known."""
    app.connect("config-inited", add_buttons)
