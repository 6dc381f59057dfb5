"""`python -m reprise_reuse preprocess`: has an engine compute a corpus after several prefixes, ahead of requests."""

import signal
import sys
import time
from collections.abc import Sequence

from reprise_reuse.preprocess.engine import HttpEngine
from reprise_reuse.preprocess.options import make_parts, read_options
from reprise_reuse.preprocess.prompts import FailedError, Prompt, UnusableError, read_corpus
from reprise_reuse.preprocess.run import Done, Leases, Outcome, preprocess


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Returns its exit code: 0 for success, 1 for failure, 2 for unusable input, 130 for Ctrl-C."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        print("\nreprise_reuse: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except (UnusableError, FailedError) as error:
        print(f"reprise_reuse: {error}", file=sys.stderr)
        return 2 if isinstance(error, UnusableError) else 1


def _run(arguments: list[str] | None) -> int:
    options = read_options(arguments, str(__doc__))
    documents = [] if options.check else read_corpus(options.corpus)
    parts = make_parts(documents, options) if documents else []
    engine = HttpEngine(
        options.engine, options.model, options.salt, options.api_key, only_idle=options.idle,
        preprocess_key=options.key, tenant=options.tenant,
    )  # fmt: skip
    engine.check()
    if options.check:
        return 0
    done = Done(options.state, engine.key)
    if options.again:
        done.forget(parts[0])
    leases = options.leases and Leases(options.leases, waits=_say_waiting)
    outcomes = _share(parts, engine, done, leases) if leases else [preprocess(parts[0], engine.compute, done, _say)]
    if leases and leases.done_before:
        advice = "another --share and --state compute them again"
        print(f"{leases.done_before} of {len(parts)} parts were done before, or by other workers: {advice}")
    count, refused = sum(one.computed for one in outcomes), [said for one in outcomes for said in one.refused]
    before = sum(one.before for one in outcomes)
    again = f", {before} were before: --again computes them again" if before else ""
    print(f"{len(documents)} documents, {count} prompts computed{again}")
    if count and not engine.stores:
        print("reprise_reuse: the engine has no metrics, so whether it keeps them is unknown", file=sys.stderr)
    if refused:
        advice = "if they are too long, a smaller --window makes them shorter, unless one document alone is too long"
        print(f"reprise_reuse: {len(refused)} prompts were refused ({advice}): {refused[0]}", file=sys.stderr)
    return 1 if refused else 0


def _share(parts: Sequence[Sequence[Prompt]], engine: HttpEngine, done: Done, leases: Leases) -> list[Outcome]:
    def say(number: int, of: int) -> None:
        leases.renew()
        _say(number, of)

    try:
        outcomes, unwritten = [], engine.unwritten()
        # whose engine it is does not matter
        for part in leases.share(parts, engine.key[1:]):
            outcomes.append(preprocess(part, engine.compute, done, say))
            if (now := engine.unwritten()) > unwritten:
                advice = "the same command with another --share and --state computes all again"
                lost = f"{now - unwritten} segments were not written to the engine's store ({advice})"
                print(f"reprise_reuse: {lost}", file=sys.stderr)
                unwritten = now
        return outcomes
    except BaseException:
        leases.release()
        raise


def _say_waiting(parts: int, until: float) -> None:
    first = time.strftime("%H:%M:%S", time.localtime(until))
    said = f"waiting for {parts} parts that other workers took: that of one that has ended is free from {first} on"
    print(f"preprocessing: {said}", file=sys.stderr, flush=True)


def _say(done: int, of: int) -> None:
    end = "\n" if done == of or not sys.stderr.isatty() else "\r"
    print(f"preprocessing: {done} of {of} prompts", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    # so that what is held is given back
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
