"""The exception that every failing call raises."""

from __future__ import annotations


class Error(Exception):
    """What went wrong, and what to try next. `str(error)` is the message with those of its causes."""

    code: str = ""  # the category: "invalid", "not_found", …
    id: str = ""  # a stable name for programs: "context_length_exceeded"
    message: str = ""
    hint: str = ""
    partial_text: str = ""  # of an answer that it ended: what had been said
    cause: Error | None = None
