"""Constraints of the caller's own code: answers are held to them, and code that fails is an error with a name."""

import re

import pytest
import tiny_model

import wick

NOISE = {"temperature": 3, "max_tokens": 30}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return wick.Model(tiny_model.write(tmp_path_factory.mktemp("constraints") / "tiny.gguf", context=512), threads=1)


class Brackets:
    """Pairs of brackets that balance, at most four deep."""

    def __init__(self):
        self.opened = [""]

    def push(self, byte):
        before, char = self.opened[-1], chr(byte)
        if char in "([" and len(before) < 4:
            self.opened.append(before + char)
        elif before and char == {"(": ")", "[": "]"}[before[-1]]:
            self.opened.append(before[:-1])
        else:
            return False
        return True

    def pop(self):
        self.opened.pop()

    def accepting(self):
        return len(self.opened) > 1 and not self.opened[-1]


def is_balanced(text):
    before = None
    while before != text:
        before, text = text, text.replace("()", "").replace("[]", "")
    return text == ""


def test_a_recognizer_holds_every_answer(model):
    texts = {model.complete("abc", seed=seed, recognizer=Brackets, **NOISE).text for seed in range(20)}
    assert len(texts) > 8
    for text in texts:
        assert text and is_balanced(text), text
    with pytest.raises(wick.Error) as caught:
        model.complete("abc", recognizer=Brackets, max_tokens=1)
    assert caught.value.id == "max_tokens_too_small"


def test_forced_bytes_are_a_short_end(model):
    class Long:
        def __init__(self):
            self.text = b""

        def push(self, byte):
            if len(self.text) == 40 or byte != 120 + len(self.text) % 3:
                return False
            self.text += bytes([byte])
            return True

        def pop(self):
            self.text = self.text[:-1]

        def accepting(self):
            return len(self.text) == 40

        def forced(self):
            return b"".join(bytes([120 + i % 3]) for i in range(len(self.text), 40))

    assert model.complete("abc", recognizer=Long, max_tokens=40).text == "xyz" * 13 + "x"


def test_a_text_constraint_is_asked_for_candidates(model):
    asked = []

    def is_valid(text, token):
        assert isinstance(text, bytes) and isinstance(token, bytes)
        asked.append(token)
        return re.fullmatch(rb"[a-z]{1,6}(@([a-z]{1,6}(\.[a-z]{0,2})?)?)?", text + token) is not None

    def is_complete(text):
        return re.fullmatch(rb"[a-z]{1,6}@[a-z]{1,6}\.[a-z]{2}", text) is not None

    for seed in range(5):
        mask = wick.TextConstraint(is_valid, is_complete, candidates=1)
        answer = model.complete("abc", seed=seed, temperature=3, token_mask=mask)
        assert is_complete(answer.text.encode()), answer.text
        assert len(asked) / answer.generated_tokens < 150
        asked.clear()


def test_a_token_mask_and_a_predicate_hold_beside_a_format(model):
    def without_seven(text, tokens, allowed):
        assert len(text) == len(tokens)
        allowed[0] &= ~(1 << ord("7"))

    for seed in range(10):
        answer = model.complete("abc", seed=seed, temperature=3, response_format="regex", response_schema="[0-9]{2,6}",
                                token_mask=without_seven, predicate=lambda text: sum(text) % 5 == 0)
        assert re.fullmatch("[0-689]{2,6}", answer.text) and sum(answer.text.encode()) % 5 == 0


def test_what_goes_wrong_has_a_name(model):
    def fails(*_):
        raise KeyError("no")

    def id_of(**constraint):
        with pytest.raises(wick.Error) as caught:
            model.complete("abc", **constraint)
        return caught.value.id

    assert id_of(recognizer=fails) == "callback_failed"
    assert id_of(recognizer=object) == "callback_failed"  # it has no push()
    assert id_of(token_mask=fails) == "callback_failed"
    assert id_of(predicate=fails) == "callback_failed"
    assert id_of(token_mask=wick.TextConstraint(fails, fails)) == "callback_failed"
    assert id_of(token_mask=wick.TextConstraint(lambda text, token: False, lambda text: False)) == "constraint_dead_end"
    assert id_of(recognizer=Brackets, response_format="regex", response_schema="a") == "two_constraints"
    with pytest.raises(TypeError):
        model.complete("abc", predicate=7)
    with pytest.raises(wick.Error) as caught:
        model.complete("abc", response_format="regex", response_schema="a(b")
    assert (caught.value.id, caught.value.offset) == ("regex_syntax", 1)


def test_a_constraint_cannot_ask_its_own_model(model):
    ids = []

    def asks(text):
        try:
            model.complete("x", max_tokens=1)
        except wick.Error as e:
            ids.append(e.id)
        return True

    model.complete("abc", max_tokens=2, response_format="regex", response_schema="a|b", predicate=asks)
    assert ids and set(ids) == {"called_in_hook"}
