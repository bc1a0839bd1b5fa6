"""The module over a provider as remote ones are (tests/support/scripted_provider.cc): each event arrives as it was told, and an error
takes nothing of what came before it. Run by tests/library/python_test.py."""

import threading

import pytest

import wick

CALLS = [
    {"id": "call_a", "name": "weather", "arguments": '{"city": "Rome"}'},
    {"id": "call_b", "name": "weather", "arguments": '{"city": "Oslo"}'},
]


def events(name):
    stream = wick.Model("scripted:" + name).stream("x")
    return list(iter(stream.next_event, None))


def test_each_event_arrives_as_told():
    assert events("text") == [("text", "Hello "), ("text", "there."), ("usage", (12, 7)), ("done", "stop")]
    assert events("fragments") == [
        ("reasoning", "The user wants "),
        ("reasoning", "two cities."),
        ("text", "I look them up."),
        ("tool_call", (0, "call_a", "weather")),
        ("arguments", (0, '{"city": ')),
        ("tool_call", (1, "call_b", "weather")),
        ("arguments", (1, '{"city": "Os')),
        ("arguments", (0, '"Rome"}')),
        ("arguments", (1, 'lo"}')),
        ("usage", (12, 7)),
        ("done", "tool_calls"),
    ]
    assert events("broken") == [("text", "Half of "), ("text", "an answer"), ("done", "error")]


def test_blocking_has_reasoning_and_tool_calls_and_a_session_takes_their_results():
    answer = wick.Model("scripted:fragments").chat("x")
    assert (answer.text, answer.reasoning) == ("I look them up.", "The user wants two cities.")
    assert (answer.finish, answer.tool_calls) == ("tool_calls", CALLS)
    session = wick.Model("scripted:fragments").session()
    session.say("Rome and Oslo?")
    said = session.messages[1]
    assert said["reasoning_content"] == "The user wants two cities."
    assert [call["function"] for call in said["tool_calls"]] == [
        {"name": call["name"], "arguments": call["arguments"]} for call in CALLS
    ]
    session.send({"role": "tool", "tool_call_id": "call_a", "content": "17 degrees"}).finish()
    assert session.messages[2] == {"role": "tool", "tool_call_id": "call_a", "content": "17 degrees"}
    assert len(session.messages) == 4


def test_an_error_in_mid_stream_keeps_the_partial_text():
    model = wick.Model("scripted:broken")
    for ask in (model.complete, model.chat, model.session().say):
        with pytest.raises(wick.Error) as caught:
            ask("x")
        assert caught.value.id == "connection_lost"
        assert caught.value.partial_text == "Half of an answer"


def test_silence_ends_with_a_cancel_from_another_thread():
    cancel = wick.Cancel()
    seen = []

    def on_text(text):
        seen.append(text)
        threading.Timer(0.05, cancel.request).start()

    answer = wick.Model("scripted:silent").complete("x", on_text=on_text, cancel=cancel)
    assert (seen, answer.text, answer.finish) == (["And then"], "And then", "cancelled")


def test_what_the_provider_lacks_is_an_error_with_its_name():
    with pytest.raises(wick.Error) as caught:
        wick.Model("scripted:text").tokenize("x")
    assert caught.value.id == "not_supported"
