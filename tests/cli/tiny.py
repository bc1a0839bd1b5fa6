"""What tests of the program share: small models, the program with a home of its own.

A model of one layer with seeded weights and a byte-level tokenizer answers in milliseconds, always the same; what it says is noise.
    write_model("tiny.gguf", name="any", template="{{ … }}")
"""
import os
import pathlib
import pty
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time

CHATML = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
SIZE, HEADS, KV_HEADS, HEAD, HIDDEN = 32, 4, 2, 8, 64
VOCAB = 260  # id b is byte b, then a merged token and three control tokens


def default_model():
    """WICK_TEST_MODEL, else where tools/fetch_test_data puts it; ends the test where it is missing."""
    path = os.environ.get("WICK_TEST_MODEL", str(pathlib.Path.home() / ".cache/wick-test/SmolLM2-135M-Instruct.Q4_1.gguf"))
    if not os.path.exists(path):
        sys.exit(f"this test needs {path}, which is not there: run tools/fetch_test_data")
    return path


def letters():
    """GPT-2's stand-ins for bytes: printable Latin-1 as itself, the rest from U+0100 on."""
    plain, rest = [*range(33, 127), *range(161, 173), *range(174, 256)], iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(rest)) for b in range(256)]


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def key(name, value):
    if isinstance(value, bool):
        return text(name) + struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return text(name) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    if isinstance(value, list):
        is_text = isinstance(value[0], str)
        items = b"".join(text(v) if is_text else struct.pack("<i", v) for v in value)
        return text(name) + struct.pack("<IIQ", 9, 8 if is_text else 5, len(value)) + items
    return text(name) + struct.pack("<I", 8) + text(value)


def write_model(path, name="tiny", template=CHATML, context=256, tokens=None, poisoned=(), more=(), seed=1):
    """`poisoned`: ids whose embedding is not a number. `more`: further (key, value) pairs. `seed`: of the weights."""
    draw = random.Random(seed).uniform
    tensors = []

    def matrix(title, rows, cols, rule=lambda row: 1):
        reach = (6 / cols) ** 0.5
        tensors.append((title, [cols, rows], [draw(-reach, reach) * rule(r) for r in range(rows) for _ in range(cols)]))

    def vector(title):
        tensors.append((title, [SIZE], [1 + draw(-0.3, 0.3) for _ in range(SIZE)]))

    matrix("token_embd.weight", VOCAB, SIZE, lambda row: float("nan") if row in poisoned else 1)
    matrix("output.weight", VOCAB, SIZE)
    vector("blk.0.attn_norm.weight")
    for part, rows, cols in (("attn_q", HEADS * HEAD, SIZE), ("attn_k", KV_HEADS * HEAD, SIZE), ("attn_v", KV_HEADS * HEAD, SIZE),
                             ("attn_output", SIZE, HEADS * HEAD), ("ffn_gate", HIDDEN, SIZE), ("ffn_up", HIDDEN, SIZE),
                             ("ffn_down", SIZE, HIDDEN)):
        matrix(f"blk.0.{part}.weight", rows, cols)
    vector("blk.0.ffn_norm.weight")
    vector("output_norm.weight")
    keys = {"general.architecture": "llama", "general.name": name, "llama.block_count": 1, "llama.context_length": context,
            "llama.embedding_length": SIZE, "llama.feed_forward_length": HIDDEN, "llama.attention.head_count": HEADS,
            "llama.attention.head_count_kv": KV_HEADS, "llama.rope.freq_base": 10000.0, "llama.rope.dimension_count": HEAD,
            "llama.attention.layer_norm_rms_epsilon": 1e-5, "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm",
            "tokenizer.ggml.tokens": tokens or [*letters(), "ab", "<|endoftext|>", "<|im_start|>", "<|im_end|>"],
            "tokenizer.ggml.token_type": [1] * 257 + [3] * 3, "tokenizer.ggml.merges": ["a b"],
            "tokenizer.ggml.bos_token_id": 257, "tokenizer.ggml.eos_token_id": 259, "tokenizer.ggml.add_bos_token": False,
            "tokenizer.chat_template": template, **dict(more)}
    head, body = b"", b""
    for title, shape, values in tensors:
        head += text(title) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body))
        body += struct.pack(f"<{len(values)}f", *values)
        body += bytes(-len(body) % 32)
    start = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys)) + b"".join(key(*item) for item in keys.items()) + head
    pathlib.Path(path).write_bytes(start + bytes(-len(start) % 32) + body)


def limit_file_size(n):
    """For preexec_fn: a write past n bytes fails (EFBIG), as it does on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))


class Home:
    """A folder with a model in it, and the program that knows no other place."""

    def __init__(self, program, folder, **model):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)
        self.model = self.folder / "tiny.gguf"
        write_model(self.model, **model)
        keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
        self.environment = {**keep, "HOME": str(folder), "WICK_HOME": str(self.folder / "store"), "XDG_CONFIG_HOME": str(folder)}

    def wick(self, *arguments, stdin=b"", environment=(), **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, "cwd": self.folder, **options}
        return subprocess.run([self.program, *map(str, arguments)], input=stdin,
                              env={**self.environment, **dict(environment)}, **options)


class Terminal:
    """The program on a terminal of its own; what it writes is gathered."""

    def __init__(self, home, *arguments):
        self.end, other = pty.openpty()
        self.run = subprocess.Popen([home.program, *map(str, arguments)], stdin=other, stdout=other, stderr=other, cwd=home.folder,
                                    env={**home.environment, "TERM": "xterm"}, start_new_session=True)
        os.close(other)
        self.seen = b""

    def until(self, text, seconds=30, times=1):
        while self.seen.count(text) < times:
            if not select.select([self.end], [], [], seconds)[0]:
                raise AssertionError(f"{text} did not come: {self.seen}")
            try:
                part = os.read(self.end, 65536)
            except OSError:
                part = b""
            if not part:
                raise AssertionError(f"{text} did not come before the end: {self.seen}")
            self.seen += part

    def say(self, text):
        os.write(self.end, text.encode() + b"\n")

    def press(self, key):
        """A key for the line editor, once it reads key by key (libedit prints its prompt before that)."""
        until = time.monotonic() + 30
        while termios.tcgetattr(self.end)[3] & termios.ICANON:
            if time.monotonic() > until:
                raise AssertionError(f"no key is waited for: {self.seen}")
            time.sleep(0.001)
        os.write(self.end, key)

    def finish(self):
        try:
            while part := os.read(self.end, 65536):
                self.seen += part
        except OSError:
            pass  # the other end is closed
        os.close(self.end)
        return self.run.wait(timeout=30)
