"""Why the command ends. The messages say what, where and, if something can be done about it, what."""


class UnusableError(Exception):
    """What was given cannot be used: an option, a state file, a server that is not the engine."""


class FailedError(Exception):
    """The corpus cannot be read, or the engine or the place of leases failed."""


class RefusedError(FailedError):
    """A prompt that the engine refuses, as one that is too long. The message has its answer."""
