"""What C++ and C have, in Python's words: pools, embeddings with limits, biases by text, breakers of DRY, formats, origins, misses."""

import json
import math
import signal
import threading

import pytest
import tiny_model

import wick

NOISE = {"temperature": 3, "seed": 7, "max_tokens": 20}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tiny_model.write(tmp_path_factory.mktemp("api") / "tiny.gguf", context=512)


@pytest.fixture(scope="module")
def model(path):
    return wick.Model(path, threads=1)


def test_a_pool_hands_out_pins_and_unloads(path, model):
    pool = wick.ModelPool(max_models=1, warm_up=True, threads=1, context=256)
    assert pool.list() == []
    got = pool.get(path)
    assert got.context == 256
    name = str(path)
    assert pool.pin(path, True) and not pool.pin("another", True)
    (info,) = pool.list()
    assert (info.name, info.source, info.is_pinned, info.is_used) == (name, name, True, True)
    assert info.weight_bytes == model.weight_bytes == model.describe().weight_bytes
    assert (info.architecture, info.vocabulary, info.draft_bytes) == ("llama", 257, 0)
    with pytest.raises(wick.Error) as caught:
        pool.replace("other", path)
    assert (caught.value.id, caught.value.code) == ("pool_full", "unavailable")
    assert pool.unload(name) and not pool.unload(name)
    del pool
    assert got.complete("abc", **NOISE).text == model.complete("abc", **NOISE).text


def test_a_pool_replaces_and_lets_the_longest_unused_go(path, tmp_path):
    names = [tiny_model.write(tmp_path / f"{i}.gguf") for i in range(3)]
    pool = wick.ModelPool(max_models=2, threads=1)
    for name in names:
        pool.get(name)
    assert [info.name for info in pool.list()] == [str(names[1]), str(names[2])]
    assert pool.replace(names[1], path).context == 512
    assert [info.source for info in pool.list()] == [str(names[2]), str(path)]
    assert pool.get(names[1]).context == 512


def test_a_pools_options_are_checked():
    for wrong, words in (({"no_such": 1}, "'no_such'"), ({"max_models": "1"}, "'max_models'"), ({"progress": 3}, "'progress'")):
        with pytest.raises(TypeError, match=words):
            wick.ModelPool(**wrong)
    with pytest.raises(wick.Error) as caught:
        wick.ModelPool().get("/no/such/model.gguf")
    assert caught.value.code == "not_found"


def test_a_pools_callbacks_may_not_ask_it(path):
    raised = []

    def refused(*_):
        with pytest.raises(wick.Error) as caught:
            pool.get(path)
        raised.append(caught.value.id)

    pool = wick.ModelPool(threads=1, progress=refused)
    pool.get(path).complete("a", max_tokens=1, logits=refused)
    assert len(raised) > 1 and set(raised) == {"called_in_hook"}

    def asks_itself(logits, history):
        again.complete("a")

    got, again = pool.get(path), pool.get(path)  # one model, two handles
    with pytest.raises(wick.Error, match="cannot ask the model that calls it"):
        got.complete("a", max_tokens=1, logits=asks_itself)


def test_what_progress_says_ends_a_pools_load_and_no_later_one(path):
    says = [KeyError("mine"), False, True]

    def progress(*_):
        said = says[0]
        if isinstance(said, Exception):
            raise said
        return said

    pool = wick.ModelPool(threads=1, progress=progress)
    with pytest.raises(KeyError, match="mine"):
        pool.get(path)
    says.pop(0)
    with pytest.raises(wick.Error) as caught:
        pool.get(path)
    assert caught.value.code == "cancelled"
    says.pop(0)
    assert pool.get(path).context == 512


def test_ctrl_c_ends_a_pools_load_and_no_later_one(path):
    pressed, waits = threading.Event(), threading.Event()

    def progress(*_):
        if not pressed.is_set():
            pressed.set()
            signal.raise_signal(signal.SIGINT)
            waits.wait(0.3)  # Python hears of it on the main thread
        return True

    pool = wick.ModelPool(threads=1, progress=progress)
    with pytest.raises(KeyboardInterrupt):
        pool.get(path)
    assert pool.list() == []
    assert pool.get(path).context == 512


def test_embeddings_have_limits_priorities_and_tenants(model):
    texts = ["one", "another text"]
    (plain, _), (raw, _) = model.embed(texts), model.embed(texts, normalize=False, priority=-2, tenant=3, time_limit_ms=60_000)
    length = math.sqrt(sum(x * x for x in raw))
    assert plain.tolist() == pytest.approx([x / length for x in raw], abs=1e-6)
    assert model.embed(texts, pooling="first", cancel=None) != model.embed(texts, pooling="last")
    for wrong, words in (({"priority": 3}, "priority"), ({"time_limit_ms": -1}, "time_limit"), ({"pooling": "median"}, "median")):
        with pytest.raises(wick.Error, match=words):
            model.embed(texts, **wrong)
    with pytest.raises(TypeError, match="'no_such' is not an option of embed"):
        model.embed(texts, no_such=1)
    cancel = wick.Cancel()
    cancel.request()
    with pytest.raises(wick.Error) as caught:
        model.embed(texts, cancel=cancel)
    assert caught.value.code == "cancelled"


def test_a_bias_is_of_an_id_or_of_each_token_of_a_text(model):
    by_text = model.complete("abc", logit_bias={"xy": 100, 122: 100}, **NOISE).text
    assert set(by_text) == set("xyz")
    assert by_text == model.complete("abc", logit_bias={120: 100, 121: 100, 122: 100}, **NOISE).text
    with pytest.raises(TypeError, match="'logit_bias'"):
        model.complete("abc", logit_bias={1.5: 1})


def test_breakers_of_dry_are_texts(model):
    ask = {"dry_multiplier": 50, "dry_allowed_length": 1, "dry_penalty_last_n": -1, "temperature": 0, "max_tokens": 40, "logit_bias": {"ab": 100}}
    prompt = "abababab"
    usual, none, letters = (model.complete(prompt, dry_sequence_breakers=breakers, **ask).text for breakers in (None, [], ["a", "b"]))
    assert usual == model.complete(prompt, **ask).text == none
    assert letters != none
    with pytest.raises(TypeError, match="'dry_sequence_breakers'"):
        model.complete("a", dry_sequence_breakers="abc")


def test_an_answer_has_the_format_that_was_asked_for(model):
    assert model.complete("abc", response_format="text", **NOISE).text
    for schema in ('{"enum": ["ab"]}', {"enum": ["ab"]}):
        text = model.complete("abc", response_format="json_schema", response_schema=schema, **NOISE).text
        assert json.loads(text) == "ab"
    cut = model.complete("abc", response_format="regex", response_schema="a{9,20}", **{**NOISE, "max_tokens": 12})
    assert set(cut.text) == {"a"} and 9 <= len(cut.text) <= 12
    for format, schema, id in (("json_schema", "", "format_without_schema"), ("yaml", "", "response_format_unsupported"),
                               ("regex", "a{99}", "max_tokens_too_small"), ("json_schema", False, "no_document")):
        with pytest.raises(wick.Error) as caught:
            model.complete("abc", response_format=format, response_schema=schema, **NOISE)
        assert caught.value.id == id


def test_an_answer_says_who_set_what_and_why_not_more_was_cached(model):
    answer = model.complete("q" * 50, origins={"temperature": "flag --temp"}, **NOISE)
    assert answer.parameters["temperature"] == (3, "flag --temp")
    assert answer.parameters["seed"] == (7, "request")
    assert (answer.miss, answer.miss_position, answer.miss_cached) == ("never seen", 0, None)
    edited = model.complete("q" * 40 + "r" * 10, **NOISE)
    assert (edited.miss, edited.miss_position) == ("edited", edited.cached_tokens)
    assert (edited.miss_wanted, edited.miss_cached) == (ord("r"), ord("q"))
    assert (edited.reasoning_tokens, edited.preemptions) == (0, 0)


def test_what_the_conversion_of_a_number_raises_is_raised_on(model):
    class Bad:
        def __index__(self):
            raise KeyError("mine")

        def __float__(self):
            raise KeyError("mine")

    class Five:
        def __index__(self):
            return 5

        def __float__(self):
            return 0.0

    for name, wrong in (("max_tokens", Bad()), ("seed", Bad()), ("temperature", Bad()), ("typ_p", Bad()), ("stop_token_ids", [1, Bad()]),
                        ("logit_bias", {Bad(): 1}), ("logit_bias", {1: Bad()})):
        with pytest.raises(KeyError, match="mine"):
            model.complete("a", **{name: wrong})
    with pytest.raises(KeyError, match="mine"):
        model.complete([1, Bad()])
    assert model.complete([Five()], max_tokens=Five(), temperature=Five()).text == model.complete([5], max_tokens=5, temperature=0).text
    with pytest.raises(TypeError, match="max_tokens"):
        model.complete("a", max_tokens=object())
