"""The module over the default model, whose greedy answers are known."""

import gc
import os
import pathlib
import sys
import threading

import numpy
import pytest

import wick

MODEL = os.environ.get(
    "WICK_TEST_MODEL",
    str(pathlib.Path.home() / ".cache/wick-test/SmolLM2-135M-Instruct.Q4_1.gguf"),
)
if not os.path.exists(MODEL):
    sys.exit(f"this test needs {MODEL}, which is not there: run tools/fetch_test_data")
TOKYO = "The capital of Japan is Tokyo."
GREEDY = {"temperature": 0, "max_tokens": 24}


@pytest.fixture(scope="module")
def model():
    return wick.Model(MODEL, context=2048)


def test_describes_the_model(model):
    assert model.architecture == "llama"
    assert model.vocabulary == 49152
    assert model.context == 2048
    assert model.weight_bytes > 90_000_000


def test_chat_complete_and_stream_agree(model):
    question = "What is the capital of Japan?"
    answer = model.chat(question, **GREEDY)
    assert answer.text == str(answer) == TOKYO
    assert answer.finish == "stop"
    assert answer.generated_tokens == 8
    pieces = list(model.stream([{"role": "user", "content": question}], **GREEDY))
    assert len(pieces) > 1
    assert "".join(pieces) == TOKYO
    told = []
    model.chat(question, on_text=told.append, **GREEDY)
    assert "".join(told) == TOKYO


def test_an_answer_says_which_parameters_held_and_who_set_them(model):
    answer = model.complete("Once", temperature=0.5, max_tokens=2)
    assert answer.parameters["temperature"] == (0.5, "request")
    assert answer.parameters["max_tokens"] == (2, "request")
    assert answer.parameters["samplers"][1] == "default"
    assert "top_k;" in answer.parameters["samplers"][0]


def together(ask):
    """What ask(0) to ask(3) give when four threads ask at once."""
    answers = [None] * 4

    def run(i):
        answers[i] = ask(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_seed_gives_the_same_text_in_any_company(model):
    def ask(seed):
        return model.complete("Once upon a time", seed=seed, max_tokens=16).text

    alone = [ask(seed) for seed in range(4)]
    assert len(set(alone)) == 4
    assert together(ask) == alone


def test_the_interpreter_runs_while_an_answer_is_made(model):
    ticks = 0
    done = threading.Event()

    def answer():
        model.complete("Count: one, two,", temperature=0, max_tokens=32)
        done.set()

    thread = threading.Thread(target=answer)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 10


def test_a_session_remembers_and_computes_only_what_is_new(model):
    talk = model.session("You are brief.")
    talk.say("What is the capital of Japan?", **GREEDY)
    second = talk.say("And of France?", **GREEDY)
    assert "Paris" in second.text
    assert second.cached_tokens > second.prompt_tokens / 2
    assert [m["role"] for m in talk.messages] == ["system"] + ["user", "assistant"] * 2
    assert talk.undo()
    assert len(talk.messages) == 3
    talk.reset()
    assert len(talk.messages) == 1


def test_a_session_goes_on_from_a_file(model, tmp_path):
    talk = model.session()
    talk.say("What is the capital of Japan?", **GREEDY)
    talk.save(tmp_path / "talk")
    again = wick.Model(MODEL, context=2048).load_session(tmp_path / "talk")
    assert again.messages == talk.messages
    answer = again.say("And of France?", **GREEDY)
    assert answer.text == talk.say("And of France?", **GREEDY).text
    assert answer.cached_tokens > 30
    with pytest.raises(wick.Error) as caught:
        wick.Model(MODEL, context=2048, cache_type="f16").load_session(tmp_path / "talk")
    assert caught.value.id == "session_of_other_cache"


def test_a_tenant_that_is_closed_begins_anew(model):
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    ask = dict(max_tokens=1, temperature=0, tenant=77)
    model.complete(text, **ask)
    assert model.complete(text, **ask).cached_tokens > 0
    assert model.close_tenant(77, wipe=True) > 0
    assert model.close_tenant(77) == 0
    assert model.complete(text, **ask).cached_tokens == 0


def test_tokens_there_and_back(model):
    ids = model.tokenize("Same bits always.\n")
    assert ids == [67, 513, 11038, 1811, 30, 198]
    assert model.detokenize(ids) == "Same bits always.\n"


def test_texts_become_vectors(model):
    about_cats, about_kittens, about_tax = model.embed(["The cat sleeps.", "A kitten is asleep.", "File the tax return by May."])
    assert len(about_cats) == 576
    alike = sum(a * b for a, b in zip(about_cats, about_kittens))
    assert 0.5 < alike < 1 and alike > sum(a * b for a, b in zip(about_cats, about_tax))
    with pytest.raises(wick.Error):
        model.embed(["x"], pooling="median")


def test_cancelling_keeps_what_there_is(model):
    cancel = wick.Cancel()
    answer = model.complete("1, 2, 3,", on_text=lambda _: cancel.request(), cancel=cancel)
    assert answer.finish == "cancelled"
    assert answer.text
    assert model.complete("1, 2, 3,", on_text=lambda _: False).finish == "cancelled"
    with model.stream("1, 2, 3,") as stream:
        next(stream)
    assert stream.finish().finish == "cancelled"


def test_a_hook_changes_the_logits(model):
    def only_a(logits, tokens):
        assert tokens[-1] >= 0
        view = numpy.asarray(logits)
        view[:] = -numpy.inf
        view[model.tokenize("a")[0]] = 0

    assert model.complete("b", logits=only_a, max_tokens=3).text == "aaa"


def test_log_probabilities_are_those_of_the_raw_logits(model):
    rows = []

    def look_and_change(logits, tokens):
        rows.append(numpy.array(logits, dtype=numpy.float64))
        numpy.asarray(logits)[:100] = -numpy.inf

    ask = dict(seed=3, max_tokens=6, logprobs=True, top_logprobs=5)
    answer = model.complete("Once upon a time", logits=look_and_change, **ask)
    assert len(answer.logprobs) == len(rows) == answer.generated_tokens
    for row, token in zip(rows, answer.logprobs):
        want = row - row.max() - numpy.log(numpy.exp(row - row.max()).sum())
        assert token.logprob == pytest.approx(want[token.id], abs=2e-6)
        assert [t.id for t in token.top_logprobs] == list(numpy.argsort(-row, kind="stable")[:5])
        assert [t.logprob for t in token.top_logprobs] == pytest.approx(list(want[[t.id for t in token.top_logprobs]]), abs=2e-6)
    assert answer.text.encode().startswith(b"".join(t.bytes for t in answer.logprobs[:2]))
    assert repr(answer.logprobs[0]).startswith("TokenLogprob(b'")
    assert model.complete("Once", max_tokens=1).logprobs == []


def test_a_prompt_is_scored_like_what_was_drawn(model):
    drawn = model.complete("One, two, three,", temperature=0, max_tokens=8, logprobs=True, top_logprobs=20)
    again = model.complete("One, two, three," + drawn.text, max_tokens=1, prompt_logprobs=True, top_logprobs=20)
    assert len(again.prompt_logprobs) == again.prompt_tokens - 1
    for a, b in zip(again.prompt_logprobs[-8:], drawn.logprobs):
        assert (a.id, a.bytes, a.logprob) == (b.id, b.bytes, b.logprob)
        assert [(t.id, t.logprob) for t in a.top_logprobs] == [(t.id, t.logprob) for t in b.top_logprobs]


def test_scores_are_the_same_in_any_company(model):
    def ask(seed):
        answer = model.complete("Once upon a time", seed=seed, max_tokens=8, logprobs=True, top_logprobs=3)
        return [(t.id, t.logprob, [(u.id, u.logprob) for u in t.top_logprobs]) for t in answer.logprobs]

    alone = [ask(seed) for seed in range(4)]
    assert together(ask) == alone


def test_each_piece_has_its_tokens_scores(model):
    ask = dict(seed=3, max_tokens=12, logprobs=True, top_logprobs=2)
    stream = model.stream("Write: é, 東京", **ask)
    assert stream.logprobs == []
    seen = []
    for piece in stream:
        assert piece and piece in stream.text
        seen += stream.logprobs
    seen += stream.logprobs  # what no text follows
    wanted = stream.finish().logprobs
    assert len(wanted) > 4

    def plain(tokens):
        return [(t.id, t.bytes, t.logprob, plain(t.top_logprobs)) for t in tokens]

    assert plain(seen) == plain(wanted)
    unscored = model.stream("Once", max_tokens=3)
    assert all(unscored.logprobs == [] for _ in unscored)


def test_a_sessions_plan_is_what_its_next_question_then_reports(model):
    talk = model.session("You are brief.")
    talk.say("What is the capital of Japan?", **GREEDY)
    before = talk.messages
    estimate = talk.estimate("And of France?", **GREEDY)
    assert talk.messages == before
    answer = talk.say("And of France?", **GREEDY)
    assert (estimate.prompt_tokens, estimate.cached_tokens) == (answer.prompt_tokens, answer.cached_tokens)
    assert estimate.cached_tokens > estimate.prompt_tokens / 2
    stream = talk.stream("And of Italy?", **GREEDY)
    with pytest.raises(wick.Error) as caught:
        talk.estimate("And of Spain?")
    assert caught.value.id == "session_busy"
    stream.finish()


def test_a_plan_says_what_the_answer_then_reports():
    model = wick.Model(MODEL, context=2048)
    text = " ".join(f"sheep {i}" for i in range(60))
    estimate = model.estimate(text, max_tokens=10)
    assert (estimate.miss, estimate.cached_tokens, estimate.ttft_ms) == ("never seen", 0, None)
    assert estimate.miss_cached is None
    assert estimate.blocks == -(-(estimate.prompt_tokens + 10) // 16)
    assert 0 < estimate.blocks <= estimate.free_blocks and estimate.cache_bytes > 0 == estimate.requests_before
    assert model.complete(text, max_tokens=1).prompt_tokens == estimate.prompt_tokens
    longer = model.estimate(text + " and then the cat", max_tokens=10)
    assert longer.ttft_ms > 0
    answer = model.complete(text + " and then the cat", max_tokens=1)
    assert (longer.prompt_tokens, longer.cached_tokens) == (answer.prompt_tokens, answer.cached_tokens)
    question = [{"role": "user", "content": "What is the capital of Japan?"}]
    assert model.estimate(question).prompt_tokens == model.chat(question, max_tokens=1).prompt_tokens
    with pytest.raises(wick.Error) as caught:
        model.estimate("a " * 4000)
    assert caught.value.id == "context_length_exceeded"


def test_what_a_hook_raises_ends_its_request(model):
    def fails(logits, tokens):
        raise ValueError("no more")

    with pytest.raises(wick.Error, match="no more") as caught:
        model.complete("b", logits=fails)
    assert caught.value.id == "callback_failed"
    with pytest.raises(wick.Error):
        list(model.stream("b", logits=fails))


def test_what_a_sink_raises_reaches_the_caller(model):
    def fails(text):
        raise KeyError(text)

    with pytest.raises(KeyError):
        model.complete("b", on_text=fails, max_tokens=8)


def test_errors_say_what_to_do(model):
    with pytest.raises(wick.Error) as caught:
        wick.Model("/no/such/model.gguf")
    assert caught.value.code == "not_found"
    assert "/no/such/model.gguf" in str(caught.value)
    assert caught.value.hint
    with pytest.raises(wick.Error, match="allowed are 0 to 1"):
        model.complete("a", min_p=2)
    with pytest.raises(wick.Error) as caught:
        model.complete("a " * 4000)
    assert caught.value.id == "context_length_exceeded"
    with pytest.raises(wick.Error, match="allowed are 0 to 20"):
        model.complete("a", logprobs=True, top_logprobs=21)
    with pytest.raises(TypeError, match="no_such"):
        wick.Model(MODEL, no_such=1)
    with pytest.raises(wick.Error, match="'no_such' is not a sampling parameter"):
        model.complete("a", no_such=1)


def test_a_model_may_go_before_its_streams():
    model = wick.Model(pathlib.Path(MODEL), threads=1, context=256)
    stream = model.stream("One, two,", temperature=0, max_tokens=8, logits=lambda _, __: None)
    del model
    gc.collect()
    assert "three" in "".join(stream)


def test_speculation_drafts_and_changes_no_token():
    ask = {"temperature": 0, "max_tokens": 40}
    prompt = "one two three one two three one two three"
    plain = wick.Model(MODEL, context=512).complete(prompt, **ask)
    assert plain.draft_tokens == 0
    for options in ({"speculation": "ngram"}, {"speculation": "draft", "draft_model": MODEL, "draft_max": 4}):
        answer = wick.Model(MODEL, context=512, **options).complete(prompt, **ask)
        assert answer.text == plain.text
        assert answer.draft_tokens > 0
    with pytest.raises(wick.Error) as caught:
        wick.Model(MODEL, speculation="draft")
    assert caught.value.id == "bad_speculation"


def test_an_error_keeps_what_had_been_said(model):
    seen = []

    def fail_later(logits, history):
        seen.append(len(history))
        if len(seen) > 5:
            raise ValueError("enough")

    with pytest.raises(wick.Error) as caught:
        model.chat("What is the capital of Japan?", logits=fail_later, **GREEDY)
    assert caught.value.id == "callback_failed"
    assert caught.value.partial_text and TOKYO.startswith(caught.value.partial_text)


SHOWS_ALL = """{% if tools %}{{ tools | tojson }}|{% endif %}{% for m in messages %}{{ m.role }}:{{ m.content }}\
{% if m.tool_calls %}{{ m.tool_calls[0].function.name }}({{ m.tool_calls[0].function.arguments.city }}){% endif %};{% endfor %}\
{{ date }}{% if enable_thinking is defined %} think={{ enable_thinking }}{% endif %}"""
WEATHER = {"type": "function", "function": {"name": "weather", "description": "", "parameters": {"type": "object"}}}


def test_tools_their_results_and_variables_reach_the_template():
    model = wick.Model(MODEL, context=512, chat_template=SHOWS_ALL)
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    talk = [
        {"role": "user", "content": [{"type": "text", "text": "Warm?"}]},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "17 degrees"},
    ]
    text = model.apply_template(talk, tools=[WEATHER], template_variables={"date": "1 May"}, thinking=False)
    assert '"name": "weather"' in text
    assert text.endswith("user:Warm?;assistant:weather(Rome);tool:17 degrees;1 May think=False")
    assert model.apply_template("Hi") == "user:Hi;"
    with pytest.raises(wick.Error) as caught:
        model.complete("Hi", tools=[WEATHER])
    assert caught.value.id == "not_a_chat"


def test_token_ids_are_a_prompt(model):
    ids = model.tokenize("The capital of Japan is")
    prefixed = model.complete("The capital of Japan is", **GREEDY)
    assert model.estimate(ids).prompt_tokens == len(ids) == prefixed.prompt_tokens
    assert model.complete(ids, **GREEDY).text == prefixed.text == "".join(model.stream(ids, **GREEDY))


def test_a_seed_has_64_bits(model):
    ask = {"temperature": 3, "max_tokens": 12}
    answer = model.complete("Once", seed=2**64 - 1, **ask)
    assert answer.parameters["seed"] == (2**64 - 1, "request")
    assert answer.text != model.complete("Once", seed=2**64 - 2, **ask).text
    assert answer.text == "".join(model.stream("Once", seed=2**64 - 1, **ask))


def test_events_are_the_answer_bit_for_bit(model):
    ask = {"temperature": 2, "seed": 5, "max_tokens": 20, "logprobs": True}
    whole = model.complete("Once", **ask)
    events = list(iter(model.stream("Once", **ask).next_event, None))
    assert "".join(value for kind, value in events if kind == "text") == whole.text
    logprobs = [(token.id, token.logprob) for kind, value in events if kind == "logprobs" for token in value]
    assert logprobs == [(token.id, token.logprob) for token in whole.logprobs]
    assert events[-1] == ("done", whole.finish)


def test_pieces_are_as_large_as_asked_for(model):
    ask = {"temperature": 0, "max_tokens": 40, "ignore_eos": True}
    each = list(model.stream("Once upon a time", **ask))
    tens = list(model.stream("Once upon a time", emit_tokens=10, **ask))
    cut = model.stream("Once upon a time", emit_tokens=10, emit_bytes=6, **ask)
    short = [text for kind, text in iter(cut.next_event, None) if kind == "text"]
    assert "".join(tens) == "".join(each) == "".join(short)
    assert len(tens) <= 5 and len(short) > len(tens)
    assert all(len(text.encode()) <= 6 for text in short)
    with pytest.raises(wick.Error, match="emit_bytes is 3"):
        model.complete("Once", emit_bytes=3)


def test_an_opening_tells_how_far_it_is_and_may_be_ended():
    told = []
    wick.Model(MODEL, context=256, progress=lambda *progress: told.append(progress))
    assert {phase for phase, *_ in told} == {"load"}
    assert all(what.endswith(os.path.basename(MODEL)) and 0 <= done <= total for _, what, done, total in told)
    assert told[-1][2] == told[-1][3] > 90_000_000
    with pytest.raises(wick.Error) as caught:
        wick.Model(MODEL, progress=lambda *progress: False)
    assert caught.value.code == "cancelled"

    def fails(*progress):
        raise KeyError("mine")

    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            wick.Model(MODEL, progress=fails)
    cancel = wick.Cancel()
    cancel.request()
    with pytest.raises(wick.Error) as caught:
        wick.Model(MODEL, cancel=cancel)
    assert caught.value.code == "cancelled"
    for wrong in ({"progress": 3}, {"cancel": 3}):
        with pytest.raises(TypeError, match=f"'{next(iter(wrong))}'"):
            wick.Model(MODEL, **wrong)


def test_the_librarys_messages_go_to_a_log(monkeypatch):
    told, failed = [], []
    try:
        wick.set_log(lambda level, message: told.append((level, message)))
        wick.Model(MODEL, context=256)
        assert [level for level, _ in told] == ["info"]
        assert MODEL in told[0][1] and "\n" not in told[0][1]
        monkeypatch.setattr(sys, "unraisablehook", failed.append)
        wick.set_log(lambda level, message: 1 / 0)
        wick.Model(MODEL, context=256)
        assert [type(f.exc_value) for f in failed] == [ZeroDivisionError]
        with pytest.raises(TypeError, match="'sink' is not callable"):
            wick.set_log(3)
    finally:
        wick.set_log(None)
    wick.Model(MODEL, context=256)
    assert len(told) == len(failed) == 1
