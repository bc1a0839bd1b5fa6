"""The exception that every failing call raises."""

from __future__ import annotations


class Error(Exception):
    """What went wrong, and what to try next. `str(error)` is the message with those of its causes."""

    code: str = ""  # the category: "invalid", "not_found", …
    id: str = ""  # a stable name for programs: "context_length_exceeded"
    message: str = ""
    hint: str = ""
    partial_text: str = ""  # of an answer that it ended: what had been said
    retry_after_s: int = 0  # with code "unavailable": seconds to wait; 0 = not known
    offset: int = -1  # of a text that was parsed (a schema, regex or grammar): the byte where it is wrong
    cause: Error | None = None
