"""The requests of tests/data/library/same_answers.json through the module, blocking, pulled and in a loop: bit for bit what C++ and C
answer (src/library/same_answers_test.cc). Run by tests/library/python_test.py, which leaves those answers in WICK_SAME_ANSWERS."""

import asyncio
import json
import os
import pathlib
import re
import struct

import pytest

import wick

FOLDER = pathlib.Path(os.environ["WICK_SAME_ANSWERS"])
REQUESTS = json.loads((pathlib.Path(__file__).parents[2] / "data/library/same_answers.json").read_text())
DATA = json.loads(json.dumps(REQUESTS, sort_keys=True))  # as the C++ test's parser has it: templates show the keys of tools
NAMES = [request["name"] for request in DATA["requests"]]


@pytest.fixture(scope="module")
def wanted():
    _, *parts = re.split(r"^request (.*)\n", (FOLDER / "answers.txt").read_text(), flags=re.M)
    return dict(zip(parts[::2], parts[1::2]))


@pytest.fixture(scope="module")
def model():
    return wick.Model(FOLDER / "model.gguf", threads=2, chat_template=DATA["chat_template"])


def bits(value):
    return f"bits {struct.unpack('<Q', struct.pack('<d', value))[0]}"


def scored(tokens):
    for token in tokens:
        yield f"token {token.id} {token.bytes.hex()} {bits(token.logprob)}"
        for likely in token.top_logprobs:
            yield f"  likely {likely.id} {likely.bytes.hex()} {bits(likely.logprob)}"


def dump(text, logprobs, end):
    lines = [f"text {text.encode().hex()}", f"reasoning {end.reasoning.encode().hex()}", *scored(logprobs), f"finish {end.finish}"]
    lines.append(f"tokens {end.prompt_tokens} {end.generated_tokens}")
    for key, (value, origin) in end.parameters.items():
        lines.append(f"parameter {key} {bits(value) if isinstance(value, float) else value} {origin}")
    return "\n".join([*lines, *scored(end.prompt_logprobs), ""])


def blocking(model, prompt, settings):
    pushed = []
    ask = model.chat if isinstance(prompt, list) and isinstance(prompt[0], dict) else model.complete
    answer = ask(prompt, on_text=pushed.append, **settings)
    assert "".join(pushed) == answer.text
    return dump(answer.text, answer.logprobs, answer)


def pulled(model, prompt, settings):
    stream = model.stream(prompt, **settings)
    text, logprobs = "", []
    for piece in stream:
        text += piece
        logprobs += stream.logprobs
    logprobs += stream.logprobs
    return dump(text, logprobs, stream.finish())


def by_event(model, prompt, settings):
    stream = model.stream(prompt, **settings)
    text, logprobs = "", []
    for kind, value in iter(stream.next_event, None):
        text += value if kind == "text" else ""
        logprobs += value if kind == "logprobs" else []
    return dump(text, logprobs, stream.finish())


def awaited(model, prompt, settings):
    answer = asyncio.run(model.complete_async(prompt, **settings))
    return dump(answer.text, answer.logprobs, answer)


def in_a_loop(model, prompt, settings):
    async def read():
        stream = model.stream_async(prompt, **settings)
        text, logprobs = "", []
        async for piece in stream:
            text += piece
            logprobs += stream.logprobs
        logprobs += stream.logprobs
        return dump(text, logprobs, await stream.finish())

    return asyncio.run(read())


def test_the_requests_are_those_that_were_answered(wanted):
    assert list(wanted) == NAMES and len(NAMES) >= 12


@pytest.mark.parametrize("request_", DATA["requests"], ids=NAMES)
@pytest.mark.parametrize("way", [blocking, pulled, by_event, awaited, in_a_loop])
def test_the_same_answer(model, wanted, request_, way):
    settings = dict(request_["settings"])
    if "logit_bias" in settings:
        settings["logit_bias"] = {int(id): bias for id, bias in settings["logit_bias"].items()}
    try:
        said = way(model, request_["prompt"], settings)
    except wick.Error as error:
        said = f"error {error.id}\n"
    assert said == wanted[request_["name"]]
