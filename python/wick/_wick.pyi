import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

from typing_extensions import Buffer, Self, Unpack

from wick._async import AsyncStream

__version__: str

# As OpenAI's API has messages and tools. `content` is a text, or a list of parts ({"type": "text", …}).
class Message(TypedDict, total=False):
    role: str
    content: object
    reasoning_content: str
    tool_calls: Sequence[Mapping[str, object]]
    tool_call_id: str

class ModelOptions(TypedDict, total=False):
    threads: int  # 0 = what this process may use
    device: str  # "cpu" …; "auto": the first one that starts; "cuda:0,cpu": as much on each as it has room for, or by
    tensor_split: str  # the shares "3,1"
    context: int  # positions; 0 = the smaller of the model's and what the cache holds
    max_concurrent: int  # answers under way at once; 4. More wait their turn:
    max_queue: int  # 256 of them; then they are refused ("queue_full")
    cache_limit_bytes: int
    cache_type: str  # "bf16", "q8_0,q4_0", …
    chat_template: str
    may_download: bool
    speculation: str  # "none", "ngram", "draft": drafted tokens are checked, the answer is the same
    draft_model: str | os.PathLike[str]  # with "draft"
    quantization: str  # "Q4_K_M": which of the files of "hf:org/repo"
    # Called while the model is fetched and loaded, some times a second, on a thread that the caller waits for: phase ("download",
    # "check", "load"), what, bytes done, bytes in all (0 = not known yet). False ends it, and so does what it raises.
    progress: Callable[[str, str, int, int], object] | None
    cancel: Cancel | None  # ends the opening, wick.Error "cancelled"
    draft_max: int  # tokens drafted in a step at most; 0 = 16, with a draft model 3

# Of a pool, and of each of its models.
class PoolOptions(ModelOptions, total=False):
    budget_bytes: int  # of weights and caches together; 0 = no limit
    max_models: int  # 32
    warm_up: bool  # a model answers one token before it is handed out

class EmbedOptions(TypedDict, total=False):
    pooling: str | None  # "mean", "first", "last"; None = as the model's file says, else mean
    normalize: bool | None  # to length 1; True
    time_limit_ms: int | None  # of each text; then wick.Error, id "time_limit"
    priority: int | None  # -2 (in the background) to 2
    tenant: int | None
    cancel: Cancel | None

# Integers, also as a buffer of any width in one dimension: numpy.ndarray, array.array, memoryview.
Tokens = Sequence[int] | Buffer

class Settings(TypedDict, total=False):
    """What is left out, or None, comes from the model file's own hints, else from the default."""

    temperature: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    repeat_penalty: float | None
    presence_penalty: float | None
    frequency_penalty: float | None
    repeat_last_n: int | None
    min_tokens: int | None
    ignore_eos: bool | None
    dry_multiplier: float | None
    dry_base: float | None
    dry_allowed_length: int | None
    dry_penalty_last_n: int | None
    top_n_sigma: float | None
    typical_p: float | None
    xtc_probability: float | None
    xtc_threshold: float | None
    dynatemp_range: float | None
    dynatemp_exponent: float | None
    mirostat: int | None
    mirostat_tau: float | None
    mirostat_eta: float | None
    adaptive_target: float | None
    adaptive_decay: float | None
    seed: int | None  # 64 bits
    max_tokens: int | None  # 0 = to the context's end
    stop: str | Sequence[str] | None
    stop_token_ids: Tokens | None
    # Added to the logit of a token, or of each token of a text; -infinity bans it.
    logit_bias: Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float] | None
    dry_sequence_breakers: Sequence[str] | None  # texts that no repetition of DRY reaches past; None = newline, colon, quote, asterisk
    samplers: str | None  # their order: "top_k;temperature"
    # Changes the logits in place, a buffer of floats that numpy.asarray() takes as it is; the second one holds the tokens so far.
    # The model waits for it: what waits for the model is refused in it ("called_in_hook"). tokenize(), properties and other models
    # may be used. A stream that nothing but its hook can reach is collected, and with it its request ends.
    logits: Callable[[memoryview[float], memoryview[int]], object] | None
    logprobs: bool | None  # of each token how likely it was: Completion.logprobs, Stream.logprobs
    prompt_logprobs: bool | None  # the prompt's, too; it then reuses no cache
    top_logprobs: int | None  # most likely alternatives per token, 0 to 20; with either of the above
    cancel: Cancel | None
    time_limit_ms: int | None  # then wick.Error, id "time_limit"
    priority: int | None  # -2 (in the background) to 2
    # In what pieces a stream hands over its text, which is the same: once it has so many tokens, or has waited so long; 0 = not by this
    # one, both 0 = each piece as it comes. No piece is longer than emit_bytes, if that is not 0.
    emit_tokens: int | None
    emit_ms: int | None
    emit_bytes: int | None
    tenant: int | None  # tenants share time fairly, and of the cache nothing
    # Of messages:
    tools: Sequence[Mapping[str, object]] | None  # [{"type": "function", "function": {…}}]
    tool_choice: str | None  # "auto" or "none"
    thinking: bool | None  # whether a model that can think before it answers does
    template_variables: Mapping[str, object] | None  # any variable of the chat template
    response_format: str | None  # "text"; "json_object", "json_schema", "grammar": refused yet, "response_format_unsupported"
    response_schema: str | Mapping[str, object] | None  # JSON schema or grammar
    origins: Mapping[str, str] | None  # who set a parameter, where it was not the request: {"temperature": "flag --temp"}

# Gets text as it is made, on the calling thread; it may ask the model. False ends the answer. A fast model may be ahead by then:
# the result holds all it made, and its `finish` may be "length" or "stop" rather than "cancelled".
TextSink = Callable[[str], object]

# What the library has to say beside its results, level ("info", "warning") and one line, on any thread; None: to nobody. What the
# sink raises goes to sys.unraisablehook.
def set_log(sink: Callable[[str, str], object] | None) -> None: ...

class Cancel:
    """Ends the requests that were given it; any thread may ask."""

    def __init__(self) -> None: ...
    def request(self) -> None: ...

class _Wake: ...

class _Wakes:
    def __init__(self) -> None: ...
    @property
    def fd(self) -> int: ...
    def add(self, key: int) -> _Wake: ...
    def take(self) -> list[int]: ...

class TokenLogprob:
    """A token, and how likely the model thought it before any sampler or hook."""

    @property
    def id(self) -> int: ...
    @property
    def bytes(self) -> builtins.bytes: ...  # its text, maybe a part of a character
    @property
    def logprob(self) -> float: ...  # natural
    @property
    def top_logprobs(self) -> list[TokenLogprob]: ...  # in its place; theirs is empty

class RequestEstimate:
    """What a request would take if it ran now."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...  # of the prompt: they need not be computed
    # Why not more are: "none", "new", "edited", "evicted", "other tenant", "never seen", "off".
    @property
    def miss(self) -> str: ...
    @property
    def miss_position(self) -> int: ...  # of the first token that has to be computed
    @property
    def miss_wanted(self) -> int | None: ...  # the token there
    @property
    def miss_cached(self) -> int | None: ...  # "edited": what the cache has there instead
    @property
    def blocks(self) -> int: ...  # of 16 tokens, prompt and longest answer together
    @property
    def free_blocks(self) -> int: ...  # that no request under way holds
    @property
    def cache_bytes(self) -> int: ...  # of `blocks`
    @property
    def requests_before(self) -> int: ...  # under way or waiting
    @property
    def ttft_ms(self) -> float | None: ...  # wait for the first token; None = nothing measured yet

class ModelInfo:
    """A model, and the memory it may take."""

    @property
    def name(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def source(self) -> str: ...  # path or name that it was loaded from
    @property
    def context(self) -> int: ...  # positions
    @property
    def vocabulary(self) -> int: ...  # tokens
    @property
    def is_pinned(self) -> bool: ...  # in a pool
    @property
    def is_used(self) -> bool: ...  # in a pool: someone holds it
    @property
    def weight_bytes(self) -> int: ...
    @property
    def cache_bytes(self) -> int: ...
    @property
    def scratch_bytes(self) -> int: ...
    @property
    def draft_bytes(self) -> int: ...  # all of the draft model's

class Completion:
    @property
    def text(self) -> str: ...
    @property
    def reasoning(self) -> str: ...  # what the model thought before; no part of text
    @property
    def tool_calls(self) -> list[dict[str, str]]: ...  # "id", "name", "arguments" (JSON)
    @property
    def finish(self) -> str: ...  # "stop", "length", "cancelled", "tool_calls", "content_filter"
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    # Why not more were, as in RequestEstimate.
    @property
    def miss(self) -> str: ...
    @property
    def miss_position(self) -> int: ...
    @property
    def miss_wanted(self) -> int | None: ...
    @property
    def miss_cached(self) -> int | None: ...
    @property
    def generated_tokens(self) -> int: ...
    @property
    def reasoning_tokens(self) -> int: ...  # of generated_tokens, where a provider counts them
    @property
    def preemptions(self) -> int: ...  # how often it gave its place to another request and went on later
    @property
    def draft_tokens(self) -> int: ...  # proposed by speculative decoding
    @property
    def accepted_tokens(self) -> int: ...  # of these
    @property
    def queue_ms(self) -> float: ...
    @property
    def prompt_ms(self) -> float: ...
    @property
    def generate_ms(self) -> float: ...
    # By name: the value that held, and who set it ("request", "model file", "default").
    @property
    def parameters(self) -> dict[str, tuple[float | int | str, str]]: ...
    # Of all generated tokens, the end token too; of the prompt's but the first.
    @property
    def logprobs(self) -> list[TokenLogprob]: ...
    @property
    def prompt_logprobs(self) -> list[TokenLogprob]: ...

class Stream(Iterator[str]):
    """An answer on its way. Leaving a `with` block, or dropping it, cancels it.

    Threads take turns at it, and at its Session; only cancel() does not wait.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    # All that comes, where the iterator gives the text alone: ("text", str), ("reasoning", str), ("tool_call", (index, id,
    # name)), ("arguments", (index, str)), ("logprobs", list), ("usage", (prompt tokens, generated)), ("done", finish); then None.
    def next_event(self) -> tuple[str, object] | None: ...
    def finish(self) -> Completion: ...
    # For wick/_async.py: what is there, without waiting.
    def _poll(self) -> str | None: ...
    def _poll_event(self) -> tuple[str, object] | None: ...
    @property
    def _is_over(self) -> bool: ...
    def cancel(self) -> None: ...
    @property
    def text(self) -> str: ...  # all that was read
    # With logprobs=True: the tokens that came with what was read last, and after the loop those that
    # no text follows, the end token for one. All of them, in order, are Completion.logprobs.
    @property
    def logprobs(self) -> list[TokenLogprob]: ...

class Session:
    """A conversation that remembers; its past stays in the model's cache. Threads take turns at it."""

    def say(
        self, text: str, on_text: TextSink | None = None, **settings: Unpack[Settings]
    ) -> Completion: ...
    def stream(self, text: str, **settings: Unpack[Settings]) -> Stream: ...
    # The same with any message: the result of a tool that the model called, for one.
    def send(self, message: Message, **settings: Unpack[Settings]) -> Stream: ...
    def stream_async(self, text: str, **settings: Unpack[Settings]) -> AsyncStream: ...
    def send_async(self, message: Message, **settings: Unpack[Settings]) -> AsyncStream: ...
    async def say_async(self, text: str, **settings: Unpack[Settings]) -> Completion: ...
    # What say() would take now; the conversation stays as it is.
    def estimate(self, text: str, **settings: Unpack[Settings]) -> RequestEstimate: ...
    @property
    def messages(self) -> list[Message]: ...
    # Conversation and cache, to a file from which Model.load_session() goes on.
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def undo(self) -> bool: ...
    def reset(self) -> None: ...

class Model:
    """A loaded model. Any thread may call it, many at once: the interpreter's lock is released.

    Ctrl-C ends a call on the main thread, KeyboardInterrupt. When the interpreter ends, calls of daemon threads are cancelled, and
    it waits up to 5 seconds for them. A child of os.fork() cannot ask it ("model_of_other_process"), but may load its own.
    The main interpreter alone can import wick. A file that somebody writes into while a model is loaded from it is refused at the next
    request ("model_file_changed"); one that is cut while a request reads it ends the process (SIGBUS), so give a model a new file by
    renaming that over the old one, which harms nobody.
    """

    def __init__(
        self, path_or_name: str | os.PathLike[str], **options: Unpack[ModelOptions]
    ) -> None: ...
    # A text, or tokens, which are taken as they are.
    def complete(
        self, prompt: str | Tokens, on_text: TextSink | None = None, **settings: Unpack[Settings]
    ) -> Completion: ...
    def chat(
        self,
        messages: str | Iterable[Message],
        on_text: TextSink | None = None,
        **settings: Unpack[Settings],
    ) -> Completion: ...
    def stream(
        self, prompt: str | Tokens | Iterable[Message], **settings: Unpack[Settings]
    ) -> Stream: ...
    # What complete() with a str, or chat() with messages, would take now; computes nothing of it.
    def estimate(
        self, prompt: str | Tokens | Iterable[Message], **settings: Unpack[Settings]
    ) -> RequestEstimate: ...
    # The same in an asyncio loop, without a thread for each; `await` gives the whole answer, `async for` its pieces. What cancels the
    # task (or asyncio.timeout()) ends the request. A few thousand at once are fine: see max_queue.
    def stream_async(
        self, prompt: str | Tokens | Iterable[Message], **settings: Unpack[Settings]
    ) -> AsyncStream: ...
    async def complete_async(
        self, prompt: str | Tokens | Iterable[Message], **settings: Unpack[Settings]
    ) -> Completion: ...
    async def chat_async(
        self, messages: str | Iterable[Message], **settings: Unpack[Settings]
    ) -> Completion: ...
    def session(self, system: str = "") -> Session: ...
    def load_session(self, path: str | os.PathLike[str]) -> Session: ...
    # A vector for each text: a buffer of 32-bit floats that numpy.asarray() takes as it is; tolist() makes a list of it.
    def embed(self, texts: Sequence[str], **options: Unpack[EmbedOptions]) -> list[memoryview[float]]: ...
    # Its requests end, what is cached of its texts is dropped, and with `wipe` zeroed; how many blocks that were.
    def close_tenant(self, tenant: int, wipe: bool = False) -> int: ...
    def tokenize(self, text: str) -> list[int]: ...
    # The text that chat() would give the model.
    def apply_template(self, messages: str | Iterable[Message], **settings: Unpack[Settings]) -> str: ...
    def detokenize(self, ids: Tokens) -> str: ...
    def describe(self) -> ModelInfo: ...
    @property
    def name(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def context(self) -> int: ...
    @property
    def vocabulary(self) -> int: ...
    @property
    def weight_bytes(self) -> int: ...
    @property
    def cache_bytes(self) -> int: ...
    @property
    def scratch_bytes(self) -> int: ...

class ModelPool:
    """Several models within a budget of memory: each is loaded when it is first asked for, once however many ask, and the longest unused
    goes when room is needed. A Model that was handed out, its sessions and streams keep it loaded. Any thread; Ctrl-C in the call that
    loads a model ends the load, also for those who wait for it. In a logits hook or a progress callback it is refused
    ("called_in_hook")."""

    def __init__(self, **options: Unpack[PoolOptions]) -> None: ...
    # wick.Error "pool_full", with the numbers, when it does not fit beside what is used or pinned.
    def get(self, path_or_name: str | os.PathLike[str]) -> Model: ...
    # Loads `source` under the name of another: who asks for `name` from now on gets it. On an error the old one stays.
    def replace(self, name: str | os.PathLike[str], source: str | os.PathLike[str]) -> Model: ...
    def unload(self, name: str | os.PathLike[str]) -> bool: ...  # False if it is not there
    def pin(self, name: str | os.PathLike[str], is_pinned: bool) -> bool: ...  # likewise; a pinned model never goes by itself
    def list(self) -> builtins.list[ModelInfo]: ...  # longest unused first
