import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypedDict

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
    threads: int  # 0 = all that this process may use
    device: str  # "cpu", …; "auto": the first that starts; "cuda:0,cpu": layers placed in order, as many as fit each, or in the
    tensor_split: str  # ratio "3,1"
    context: int  # context size in tokens; 0 = the model's, or less if the cache limit holds less
    max_concurrent: int  # requests that run at once; 4. More are queued:
    max_queue: int  # 256; then they are refused ("queue_full")
    cache_limit_bytes: int
    cache_type: str  # KV cache type: "bf16", "q8_0,q4_0", …
    chat_template: str
    may_download: bool
    speculation: str  # speculative decoding: "none", "ngram", "draft"; identical output
    draft_model: str | os.PathLike[str]  # with "draft"
    adapters: str | Sequence[str]  # LoRA, "[NAME=]FILE[:SCALE]" each: a GGUF file or a folder of PEFT's
    quantization: str  # "Q4_K_M": which file of "hf:org/repo"
    # Called during download and load, a few times per second, while the caller waits: phase ("download", "check", "load"), what, bytes
    # done, total bytes (0 = not yet known). Return False or raise to cancel.
    progress: Callable[[str, str, int, int], object] | None
    cancel: Cancel | None  # cancels download and load: wick.Error "cancelled"
    draft_max: int  # maximum number of draft tokens per step; 0 = 16 with "ngram", 3 with "draft"

# Options of a pool and of its models.
class PoolOptions(ModelOptions, total=False):
    budget_bytes: int  # for weights and KV caches together; 0 = no limit
    max_models: int  # 32
    warm_up: bool  # generate one token before a newly loaded model is returned

class EmbedOptions(TypedDict, total=False):
    pooling: str | None  # "mean", "first", "last"; None = the model file's, else mean
    normalize: bool | None  # to L2 norm 1; True
    query: str | None  # with a cross-encoder: the result is a text's score for this query, before any sigmoid
    time_limit_ms: int | None  # per text; then wick.Error, id "time_limit"
    priority: int | None  # -2 (background) to 2
    tenant: int | None
    client: int | None
    cancel: Cancel | None

# Integers, or a one-dimensional integer buffer of any width: numpy.ndarray, array.array, memoryview.
Tokens = Sequence[int] | Buffer

class Settings(TypedDict, total=False):
    """Settings that are missing or None come from the model file, else from the default."""

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
    # Logit bias of a token, or of each token of a text; -infinity bans it.
    logit_bias: Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float] | None
    dry_sequence_breakers: Sequence[str] | None  # DRY sequence breakers; None = newline, colon, quote, asterisk
    samplers: str | None  # sampler order: "top_k;temperature"
    # Changes the logits in place (a float buffer for numpy.asarray()); the second argument has the tokens so far. The engine waits for it:
    # calls to the same model fail in it ("called_in_hook"), except tokenize() and properties. A stream that only its hook references is
    # garbage-collected, which cancels its request.
    logits: Callable[[memoryview[float], memoryview[int]], object] | None
    # Constraints of your own code (docs/library.md). `recognizer` makes a new recognizer for each answer. `token_mask` is called with the text
    # so far, its tokens, and the mask as 64-bit words: it clears bits of tokens that may not come next. `predicate` says whether an answer
    # may end with a text. They follow the rules of `logits`.
    recognizer: Callable[[], ByteRecognizer] | None
    token_mask: Callable[[bytes, memoryview[int], memoryview[int]], object] | TextConstraint | None
    predicate: Callable[[bytes], object] | None
    logprobs: bool | None  # of each generated token: Completion.logprobs, Stream.logprobs
    prompt_logprobs: bool | None  # of the prompt; disables prefix caching
    top_logprobs: int | None  # most likely alternatives per token, 0 to 20; with either of the above
    cancel: Cancel | None
    time_limit_ms: int | None  # then wick.Error, id "time_limit"
    priority: int | None  # -2 (background) to 2
    # How a stream groups text into pieces: by number of tokens, or by waiting time; 0 = no such condition, both 0 = each piece at once.
    # emit_bytes, if not 0, limits the size of a piece.
    emit_tokens: int | None
    emit_ms: int | None
    emit_bytes: int | None
    adapters: str | Sequence[str] | None  # LoRA adapters of this request, "NAME[:SCALE]"; "none"; not given = as loaded
    tenant: int | None  # tenants get fair scheduling and never share cache entries
    client: int | None  # requests of one client have one fair share; 0 = the tenant's
    # For messages:
    tools: Sequence[Mapping[str, object]] | None  # [{"type": "function", "function": {…}}]
    tool_choice: str | None  # "auto", "none", "required", or a tool's name
    parallel_tool_calls: bool | None  # False: at most one call in an answer
    thinking: bool | None  # switches reasoning on or off (template variables enable_thinking and thinking)
    template_variables: Mapping[str, object] | None  # other variables of the chat template
    # Structured output: "text" (default), "json_object", "json_schema", "regex", "choice", "grammar" or "structural_tag".
    response_format: str | None
    response_schema: str | Mapping[str, object] | None  # the schema, regular expression, JSON array of choices, grammar, or tag as JSON
    origins: Mapping[str, str] | None  # where a setting comes from, if not from the request: {"temperature": "flag --temp"}

# Receives the text while it is generated, on the calling thread; it may call the model. Return False to end the answer. A fast model may be
# ahead by then: the result has all generated text, and `finish` may be "length" or "stop" instead of "cancelled".
TextSink = Callable[[str], object]

# Describes an architecture that wick does not know, as JSON (wick/architecture.h); before the first model is opened.
def add_architecture(json: str) -> None: ...
# Log messages: level ("info", "warning") and one line, on any thread; None disables them. Exceptions of the sink go to sys.unraisablehook.
def set_log(sink: Callable[[str, str], object] | None) -> None: ...

class Cancel:
    """Cancels the requests that it was passed to; any thread."""

    def __init__(self) -> None: ...
    def request(self) -> None: ...

class ByteRecognizer(Protocol):
    """A set of texts, read byte by byte (include/wick/constraint.h). An object that also has forced(), which returns bytes, is searched
    faster for a short end."""

    def push(self, byte: int, /) -> object: ...  # true: a text of the set begins so; otherwise it changes nothing
    def pop(self) -> object: ...  # restores the state before the last push() that was true
    def accepting(self) -> object: ...  # the bytes so far are a text of the set

class TextConstraint:
    """A token_mask that judges texts. The most likely tokens are asked until `candidates` of them are valid; 0 = all tokens are asked."""

    def __init__(
        self,
        is_valid_next_token: Callable[[bytes, bytes], object],  # the text so far, the next token
        is_complete: Callable[[bytes], object],  # the answer may end with this text
        candidates: int = 64,
    ) -> None: ...

class _Wake: ...

class _Wakes:
    def __init__(self) -> None: ...
    @property
    def fd(self) -> int: ...
    def add(self, key: int) -> _Wake: ...
    def take(self) -> list[int]: ...

class TokenLogprob:
    """A token and its logprob, before samplers, logit bias and hook."""

    @property
    def id(self) -> int: ...
    @property
    def bytes(self) -> builtins.bytes: ...  # its text, maybe part of a character
    @property
    def logprob(self) -> float: ...  # natural logarithm
    @property
    def top_logprobs(self) -> list[TokenLogprob]: ...  # the most likely tokens at this position; these have none

class RequestEstimate:
    """An estimate of a request, without running it."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...  # of the prompt: reused, not computed
    # Why no more are cached: "none", "new", "edited", "evicted", "other tenant", "never seen", "off".
    @property
    def miss(self) -> str: ...
    @property
    def miss_position(self) -> int: ...  # of the first token that has to be computed
    @property
    def miss_wanted(self) -> int | None: ...  # the token there
    @property
    def miss_cached(self) -> int | None: ...  # "edited": the cached token there
    @property
    def blocks(self) -> int: ...  # of 16 tokens, for the prompt and the longest answer
    @property
    def free_blocks(self) -> int: ...  # not used by running requests
    @property
    def cache_bytes(self) -> int: ...  # of `blocks`
    @property
    def requests_before(self) -> int: ...  # running or waiting
    @property
    def ttft_ms(self) -> float | None: ...  # estimated time to first token; None = nothing measured yet

class ModelInfo:
    """Facts about a loaded model and its memory."""

    @property
    def name(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def source(self) -> str: ...  # path or name it was loaded from
    @property
    def context(self) -> int: ...  # context size in tokens
    @property
    def vocabulary(self) -> int: ...  # tokens
    @property
    def is_pinned(self) -> bool: ...  # in a pool
    @property
    def is_used(self) -> bool: ...  # in a pool: a handle to it exists
    @property
    def weight_bytes(self) -> int: ...
    @property
    def cache_bytes(self) -> int: ...
    @property
    def scratch_bytes(self) -> int: ...
    @property
    def draft_bytes(self) -> int: ...  # the draft model's, all together

class Completion:
    @property
    def text(self) -> str: ...
    @property
    def reasoning(self) -> str: ...  # the model's reasoning, not part of text
    @property
    def tool_calls(self) -> list[dict[str, str]]: ...  # "id", "name", "arguments" (JSON)
    @property
    def finish(self) -> str: ...  # "stop", "length", "cancelled", "tool_calls", "content_filter"
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    # Why no more were cached, as in RequestEstimate.
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
    def reasoning_tokens(self) -> int: ...  # of generated_tokens, if the provider counts them
    @property
    def preemptions(self) -> int: ...  # how often the request was preempted and resumed
    @property
    def draft_tokens(self) -> int: ...  # proposed by speculative decoding
    @property
    def accepted_tokens(self) -> int: ...  # of these
    @property
    def steered_tokens(self) -> int: ...  # chosen to complete structured output within max_tokens
    @property
    def queue_ms(self) -> float: ...
    @property
    def prompt_ms(self) -> float: ...
    @property
    def generate_ms(self) -> float: ...
    # By name: the effective value and its origin ("request", "model file", "default").
    @property
    def parameters(self) -> dict[str, tuple[float | int | str, str]]: ...
    # Of all generated tokens, EOS included; of the prompt tokens except the first.
    @property
    def logprobs(self) -> list[TokenLogprob]: ...
    @property
    def prompt_logprobs(self) -> list[TokenLogprob]: ...

class Stream(Iterator[str]):
    """An answer that is read while it is generated. Leaving a `with` block, or dropping it, cancels the request.

    Calls from several threads are serialized, also with those of its Session; only cancel() does not wait.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    # The next event, where the iterator returns text only: ("text", str), ("reasoning", str), ("tool_call", (index, id,
    # name)), ("arguments", (index, str)), ("logprobs", list), ("usage", (prompt tokens, generated)), ("done", finish); then None.
    def next_event(self) -> tuple[str, object] | None: ...
    def finish(self) -> Completion: ...
    # For wick/_async.py: the same without waiting.
    def _poll(self) -> str | None: ...
    def _poll_event(self) -> tuple[str, object] | None: ...
    @property
    def _is_over(self) -> bool: ...
    def cancel(self) -> None: ...
    @property
    def text(self) -> str: ...  # all text read so far
    # With logprobs=True: the tokens of the piece read last; after the loop tokens without text, such as EOS. All of them in order are
    # Completion.logprobs.
    @property
    def logprobs(self) -> list[TokenLogprob]: ...

class Session:
    """A conversation that keeps its messages; its prefix stays in the KV cache. Calls from several threads are serialized."""

    def say(
        self, text: str, on_text: TextSink | None = None, **settings: Unpack[Settings]
    ) -> Completion: ...
    def stream(self, text: str, **settings: Unpack[Settings]) -> Stream: ...
    # The same with any message, for example a tool result.
    def send(self, message: Message, **settings: Unpack[Settings]) -> Stream: ...
    def stream_async(self, text: str, **settings: Unpack[Settings]) -> AsyncStream: ...
    def send_async(self, message: Message, **settings: Unpack[Settings]) -> AsyncStream: ...
    async def say_async(self, text: str, **settings: Unpack[Settings]) -> Completion: ...
    # Estimates say(); does not change the conversation.
    def estimate(self, text: str, **settings: Unpack[Settings]) -> RequestEstimate: ...
    @property
    def messages(self) -> list[Message]: ...
    # Saves the conversation and its part of the KV cache for Model.load_session().
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def undo(self) -> bool: ...
    def reset(self) -> None: ...

class Model:
    """A loaded model. Any thread may call it, many at once: the GIL is released.

    Ctrl-C ends a call on the main thread (KeyboardInterrupt). When the interpreter ends, calls of daemon threads are cancelled, and
    it waits up to 5 seconds for them. In a child of os.fork() it fails ("model_of_other_process"); the child may load its own. Only the
    main interpreter can import wick. If the model file is modified in place, the next request is refused ("model_file_changed");
    truncating it while a request reads it ends the process (SIGBUS). Replacing the file by rename is safe.
    """

    def __init__(
        self, path_or_name: str | os.PathLike[str], **options: Unpack[ModelOptions]
    ) -> None: ...
    # A text, or token ids, used as they are.
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
    # Estimates complete() of a str or chat() of messages, without running it.
    def estimate(
        self, prompt: str | Tokens | Iterable[Message], **settings: Unpack[Settings]
    ) -> RequestEstimate: ...
    # The same for asyncio, without threads; `await` returns the whole answer, `async for` its pieces. Cancelling the task (or
    # asyncio.timeout()) cancels the request. A few thousand at once are fine: see max_queue.
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
    # An embedding per text: a buffer of 32-bit floats for numpy.asarray(); tolist() makes a list.
    def embed(self, texts: Sequence[str], **options: Unpack[EmbedOptions]) -> list[memoryview[float]]: ...
    # Cancels the tenant's requests and drops its cached prefixes; `wipe` also zeroes them. Returns the number of blocks.
    def close_tenant(self, tenant: int, wipe: bool = False) -> int: ...
    def tokenize(self, text: str) -> list[int]: ...
    # The prompt text that chat() makes of the messages.
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
    """Several models within a memory budget: each is loaded at its first get(), and the least recently used one is unloaded when memory
    is needed. A Model, its sessions and streams keep it loaded. Any thread; Ctrl-C in the call that loads a model cancels the load, also
    for other waiting threads. In a logits hook or progress callback it fails ("called_in_hook")."""

    def __init__(self, **options: Unpack[PoolOptions]) -> None: ...
    # wick.Error "pool_full" if it does not fit beside models in use or pinned.
    def get(self, path_or_name: str | os.PathLike[str]) -> Model: ...
    # Replaces the model called `name` by `source`. After an error the old one stays.
    def replace(self, name: str | os.PathLike[str], source: str | os.PathLike[str]) -> Model: ...
    def unload(self, name: str | os.PathLike[str]) -> bool: ...  # False if it is not loaded
    def pin(self, name: str | os.PathLike[str], is_pinned: bool) -> bool: ...  # likewise; a pinned model is never unloaded automatically
    def list(self) -> builtins.list[ModelInfo]: ...  # least recently used first
