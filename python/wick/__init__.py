"""Language models on one's own machine: one library, the same bits always.

    model = wick.Model("model.gguf")
    print(model.chat("Why is the sky blue?", max_tokens=100).text)
    for piece in model.stream("Once upon a time", seed=1):
        print(piece, end="", flush=True)

Under asyncio: `async for piece in model.stream_async(…)`, `answer = await model.complete_async(…)`.
"""

from wick._async import AsyncStream
from wick._error import Error
from wick._wick import (
    Cancel, Completion, Model, ModelInfo, ModelPool, RequestEstimate, TokenLogprob, Session, Stream, TextConstraint,
    __version__, add_architecture, set_log
)

__all__ = [
    "AsyncStream", "Cancel", "Completion", "Error", "Model", "ModelInfo", "ModelPool", "RequestEstimate", "TokenLogprob", "Session", "Stream",
    "TextConstraint", "__version__", "add_architecture", "set_log"
]
