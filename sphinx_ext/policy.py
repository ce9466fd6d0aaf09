"""Puts a strict Content-Security-Policy into every page: nothing from another host, and no script but the book's own.

Scripts and styles come from files beside the page. A script within the page runs only if the build put it there itself (the
modules of the hands-on explorers): the policy has its hash. What a notebook's output holds gets no hash, and does not run.
Style attributes are let through (KaTeX sets its boxes with them, figures their turned letters); style elements are not.

Directives that a ``meta`` element cannot carry (``frame-ancestors``, ``sandbox``) are left out; a server may add them.

In a translated book Sphinx would make its rule of plurals from a string, in the reader's browser, which the policy forbids:
the rule is written as a function of the page's own script instead.
"""

import base64
import hashlib
import json
from pathlib import Path

POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["'self'", "data:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],  # search quotes the pages that it found
    "form-action": [
        "'self'"
    ],  # search; from a folder, ``site.js`` sends it, since for Firefox no file is 'self'
    "base-uri": ["'none'"],
}


def hash_source(text):
    """Return how a policy names an inline script or style.

    >>> hash_source("alert(1)")
    "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(**inline):
    """Return the policy as text; ``script=[…]`` and ``style=[…]`` are the texts that may stand within the page.

    >>> policy(script=["alert(1)"]).split("; ")[1]
    "script-src 'self' 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    """
    extra = {f"{kind}-src": list(map(hash_source, texts)) for kind, texts in inline.items()}
    return "; ".join(" ".join([name, *sources, *extra.get(name, [])]) for name, sources in POLICY.items())


def meta(content):
    """Return the element that carries a policy."""
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">'


def add_policy(app, pagename, templatename, context, doctree):
    """Put the policy before everything that it rules."""
    bodies = [js.attributes["body"] for js in context.get("script_files", []) if js.attributes.get("body")]
    context["metatags"] = meta(policy(script=bodies)) + context.get("metatags", "")


def without_eval(script):
    """Return Sphinx's script of translated words so that it needs no code from strings.

    >>> catalog = '{"locale": "de", "messages": {"Next": "Weiter"}, "plural_expr": "(n != 1)"}'
    >>> print(without_eval(f"Documentation.addTranslations({catalog});"))
    Object.assign(Documentation.TRANSLATIONS, {"Next": "Weiter"});
    Documentation.PLURAL_EXPR = (n) => Number((n != 1));
    Documentation.LOCALE = "de";
    <BLANKLINE>
    """
    catalog = json.loads(script[script.index("(") + 1 : script.rindex(")")])
    return (
        f"Object.assign(Documentation.TRANSLATIONS, {json.dumps(catalog['messages'], ensure_ascii=False)});\n"
        f"Documentation.PLURAL_EXPR = (n) => Number({catalog['plural_expr']});\n"
        f"Documentation.LOCALE = {json.dumps(catalog['locale'])};\n"
    )


def translate_without_eval(app, exception):
    """Rewrite the script of translated words, where the book's language has one."""
    path = Path(app.outdir) / "_static" / "translations.js"
    if exception is None and path.exists():
        script = path.read_text(encoding="utf-8")
        if "addTranslations" in script:
            path.write_text(without_eval(script), encoding="utf-8")


def setup(app):
    """Come last, when the page's scripts are known."""
    app.connect("html-page-context", add_policy, priority=950)
    app.connect("build-finished", translate_without_eval)
