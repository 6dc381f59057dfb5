"""The options of `python -m reprise_reuse preprocess`, checked."""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from reprise_reuse.preprocess.prompts import (
    Prompt,
    Similar,
    UnusableError,
    bm25,
    prompts_of,
    random_windows,
    similar_windows,
)  # fmt: skip
from reprise_reuse.stores.store import store_at

PART = 64
"""documents or prompts that one of several workers computes at a time"""
Item = TypeVar("Item")
_SIMILAR = {"similar": 10, "mixed": 2}
"""similar documents in front, by default"""
_LEAST = {"contexts": 1, "window": 2, "similar": 1}


def read_options(arguments: list[str] | None, about: str) -> argparse.Namespace:
    """Returns the options. Raises `UnusableError`."""
    options = _parse(arguments, about)
    are_found = options.similar_by or importlib.util.find_spec("bm25s")
    if options.neighbours is None:
        options.neighbours = "similar" if options.similar_by else "mixed" if are_found else "random"
        if not are_found:
            advice = "pip install './kernels[preprocess]' for similar ones, too, or say --neighbours random"
            print(f"reprise_reuse: without bm25s documents stand behind random ones only: {advice}", file=sys.stderr)
    elif options.neighbours != "random" and not are_found:
        raise UnusableError(f"--neighbours {options.neighbours} needs bm25s: pip install './kernels[preprocess]'")
    if options.similar_by:
        _function_of(options.similar_by)
    if options.similar is None:
        options.similar = _SIMILAR.get(options.neighbours, 1)
    for name, least in _LEAST.items():
        if getattr(options, name) < least:
            raise UnusableError(f"--{name} is {getattr(options, name)}, it must be a whole number from {least} on")
    if "{}" not in options.template:
        raise UnusableError(f"--template is {options.template!r}, it must hold {{}} where the document stands")
    if not options.engine.startswith(("http://", "https://")):
        raise UnusableError(f"--engine is {options.engine!r}, it must be an http or https URL")
    if options.share and options.again:
        raise UnusableError("--again would compute what other workers have: name another place with --share")
    try:
        options.leases = store_at(options.share)() if options.share else None
    except ValueError as error:
        raise UnusableError(f"--share is {options.share!r}, {error}") from error
    return options


def make_parts(documents: Sequence[str], options: argparse.Namespace) -> list[Sequence[Prompt]]:
    """Returns the prompts to compute, in parts that several workers share; one part, if there is only one worker.

    A document stands in the windows of one part only, since an engine averages only what it has computed itself. With
    similar neighbours it is kept of one prompt only, so that any part may have that prompt.
    """
    # in the same order for all workers
    documents = sorted(documents) if options.share else documents
    with _named(options.similar_by):
        find = None
        if options.neighbours != "random":
            find = (_function_of(options.similar_by) if options.similar_by else bm25)(documents)
        if not options.share:
            return [_prompts(documents, options, find)]
        if options.neighbours == "similar":
            return _cut(_prompts(documents, options, find))
        return [_prompts(part, options, find) for part in _cut(documents)]


def _prompts(documents: Sequence[str], options: argparse.Namespace, find: Similar | None) -> list[Prompt]:
    """Mixed neighbours are similar ones first: random windows may give a document more contexts than it needs."""
    behind = {"random": 0, "similar": 1, "mixed": options.contexts // 2}[options.neighbours]
    prompts: list[Prompt] = []
    for number in range(behind):
        windows = similar_windows(documents, options.similar, find, number * options.similar)
        prompts += prompts_of(windows, options.template, options.system, keeps_last=True)
    if options.neighbours != "similar":
        windows = random_windows(documents, options.contexts - behind, options.window, options.seed)
        prompts += prompts_of(windows, options.template, options.system)
    return prompts


def _cut(items: Sequence[Item]) -> list[Sequence[Item]]:
    return [items[begin : begin + PART] for begin in range(0, len(items), PART)]


@contextmanager
def _named(place: str | None) -> Iterator[None]:
    """Says of a fault whose function had it."""
    try:
        yield
    except Exception as error:
        if place is None or isinstance(error, UnusableError):
            raise
        raise UnusableError(f"--similar-by {place}: {type(error).__name__}: {error}") from error


def _function_of(place: str) -> Callable[[Sequence[str]], Similar]:
    module, _, name = place.partition(":")
    if not module or not name:
        raise UnusableError(f"--similar-by is {place!r}, it must be MODULE:FUNCTION")
    with _named(place):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise UnusableError(f"--similar-by: {error}") from error


def _parse(arguments: list[str] | None, about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="reprise_reuse", description=about)
    command = parser.add_subparsers(required=True).add_parser("preprocess", help=about)
    command.add_argument("corpus", nargs="+", type=Path, help='JSONL of {"text"}, plain files, or folders of them')
    command.add_argument(
        "--engine", required=True,
        help="the URL of the engine, as http://127.0.0.1:8000, or of the proxy in front of it: what comes through a "
        "proxy finds only what was computed through it",
    )  # fmt: skip
    command.add_argument("--model", help="as the engine serves it; its only one by default")
    command.add_argument(
        "--api-key", default=os.environ.get("REPRISE_API_KEY"),
        help="sent as a bearer token; through a proxy, one of the tenant's (REPRISE_API_KEY)",
    )  # fmt: skip
    command.add_argument("--tenant", help="sent as x-reprise-tenant, which a proxy believes if it trusts the sender")
    command.add_argument("--key", help="the engine's reuse.preprocess_key: all users trust what is computed with it")
    command.add_argument("--salt", help="the cache salt of later requests; a proxy sets its own")
    command.add_argument(
        "--neighbours", choices=["mixed", "random", "similar"],
        help="in front; mixed, with similar ones in half of the contexts, where bm25s is installed",
    )  # fmt: skip
    command.add_argument("--contexts", type=int, default=4, help="random, mixed: of each document (%(default)s)")
    command.add_argument("--window", type=int, default=8, help="random: documents in a prompt (%(default)s)")
    command.add_argument("--similar", type=int, help="similar, mixed: neighbours in front (10, 2)")
    command.add_argument(
        "--similar-by", metavar="MODULE:FUNCTION",
        help="similar, by this function in place of words: of all documents it makes one that takes a document and a "
        "number and returns so many others, the most similar first",
    )  # fmt: skip
    command.add_argument("--template", default="Document: {}\n\n", help="how a document stands in a prompt, at {}")
    command.add_argument("--system", default="Answer the question from the documents.\n\n", help="what stands first")
    command.add_argument("--state", type=Path, default=Path("preprocess.state"), help="what is done, to go on later")
    command.add_argument("--again", action="store_true", help="compute what is done, too: the engine has forgotten it")
    command.add_argument(
        "--check", action="store_true",
        help="compute nothing: find out whether the options can be used and the engine answers",
    )  # fmt: skip
    command.add_argument("--idle", action="store_true", help="compute only while the engine has nothing else to do")
    command.add_argument(
        "--share", metavar="ADDRESS",
        help="where several of these commands, each with an engine of its own, leave who computes what: file:///FOLDER "
        "or mooncake://HOST:PORT",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=0, help="random: of the order of documents (%(default)s)")
    return parser.parse_args(arguments)
