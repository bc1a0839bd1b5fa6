"""What a program may do to the module without meaning to: objects half made, threads that meet, a process that ends, forks or is
interrupted in the middle of an answer. Most cases run in an interpreter of their own, which must end by itself."""

import array
import os
import shutil
import subprocess
import sys
import threading

import numpy
import pytest

import wick
from test_wick import GREEDY, MODEL

BEGIN = f"""
import gc, os, signal, sys, threading, time
import wick
PATH = {MODEL!r}
model = wick.Model(PATH, context=2048, threads=1)
ENDLESS = dict(max_tokens=1500, ignore_eos=True, temperature=0)
LONG = "sheep and " * 900
"""


def alone(code, before="", timeout=60):
    """What `code` prints in an interpreter of its own, which must end with exit status 0."""
    done = subprocess.run([sys.executable, "-c", before + BEGIN + code], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-1500:])
    return done.stdout


@pytest.fixture(scope="module")
def model():
    return wick.Model(MODEL, context=2048)


def names_of(cls):
    return [name for name in dir(cls) if isinstance(getattr(cls, name), property)]


def test_a_property_of_what_no_constructor_made_is_an_error():
    out = alone("""
class Sub(wick.Model):
    def __init__(self, fails=False):
        if fails: raise ValueError
    def __del__(self):
        try: self.name
        except RuntimeError as e: print("refused", e)
try: Sub(fails=True)
except ValueError: pass
empty = wick.Model.__new__(wick.Model)
for name in [n for n in dir(wick.Model) if isinstance(getattr(wick.Model, n), property)]:
    try: getattr(empty, name)
    except RuntimeError as e: print("refused", e)
for call in (lambda: empty.complete("a"), lambda: empty.tokenize("a"), lambda: empty.session(), lambda: empty.embed(["a"]),
             lambda: wick.Cancel.__new__(wick.Cancel).request(), lambda: wick.ModelPool.__new__(wick.ModelPool).get("a"),
             lambda: model.complete("a", cancel=wick.Cancel.__new__(wick.Cancel))):
    try: call()
    except RuntimeError as e: print("refused", e)
for cls in (wick.Session, wick.Stream, wick.Completion, wick.TokenLogprob, wick.RequestEstimate, wick.ModelInfo):
    for make in (lambda: cls.__new__(cls), cls, type("Sub", (cls,), {}), lambda: object.__new__(cls),
                 lambda: cls.__mro__[1].__new__(cls)):
        try: print("made", make())
        except TypeError: print("no object")
""")
    assert out.count("refused the object is not made") == 1 + len(names_of(wick.Model)) + 7
    assert len(names_of(wick.Model)) >= 7
    assert out.count("no object") == 30 and "made <" not in out


def test_nothing_is_pickled_or_made_by_way_of_the_base_class():
    out = alone("""
import copy, copyreg, pickle
from wick import _wick
answer, wakes = model.complete("Once", max_tokens=1, logprobs=True), _wick._Wakes()
objects = [model, model.session(), model.stream("Once", max_tokens=1), model.estimate("Once"), wick.Cancel(), answer,
           answer.logprobs[0], wakes, wakes.add(1), wick.ModelPool(), model.describe()]
base = wick.Model.__mro__[1]
calls = [lambda one, n=n: pickle.dumps(one, n) for n in range(6)]
calls += [copy.copy, copy.deepcopy, lambda one: one.__reduce__(), lambda one: copyreg._reduce_ex(one, 0), base, lambda one: base(),
          lambda one: type("Sub", (base,), {})(), lambda one: type(one).__base__.__new__(base)]
for one in objects:
    for call in calls:
        try: print("made", call(one))
        except TypeError: print("no object")
class Sub(wick.Model):
    def __new__(cls, path): return super().__new__(cls)
print(Sub(PATH).context > 0, type(wick.Cancel.__new__(wick.Cancel)) is wick.Cancel)
""")
    assert out == "no object\n" * 11 * 14 + "True True\n"


def test_the_last_reference_may_go_on_the_models_own_thread():
    for owner in ("model", "model.session()"):
        out = alone(f"""
box = []
def hook(logits, past):
    box.clear()
owner = {owner}
stream = owner.stream("Once", logits=hook, **ENDLESS)
box.extend([owner, stream])
del model, owner, stream
while box: time.sleep(0.01)
time.sleep(0.5)
print("alive")
""")
        assert out == "alive\n"


def test_a_cycle_of_model_and_stream_may_be_collected_in_the_hook():
    out = alone("""
gc.disable()
cycle = [model, model.stream("Once", logits=lambda logits, past: gc.collect(), **ENDLESS)]
cycle.append(cycle)
del model, cycle
time.sleep(0.5)
print("alive")
""")
    assert out == "alive\n"


def test_a_hook_may_own_its_model_and_stream():
    out = alone("""
class Hook:
    def __call__(self, logits, past): pass
hook = Hook()
hook.model, hook.stream = model, model.stream("Once", logits=hook, max_tokens=3)
del model, hook
time.sleep(0.5)
print("alive")
""")
    assert out == "alive\n"


@pytest.mark.parametrize("owner", ["model", "model.session()"])
@pytest.mark.parametrize("when", ["", "self.stream.finish()", "next(self.stream)"])
def test_a_cycle_through_a_hook_is_collected(owner, when):
    out = alone(f"""
import weakref
class Owner:
    def __init__(self):
        self.stream = {owner}.stream("Once", logits=self.hook, temperature=0, max_tokens=40)
        {when}
    def hook(self, logits, past): pass
gone = weakref.ref(Owner())
gc.collect()
print(gone())
print(model.complete("Once", max_tokens=2).finish)
""")
    assert out == "None\nlength\n"


def test_what_a_hook_under_way_needs_is_not_collected():
    out = alone("""
import weakref
entered, go_on = threading.Event(), threading.Event()
class Owner:
    def __init__(self):
        self.name = "owner"
        self.stream = model.stream("Once", logits=self.hook, **ENDLESS)
    def hook(self, logits, past):
        entered.set()
        go_on.wait()
        print(self.name, flush=True) if entered else None
gone = weakref.ref(Owner())
entered.wait()
gc.collect()
print(gone() is None)
go_on.set()
while gone() is not None:
    gc.collect()
    time.sleep(0.001)
print("collected")
""")
    assert out.startswith("False\nowner\n") and out.endswith("collected\n")


def test_a_subinterpreter_is_refused():
    out = alone("""
try: import _interpreters as interpreters
except ImportError: import _xxsubinterpreters as interpreters
other = interpreters.create()
run = getattr(interpreters, "exec", None) or interpreters.run_string
failed = run(other, f'''
import sys
sys.path[:] = {sys.path!r}
try: import wick
except ImportError as error: print("refused:", error, flush=True)
''')
interpreters.destroy(other)
print(failed, model.complete("Once", max_tokens=2).finish)
""")
    assert out.startswith("refused: ") and "subinterpreter" in out and out.endswith("None length\n")


@pytest.mark.parametrize(
    "call",
    [
        "model.complete('Once', **SHORT)",
        "model.complete('Once', **ENDLESS)",
        "model.complete('Once', on_text=lambda text: None, **ENDLESS)",
        "[piece for piece in model.stream('Once', **ENDLESS)]",
        "model.stream('Once', **SHORT).finish()",
        "model.complete('Once', logits=lambda logits, past: None, **SHORT)",
        "model.session().say('Once', **ENDLESS)",
        "model.embed(['Once'])",
        "model.tokenize('Once')",
        "[session.messages, time.sleep(0.01)]",
    ],
)
def test_daemon_threads_in_a_call_when_the_interpreter_ends(call):
    out = alone(f"""
class Slow:
    def __del__(self, sleep=time.sleep): sleep(0.3)
keeps_the_end_from_coming_at_once = Slow()
SHORT = dict(ENDLESS, max_tokens=2)
session = model.session()
def asks():
    while True: {call}
for i in range(3): threading.Thread(target=asks, daemon=True).start()
threading.Thread(target=lambda: session.say("Once", **ENDLESS), daemon=True).start()
time.sleep(0.5)
print("over")
""")
    assert out == "over\n"


def test_a_hook_that_never_returns_does_not_keep_the_interpreter():
    began = os.times()
    out = alone("""
entered = threading.Event()
def hook(logits, past):
    entered.set()
    threading.Event().wait()
stream = model.stream("Once", logits=hook)
entered.wait()
print("over")
""")
    assert out == "over\n"
    assert os.times().elapsed - began.elapsed < 30
    assert os.times().children_user + os.times().children_system - began.children_user - began.children_system < 4


def test_calls_after_the_interpreters_end_are_refused():
    registered_first_so_called_last = """
import atexit
@atexit.register
def late():
    try: model.complete("a")
    except RuntimeError as e: print(e)
"""
    assert alone("", before=registered_first_so_called_last) == "the interpreter is closing\n"


def run_all(calls):
    raised = []

    def run(call):
        try:
            call()
        except Exception as e:
            raised.append(e)

    threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return raised


def test_one_session_serves_one_thread_after_the_other(model):
    talk = model.session()
    ask = dict(max_tokens=4, ignore_eos=True)

    def again(act):
        return lambda: [act() for _ in range(6)]

    acts = [lambda: talk.say("Once", **ask)] * 2 + [talk.reset, talk.undo, lambda: talk.estimate("x"), lambda: talk.messages] * 2
    assert run_all([again(act) for act in acts]) == []
    talk.reset()
    assert talk.messages == []
    assert run_all([lambda: talk.say("Once", **ask)] * 3) == []
    assert [m["role"] for m in talk.messages] == ["user", "assistant"] * 3


def test_one_stream_serves_one_thread_after_the_other(model):
    ask = dict(temperature=0, max_tokens=60, ignore_eos=True, logprobs=True)
    whole = model.complete("Once upon a time", **ask).text
    for _ in range(5):
        stream = model.stream("Once upon a time", **ask)
        pieces = [[], [], []]
        readers = [lambda mine=mine: mine.extend(stream) for mine in pieces]
        looks = [lambda: [(stream.text, stream.logprobs) for _ in range(50)]] * 2
        assert run_all(readers + looks) == []
        assert sorted("".join(sum(pieces, []))) == sorted(whole)
        assert stream.text == stream.finish().text == whole


def test_a_hook_may_not_wait_for_its_own_model(model):
    other = wick.Model(MODEL, context=256)
    talk = model.session()
    stream = model.stream("Once", max_tokens=3)
    calls = [
        lambda: model.complete("x", max_tokens=1),
        lambda: model.stream("x", max_tokens=1),
        lambda: model.estimate("x"),
        lambda: model.embed(["x"]),
        lambda: talk.say("x", max_tokens=1),
        lambda: stream.finish(),
        lambda: model.close_tenant(5),
        lambda: other.complete("x", max_tokens=1, logits=lambda logits, past: model.estimate("x")),
    ]
    ids = []
    for call in calls:
        def hook(logits, past):
            try:
                call()
            except wick.Error as e:
                ids.append(e.id)
                raise

        with pytest.raises(wick.Error, match="a logits hook cannot ask the model that calls it") as caught:
            model.complete("Once", logits=hook, max_tokens=2)
        assert caught.value.id == "callback_failed"
    assert ids == ["called_in_hook"] * 7 + ["callback_failed"]
    with pytest.raises(wick.Error, match="a logits hook cannot ask the model that calls it"):
        talk.say("Once", logits=lambda logits, past: talk.messages, max_tokens=2)
    told = []
    allowed = lambda logits, past: told.append((model.detokenize(model.tokenize("a")), model.apply_template("x"), other.estimate("x"), model.name))
    model.complete("Once", logits=allowed, max_tokens=2)
    assert len(told) == 2
    assert stream.finish().finish == "length"


def test_on_text_may_ask_its_own_model(model):
    told = []

    def on_text(text):
        told.append(model.complete("The capital of Japan is", **GREEDY).text)
        return False

    model.complete("Once", on_text=on_text, max_tokens=20)
    assert told == [model.complete("The capital of Japan is", **GREEDY).text]


def test_a_forked_child_is_told_at_once():
    out = alone("""
stream, session, before = model.stream("Once", max_tokens=2), model.session(), model.tokenize("Once")
child = os.fork()
if child == 0:
    signal.alarm(30)
    for call in (lambda: model.complete("x"), lambda: model.embed(["x"]), lambda: next(stream), lambda: session.say("x"),
                 lambda: model.estimate("x"), session.reset):
        try: call()
        except wick.Error as e: print(e.id, flush=True)
    assert model.tokenize("Once") == before
    del stream, session, model
    sys.exit(0)
print("child", os.waitpid(child, 0)[1])
stream.finish()
""")
    assert out == "model_of_other_process\n" * 6 + "child 0\n"


def test_a_forked_child_may_load_a_model_of_its_own():
    out = alone("""
want = model.complete("Once", temperature=0, max_tokens=8).text
streams = [model.stream(LONG, max_tokens=100) for i in range(2)]
for i in range(6):  # at other moments of the forward pass
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        own = wick.Model(PATH, context=2048, threads=2)
        assert own.complete("Once", temperature=0, max_tokens=8).text == want
        try: next(streams[0])
        except wick.Error as e: print(e.id, flush=True)
        del streams, model, own
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    time.sleep(0.013)
next(streams[0])
""")
    assert out == "model_of_other_process\n" * 6


FORK = """
pids = []
def fork(*_):
    if pids: return
    sys.stdout.flush()
    pids.append(os.fork())
    if pids[0] == 0:
        signal.alarm(20)
        {then}
def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
def during(call):
    signal.signal(signal.SIGALRM, fork)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    call()
SHORT = dict(temperature=0, max_tokens=20, ignore_eos=True)
want, session = model.complete("Once", **SHORT).text, model.session()
"""

# The status of a child that only returns: 3 if the call raises wick.Error there, 1 if the child ends with the callback.
FORKING_CALLS = [
    ("model.complete('Once', on_text=fork, **SHORT)", 3),
    ("session.say('Once', on_text=fork, **SHORT)", 3),
    ("during(lambda: model.complete(LONG, max_tokens=1))", 3),
    ("during(lambda: model.embed([LONG]))", 3),
    ("during(lambda: next(model.stream(LONG, max_tokens=1)))", 3),
    ("in_thread(lambda: model.complete('Once', on_text=fork, **SHORT))", 1),
    ("model.complete('Once', logits=fork, **SHORT)", 1),
    ("model.stream('Once', logits=fork, **SHORT).finish()", 1),
    ("wick.Model(PATH, context=256, progress=fork)", 1),
]


@pytest.mark.parametrize("call, status", FORKING_CALLS)
@pytest.mark.parametrize("exits", [True, False])
def test_a_child_forked_in_a_callback_comes_to_an_end(call, status, exits):
    out = alone(FORK.replace("{then}", "sys.exit(7)" if exits else "return") + f"""
try: {call}
except wick.Error as error:
    assert pids == [0] and error.id == "model_of_other_process"
    try: session.messages
    except wick.Error as later: assert later.id == "model_of_other_process"
    assert wick.Model(PATH, context=2048, threads=1).complete("Once", **SHORT).text == want
    sys.exit(3)
print("child", os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]))
assert model.complete("Once", **SHORT).text == want
""")
    assert out == f"child {7 if exits else status}\n"


def test_a_model_file_that_was_written_to_is_refused(tmp_path):
    path = tmp_path / "model.gguf"
    shutil.copy(MODEL, path)
    model = wick.Model(path, context=256)
    want = model.complete("Once", **GREEDY).text
    replaced = tmp_path / "new.gguf"
    replaced.write_bytes(b"another file")
    os.replace(replaced, path)
    assert model.complete("Once", **GREEDY).text == want
    shutil.copy(MODEL, path)
    model = wick.Model(path, context=256)
    os.truncate(path, 50_000_000)
    stale = model.session()
    for ask in (lambda: model.complete("Once"), lambda: model.stream("Once"), lambda: model.embed(["Once"]), lambda: stale.say("x")):
        with pytest.raises(wick.Error, match="was written to since the model was loaded") as caught:
            ask()
        assert caught.value.id == "model_file_changed"
    assert model.detokenize(model.tokenize("Once")) == "Once"


def test_a_path_need_not_be_utf8(model, tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.gguf")
    os.symlink(MODEL, name)
    other = wick.Model(name, context=256)
    assert other.complete("The capital of Japan is", **GREEDY).text == model.complete("The capital of Japan is", **GREEDY).text
    assert wick.Model(os.fsencode(name), context=256).name == other.name
    talk = other.session("Brief.")
    talk.save(name + ".talk")
    assert b"\xff.gguf.talk" in os.listdir(os.fsencode(tmp_path))
    assert other.load_session(name + ".talk").messages == talk.messages
    for call in (lambda: wick.Model(name + "x"), lambda: other.load_session(name + "x"), lambda: talk.save(name + "/x"),
                 lambda: wick.Model(MODEL, speculation="draft", draft_model=name + "x")):
        with pytest.raises(wick.Error):
            call()
    with pytest.raises(TypeError):
        wick.Model(5)


def test_what_on_text_and_progress_return_is_a_truth_value(model):
    ask = dict(temperature=0, max_tokens=20, ignore_eos=True)

    class Raises:
        def __bool__(self):
            raise LookupError("no truth")

    for go_on in (None, True, 1, [1], object(), float("nan")):
        assert model.complete("Once", on_text=lambda text: go_on, **ask).finish == "length"
        assert wick.Model(MODEL, context=256, progress=lambda *_: go_on).context == 256
    for stop in (False, 0, "", [], {}):
        assert model.complete("Once", on_text=lambda text: stop, **ask).finish == "cancelled"
        with pytest.raises(wick.Error) as caught:
            wick.Model(MODEL, context=256, progress=lambda *_: stop)
        assert caught.value.id == "cancelled"
    with pytest.raises(LookupError, match="no truth"):
        model.complete("Once", on_text=lambda text: Raises(), **ask)
    with pytest.raises(LookupError, match="no truth"):
        wick.Model(MODEL, context=256, progress=lambda *_: Raises())


def test_a_null_character_in_a_path_is_refused(model, tmp_path):
    talk = model.session()
    wrong = str(tmp_path / "a") + "\0b"
    for call in (lambda: talk.save(wrong), lambda: model.load_session(wrong), lambda: wick.Model(wrong),
                 lambda: wick.Model(MODEL, speculation="draft", draft_model=wrong)):
        with pytest.raises(ValueError, match="null character"):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "call",
    [
        "model.complete(LONG, max_tokens=1)",
        "next(model.stream(LONG, max_tokens=1))",
        "model.stream('Once', **ENDLESS).finish()",
        "model.complete('Once', **ENDLESS)",
        "model.session().say(LONG)",
        "model.embed([LONG])",
    ],
)
def test_ctrl_c_ends_a_call(call):
    out = alone(f"""
def interrupt():
    global asked
    asked = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.4, interrupt).start()
try: {call}; print("not interrupted")
except KeyboardInterrupt: took = time.monotonic() - asked; print("interrupted" if took < 1 else took)
print("next", model.complete("a", max_tokens=1).finish)
""")
    assert out == "interrupted\nnext length\n"


def test_any_buffer_of_integers_is_token_ids(model):
    text = "The capital of Japan is"
    ids = model.tokenize(text)
    want = model.complete(ids, **GREEDY).text
    assert "".join(model.stream([numpy.int64(i) for i in ids], **GREEDY)) == want
    for kind in "hHiIlLqQ":
        assert model.detokenize(array.array(kind, ids)) == text
        assert model.detokenize(memoryview(array.array(kind, ids))) == text
    wide = numpy.array([ids, ids], dtype="<i8").T
    assert model.detokenize(wide[:, 1]) == model.detokenize(numpy.array(ids, dtype="u2")) == text  # strided; narrow
    assert model.detokenize(numpy.array(ids)[::-1][::-1]) == text
    assert model.detokenize(numpy.array([65, 66], dtype="u1")) == model.detokenize([65, 66])
    assert model.complete(numpy.array(ids), **GREEDY).text == want
    first = model.complete(ids, logprobs=True, **GREEDY).logprobs[0].id
    assert model.complete(ids, stop_token_ids=numpy.array([first]), **GREEDY).text == ""
    for wrong in (2**31, -(2**31) - 1):
        with pytest.raises(ValueError, match="'ids' is out of range, allowed are -2147483648 to 2147483647"):
            model.detokenize(numpy.array([wrong]))
    with pytest.raises(ValueError, match="'ids' is out of range"):
        model.detokenize(numpy.array([2**64 - 1], dtype="u8"))
    with pytest.raises(wick.Error, match="token -1 is outside the vocabulary"):
        model.detokenize(numpy.array([-1], dtype="i1"))
    for wrong in (numpy.array([1.5]), wide, numpy.array([True]), numpy.array(ids, dtype=">i4"), b"ab", bytearray(b"ab")):
        with pytest.raises(TypeError, match="'ids' is "):
            model.detokenize(wrong)
    with pytest.raises(TypeError, match="'prompt' is text as bytes"):
        model.complete(b"Once")


def test_vectors_and_logits_are_buffers_that_numpy_reads_in_place(model):
    kept = []

    def only_a(logits, past):
        row = numpy.asarray(logits)
        assert row.dtype == numpy.float32 and row.shape == (model.vocabulary,) and row.flags.writeable
        assert numpy.shares_memory(row, numpy.frombuffer(logits, dtype=numpy.float32))
        assert numpy.asarray(past).tolist() == list(past) and logits.format == "f" and past.format == "i"
        row[:] = -numpy.inf
        row[model.tokenize("a")[0]] = 0
        kept.append(row)

    assert model.complete("b", logits=only_a, max_tokens=3).text == "aaa"
    assert all(row.max() == 0 for row in kept)

    def plain(logits, past):
        for i in range(len(logits)):
            logits[i] = float(i == 64)

    assert model.complete("b", logits=plain, temperature=0, max_tokens=1).generated_tokens == 1

    def shrinks(logits, past):
        memory = logits.obj
        logits.release()
        memory.clear()

    with pytest.raises(wick.Error, match="changed the size|exports cannot be re-sized"):
        model.complete("b", logits=shrinks, max_tokens=3)
    one, two = model.embed(["The cat sleeps.", "A kitten."])
    assert isinstance(one, memoryview) and one.format == "f" and not one.readonly
    vector = numpy.asarray(one)
    assert vector.dtype == numpy.float32 and numpy.shares_memory(vector, numpy.frombuffer(one, dtype=numpy.float32))
    assert numpy.asarray([one, two]).shape == (2, 576)
    assert numpy.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert one.tolist() == list(model.embed(["The cat sleeps."])[0])


def test_wrong_types_and_ranges_name_the_option(model):
    for wrong in (dict(max_tokens="x"), dict(temperature="hot"), dict(stop=5), dict(stop_token_ids="x"), dict(samplers=1), dict(seed=1.5),
                  dict(logit_bias=3), dict(logit_bias={1.5: 1}), dict(logits=3), dict(cancel=3), dict(tenant="x"), dict(priority=[])):
        with pytest.raises(TypeError, match=f"'{next(iter(wrong))}'"):
            model.complete("a", **wrong)
    for wrong in (dict(max_tokens=2**70), dict(seed=-1), dict(seed=2**64), dict(tenant=-1), dict(logit_bias={2**40: 1})):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' is out of range"):
            model.complete("a", **wrong)
    for wrong in (dict(context="x"), dict(threads=None), dict(device=1), dict(cache_limit_bytes=1.5)):
        with pytest.raises(TypeError, match=f"'{next(iter(wrong))}'"):
            wick.Model(MODEL, **wrong)
    with pytest.raises(ValueError, match="'context' is out of range"):
        wick.Model(MODEL, context=2**40)
    for wrong in (3, None, [], ["x"]):
        with pytest.raises(TypeError, match="'prompt'"):
            model.complete(wrong)
