"""Answers in an asyncio loop: the same text, no thread for each, and what cancels a task ends its request."""

import asyncio
import gc
import os
import weakref

import pytest

import tiny_model
import wick

NOISE = dict(temperature=3, max_tokens=12)
ENDLESS = dict(temperature=0, max_tokens=3000, ignore_eos=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tiny_model.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf", context=4096)
    return wick.Model(path, threads=1, context=4096, max_concurrent=32, max_queue=1000, cache_limit_bytes=2**26)


def n_threads():
    return len(os.listdir("/proc/self/task"))


async def free(model):
    """Waits until the model does nothing any more: what was cancelled has ended."""
    while model.estimate("x").requests_before > 0:
        await asyncio.sleep(0.001)


def test_a_thousand_streams_of_one_loop_say_what_they_say_alone(model):
    alone = [model.complete("Once", seed=seed, **NOISE).text for seed in range(10)]
    assert len(set(alone)) == 10
    most = 0

    async def read(seed):
        nonlocal most
        pieces = []
        async for piece in model.stream_async("Once", seed=seed % 10, **NOISE):
            most = max(most, n_threads())
            pieces.append(piece)
        return "".join(pieces)

    async def main():
        return await asyncio.gather(*(read(seed) for seed in range(1000)))

    before = n_threads()
    assert asyncio.run(main()) == alone * 100
    assert most <= before


def test_answers_are_awaited_with_all_they_have(model):
    async def main():
        ids = model.tokenize("Once")
        return await asyncio.gather(
            model.complete_async("Once", seed=3, logprobs=True, **NOISE), model.complete_async(ids, seed=3, **NOISE)
        )

    whole = model.complete("Once", seed=3, logprobs=True, **NOISE)
    scored, of_ids = asyncio.run(main())
    assert scored.text == of_ids.text == whole.text
    assert [t.logprob for t in scored.logprobs] == [t.logprob for t in whole.logprobs]
    assert scored.finish == whole.finish


def test_pieces_have_scores_and_events_come_in_order(model):
    ask = dict(seed=3, logprobs=True, **NOISE)

    async def main():
        seen = []
        async with model.stream_async("Once", **ask) as stream:
            async for piece in stream:
                assert stream.text.endswith(piece)
                seen += stream.logprobs
            seen += stream.logprobs
            whole = await stream.finish()
        events = []
        stream = model.stream_async("Once", **ask)
        while event := await stream.next_event():
            events.append(event)
        return seen, whole, events

    seen, whole, events = asyncio.run(main())
    assert [t.id for t in seen] == [t.id for t in whole.logprobs]
    assert "".join(value for kind, value in events if kind == "text") == whole.text
    assert events[-1] == ("done", whole.finish)


def test_cancelling_a_task_ends_its_request(model):
    async def main():
        began = asyncio.Event()

        async def read():
            async for _ in model.stream_async("Once", **ENDLESS):
                began.set()

        for ask in (read(), model.complete_async("Once", **ENDLESS)):
            task = asyncio.create_task(ask)
            while model.estimate("x").requests_before == 0:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await free(model)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(model.complete_async("Once", **ENDLESS), 0.05)
        await free(model)

    asyncio.run(main())


def test_leaving_or_dropping_a_stream_ends_its_request(model):
    async def main():
        async with model.stream_async("Once", **ENDLESS) as stream:
            async for _ in stream:
                break
        assert (await stream.finish()).finish == "cancelled"
        async for _ in model.stream_async("Once", **ENDLESS):
            break
        await free(model)

        class Owner:
            def hook(self, logits, past):
                pass

        owner = Owner()
        owner.stream = model.stream_async("Once", logits=owner.hook, **ENDLESS)
        gone = weakref.ref(owner)
        del owner
        while gone() is not None:
            gc.collect()
            await asyncio.sleep(0.001)
        await free(model)

    asyncio.run(main())


def test_errors_reach_who_awaits(model):
    def fails(logits, past):
        raise ValueError("no more")

    async def main():
        with pytest.raises(wick.Error) as caught:
            await model.complete_async("Once", logits=fails)
        assert caught.value.id == "callback_failed"
        with pytest.raises(wick.Error, match="allowed are 0 to 1"):
            model.stream_async("Once", min_p=2)
        with pytest.raises(wick.Error, match="carries no chat template"):
            await model.chat_async("Once")
        stream = model.stream_async("Once", **ENDLESS)
        await stream.__anext__()
        first = asyncio.create_task(stream.finish())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="another task waits"):
            await stream.finish()
        stream.cancel()
        assert (await first).finish == "cancelled"
        return stream

    asyncio.run(main())
    with pytest.raises(RuntimeError, match="no running event loop"):
        model.stream_async("Once")

    async def begin():
        return model.stream_async("Once", **ENDLESS)

    stream = asyncio.run(begin())
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(stream.finish())


def test_the_loop_stays_free_while_answers_are_made(model):
    async def main():
        ticks = 0
        answer = asyncio.create_task(model.complete_async("Once", **ENDLESS))
        while not answer.done():
            await asyncio.sleep(0)
            ticks += 1
        return ticks, answer.result()

    ticks, answer = asyncio.run(main())
    assert answer.generated_tokens == 3000
    assert ticks > 1000


def test_a_session_goes_on(tmp_path):
    template = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"
    model = wick.Model(tiny_model.write(tmp_path / "tiny.gguf"), threads=1, chat_template=template)

    async def main():
        talk = model.session()
        first = await talk.say_async("a", seed=1, max_tokens=4)
        second = "".join([piece async for piece in talk.stream_async("b", seed=1, max_tokens=4)])
        third = await talk.send_async({"role": "user", "content": "c"}, seed=1, max_tokens=4).finish()
        assert [m["content"] for m in talk.messages] == ["a", first.text, "b", second, "c", third.text]
        assert first.text == (await model.chat_async("a", seed=1, max_tokens=4)).text

    asyncio.run(main())
