"""Answers for asyncio. One file descriptor of a loop tells which of its streams have more, so no stream has a thread."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from wick._wick import Completion, Model, TokenLogprob, Session, Stream, _Wakes

if TYPE_CHECKING:
    from wick._wick import Message, Tokens


class _Waiting:
    """The streams of one loop that somebody waits for. The loop watches the file descriptor while there are any."""

    def __init__(self) -> None:
        self.wakes = _Wakes()
        self.last_key = 0
        self.futures: dict[int, asyncio.Future[None]] = {}

    def tell(self) -> None:
        for key in self.wakes.take():
            future = self.futures.get(key)
            if future is not None and not future.done():
                future.set_result(None)

    async def wait(self, loop: asyncio.AbstractEventLoop, key: int) -> None:
        if key in self.futures:
            raise RuntimeError("another task waits for this stream already")
        if not self.futures:
            loop.add_reader(self.wakes.fd, self.tell)
        self.futures[key] = loop.create_future()
        try:
            await self.futures[key]
        finally:
            del self.futures[key]
            if not self.futures:
                loop.remove_reader(self.wakes.fd)


_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiting] = weakref.WeakKeyDictionary()


def _of(loop: asyncio.AbstractEventLoop) -> _Waiting:
    if loop not in _of_loops:
        _of_loops[loop] = _Waiting()
    return _of_loops[loop]


class AsyncStream:
    """An answer on its way, as `Stream`. It belongs to the loop that runs when it is made, and one task at a time reads it. Cancelling
    a task that waits for it, leaving an `async with` block or dropping it cancels the request."""

    def __init__(self, begin: Callable[..., Stream], prompt: Any, settings: dict[str, Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting = _of(self._loop)
        self._waiting.last_key += 1
        self._key = self._waiting.last_key
        self._stream = begin(prompt, _wake=self._waiting.wakes.add(self._key), **settings)

    async def _more(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("the stream belongs to another event loop")
        try:
            await self._waiting.wait(self._loop, self._key)
        except asyncio.CancelledError:
            self._stream.cancel()
            raise

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> str:
        while (piece := self._stream._poll()) is None:
            if self._stream._is_over:
                self._stream.finish()  # raises if it failed
                raise StopAsyncIteration
            await self._more()
        return piece

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *args: object) -> None:
        self.cancel()

    async def next_event(self) -> tuple[str, object] | None:
        while (event := self._stream._poll_event()) is None and not self._stream._is_over:
            await self._more()
        return event

    async def finish(self) -> Completion:
        while not self._stream._is_over:
            if self._stream._poll() is None and not self._stream._is_over:
                await self._more()
        return self._stream.finish()

    def cancel(self) -> None:
        self._stream.cancel()

    @property
    def text(self) -> str:
        return self._stream.text

    @property
    def logprobs(self) -> list[TokenLogprob]:
        return self._stream.logprobs


# Methods of Model and Session.


def stream_async(
    owner: Model | Session, prompt: str | Tokens | Iterable[Message], **settings: Any
) -> AsyncStream:
    return AsyncStream(owner.stream, prompt, settings)


def send_async(session: Session, message: Message, **settings: Any) -> AsyncStream:
    return AsyncStream(session.send, message, settings)


async def complete_async(
    model: Model, prompt: str | Tokens | Iterable[Message], **settings: Any
) -> Completion:
    return await stream_async(model, prompt, **settings).finish()


async def chat_async(model: Model, messages: str | Iterable[Message], **settings: Any) -> Completion:
    asked: Iterable[Message] = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return await stream_async(model, asked, **settings).finish()


async def say_async(session: Session, text: str, **settings: Any) -> Completion:
    return await stream_async(session, text, **settings).finish()
