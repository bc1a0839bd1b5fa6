"""The exception that every failing call raises."""


class Error(Exception):
    """What went wrong, and what to try next. `str(error)` is the message with those of its causes."""

    code = ""  # the category: "invalid", "not_found", …
    id = ""  # a stable name for programs: "context_length_exceeded"
    message = ""
    hint = ""
    cause = None  # an Error, or None
