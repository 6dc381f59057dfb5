"""`python -m reprise_reuse preprocess`: has an engine compute a corpus behind several prefixes before anybody asks."""

import argparse
import sys
from pathlib import Path

from reprise_reuse.preprocess.corpus import CorpusError, read_corpus
from reprise_reuse.preprocess.engine import EngineError, HttpEngine
from reprise_reuse.preprocess.run import Done, preprocess
from reprise_reuse.preprocess.windows import random_windows, similar_windows


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code: 0 fine, 1 failed."""
    options = _read_options(arguments)
    try:
        documents = read_corpus(options.corpus)
        if options.neighbours == "random":
            windows = random_windows(documents, options.contexts, options.window, options.seed)
        else:
            windows = similar_windows(documents, options.similar)
        engine = HttpEngine(options.engine, options.model, options.salt, options.api_key, only_idle=options.idle)
        engine.check()
        count = preprocess(windows, engine.compute, options.template, options.system, Done(options.state), _say)
    except (CorpusError, EngineError) as error:
        print(f"reprise_reuse: {error}", file=sys.stderr)
        return 1
    print(f"{len(documents)} documents, {count} prompts computed")
    return 0


def _say(done: int, of: int) -> None:
    end = "\n" if done == of or not sys.stderr.isatty() else "\r"
    print(f"preprocessing: {done} of {of} prompts", end=end, file=sys.stderr, flush=True)


def _read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="reprise_reuse", description=__doc__)
    command = parser.add_subparsers(required=True).add_parser("preprocess", help=__doc__)
    command.add_argument("corpus", nargs="+", type=Path, help='JSONL of {"text"}, plain files, or folders of them')
    command.add_argument("--engine", required=True, help="the engine's URL, as http://127.0.0.1:8000")
    command.add_argument("--model", help="as the engine serves it; its only one by default")
    command.add_argument("--api-key", help="sent as a bearer token")
    command.add_argument("--salt", help="the cache salt under which requests will come; none by default")
    command.add_argument("--neighbours", choices=["random", "similar"], default="random", help="what stands in front")
    command.add_argument("--contexts", type=int, default=4, help="random: prompts for each document")
    command.add_argument("--window", type=int, default=8, help="random: documents in a prompt")
    command.add_argument("--similar", type=int, default=2, help="similar: neighbours in front of each document")
    command.add_argument("--template", default="Document: {}\n\n", help="how a document stands in a prompt")
    command.add_argument("--system", default="Answer the question from the documents.\n\n", help="what stands first")
    command.add_argument("--state", type=Path, default=Path("preprocess.state"), help="what is done, to go on later")
    command.add_argument("--idle", action="store_true", help="compute only while the engine has nothing else to do")
    command.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
