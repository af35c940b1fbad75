"""What may go wrong, by audience.

`UsageError` is for the person at the keyboard: one sentence that names the thing and the remedy (exit code 2).
`AgentWorldError` and its other kinds are broken machinery, named after the boundary that broke (exit code 1).
A failed program, tool call or episode is a value, not an exception.
"""


class AgentWorldError(Exception):
    """Something of ours or of the machine failed. The message is one sentence with the remedy."""

    exit_code = 1


class UsageError(AgentWorldError):
    """The input is wrong: a file, a key, a name, a value."""

    exit_code = 2


class SandboxError(AgentWorldError):
    """The sandbox could not run anything at all (not: what it ran failed)."""


class WebError(AgentWorldError):
    """A search backend, page or browser could not be reached at all."""


class ModelError(AgentWorldError):
    """A chat model did not answer, or not in the agreed form, within its retries."""


class StoreError(AgentWorldError):
    """The workspace or the index on disk is missing, damaged, or owned by another process."""


class SpecError(AgentWorldError):
    """A tool specification cannot be read; the message names the path inside it."""
