#!/usr/bin/env python3
"""Writes tests/data/text/: our own texts and what tokenizers 0.23.3 (Hugging Face) makes of them.

    ~/.cache/wick-ref/bin/python tools/goldens/text_goldens.py

tiny_bpe.json, tiny_spm.json, tiny_unigram.json and tiny_wordpiece.json are vocabularies trained here on our own text.
tiny_cases.json holds variants of them (as JSON merge patches) with the ids of every text; sentencepiece_cases.json the ids
that SentencePiece 0.2.3 gives with the *.model files, also trained here, and tiktoken_cases.json those that tiktoken gives
with tiny_tekken.json and tiny.tiktoken; model_cases.json the same for tokenizers of real models, which
tools/fetch_test_data brings into ~/.cache/wick-test and which are never committed.
"""
import base64
import copy
import io
import json
import pathlib
import tempfile

import sentencepiece
import tiktoken
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/data/text"
CACHE = pathlib.Path.home() / ".cache/wick-test"

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
          r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")

GPT4O_ONE = GPT4O.replace(r"|\p{N}{1,3}|", r"|\p{N}|")
HAN = "&&[^\\p{Han}]]"
KIMI = r"[\p{Han}]+|" + GPT4O.replace(r"\p{M}]", r"\p{M}" + HAN).replace(r"[\r\n/]*", r"[\r\n]*")
BAILING = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")
SEED = QWEN2.replace(r"[^\s\p{L}\p{N}]+[\r\n]*", r"[^\s\p{L}\p{N}\r\n]+").replace(r"|\p{N}|", r"|\p{N}{1}|")
EXAONE_MOE = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
              r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+")
JAIS2 = LLAMA3.removesuffix(r"|\s+(?!\S)|\s+") + "".join(r"|\s{%d}(?!\S)" % n for n in (512, 256, 128, 64, 32, 16, 8, 4)) + r"|\s{1,2}(?!\S)|\s{1}"
BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
YOUTU = r"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+"
TINY_AYA = r"\d{1,3}(?=(?:\d{3})*\b)"

TEXTS = [
    "", " ", "  ", "   \n  ", "\n", "\n\n", "\r\n\r\n", "\t\tx", "a", "Hello world", "Hello  world", " Hello world ",
    "  leading and trailing  ", "The quick brown fox jumps over the lazy dog.", "I'm sure they've said we'll go, don't you?",
    "I'M SURE THEY'VE SAID WE'LL GO, DON'T YOU?", "it'\u017f the long s", "'s 't 're", "''s", "x's'd'll",
    "1", "12", "123", "1234", "12345678", "3.14159e-10", " 42", "  42", "\n\n1. First\n2. Second", "a1b2c3", "٣٤٥ ½ ² Ⅷ ① 〇",
    "def f(x):\n    return x + 1\n\n\nclass A:\n\tpass\n", "#include <vector>\nint main() { return a->b != c::d; } // end",
    "https://example.com/a/b?c=d&e=%20#f", "{\"key\": [1, 2, {\"x\": null}]}", "!!!???...---___===***", "a.b,c;d:e",
    "naïve café Straße", "nai\u0308ve cafe\u0301 \u1e9b\u0323 \u212b \ufb01", "q\u0307\u0323 \u0344 \u1100\u1161\u11a8 가각",
    "Ελληνικά Москва привет", "日本語のテキスト、中文文本。한국어 텍스트", "สวัสดีชาวโลก नमस्ते दुनिया", "שלום עולם مرحبا بالعالم",
    "😀 👍🏽 👩‍👩‍👧‍👦 🇩🇪 ❤️ 1️⃣ ☃", "\u00a0\u2003\u3000x\u200by\u180ez\u0085w\u2028v", "a\u180e b", "\x00\x01\x02\x7f\x1b[0m",
    "\U0001fadc \U00031350 \u1c89\u1c8a \U0001ccf0", "zero\u0000byte", "▁under▁score", "Ġ Ċ spelled", "<0x0A><0xE2>",
    "<s>text</s>", "<|start|>user\nHi there<|end|>\n<|start|>assistant\n", "x <|pad|> y", "before <tool> after", "<tool><tool>",
    " <tool> ", "wordwordword", "a word here", "(word)", "<|start|", "<|sta<|start|>rt|>", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    " " * 70, "-" * 65, "\n" * 40, "ab" * 50, "the the the The THE tHe", "CamelCaseWordsAndHTTPServer", "e\u0301" * 20,
    "Ünïcödé \u0301\u0316\u0301 marks", "\u0301leading mark", "tab\tseparated\tvalues\r\nnext", "  \n \n\n   x", "…—–“quoted”‘single’",
    "$100 + €200 = £300 ± 5%", "<b>bold</b> &amp; <i>it</i>", "[INST] Hello [/INST]", "a  b   c    d     e", "\u2581", "\u2581\u2581 x",
]

TRAINING = (ROOT / "LICENSE").read_text().splitlines(keepends=True) + TEXTS * 3


def ids_of(tokenizer):
    """Ids of each text as a person's; where they differ from that, as trusted; where it differs from the text, what the
    trusted ids decode to; and what the tokenizer puts around a text."""
    plain, trusted, decoded = [], {}, {}
    around = tokenizer.encode("x", add_special_tokens=True).ids
    inner = tokenizer.encode("x", add_special_tokens=False).ids
    for i, text in enumerate(TEXTS):
        tokenizer.encode_special_tokens = True
        plain.append(tokenizer.encode(text, add_special_tokens=False).ids)
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        if ids != plain[i]:
            trusted[str(i)] = ids
        if (back := tokenizer.decode(ids, skip_special_tokens=True)) != text:
            decoded[str(i)] = back
    at = next(i for i in range(len(around)) if around[i:i + len(inner)] == inner)
    return {"plain": plain, "trusted": trusted, "decoded": decoded,
            "prefix": around[:at], "suffix": around[at + len(inner):]}


def tiny_bpe():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(QWEN2), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TRAINING, trainers.BpeTrainer(
        vocab_size=600, show_progress=False, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tokenizer.add_special_tokens(["<|start|>", "<|end|>", "<|endoftext|>", AddedToken("<|pad|>", lstrip=True, rstrip=True)])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("word", single_word=True, normalized=False),
                          AddedToken("각", normalized=True)])
    start = tokenizer.token_to_id("<|start|>")
    tokenizer.post_processor = processors.TemplateProcessing(single="<|start|> $A", special_tokens=[("<|start|>", start)])
    return json.loads(tokenizer.to_str())


def tiny_spm():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    marks = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]
    # A vocabulary of words, not of lines: train on pieces that a space starts.
    words = ["▁" + w for line in TRAINING for w in line.split()]
    trainer_side = Tokenizer(models.BPE())
    trainer_side.train_from_iterator(words, trainers.BpeTrainer(vocab_size=700, special_tokens=marks, show_progress=False))
    trained = json.loads(trainer_side.to_str())["model"]
    spec = json.loads(tokenizer.to_str())
    spec["model"]["vocab"] = trained["vocab"]
    spec["model"]["merges"] = trained["merges"]
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    return json.loads(tokenizer.to_str())


def tiny_unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap_of(sentencepiece_model(model_type="unigram"))),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(TRAINING, trainers.UnigramTrainer(
        vocab_size=400, unk_token="<unk>", special_tokens=["<unk>"] + ["<0x%02X>" % b for b in range(256)], show_progress=False))
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = spec["added_tokens"][:1]  # the bytes are no added tokens
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.add_special_tokens(["<s>", "</s>"])
    start, end = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", end), ("<s>", start))
    return json.loads(tokenizer.to_str())


def tiny_wordpiece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(TRAINING, trainers.WordPieceTrainer(
        vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return json.loads(tokenizer.to_str())


RULES = {"ﬁ": "fi", "Ａ": "A", "e\u0301": "é", "\u00a0": " ", "\t": " ", "\u3000": " ", "ﷺ": "صلى الله", "“": '"', "”": '"', "\x7f": "",
         "\u2026": "...", "☃": "", "T": "t", "Th": "th"}


def sentencepiece_model(**options):
    """A small model on our own text, with replacements that are few enough to commit."""
    out = io.BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        for source, target in RULES.items():
            rules.write(" ".join("%X" % ord(c) for c in source) + "\t" + " ".join("%X" % ord(c) for c in target) + "\n")
        rules.flush()
        if options.get("normalization_rule_name") != "identity":
            options["normalization_rule_tsv"] = rules.name
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text for line in TRAINING for text in line.splitlines() if text.strip()), model_writer=out,
            vocab_size=options.pop("vocab_size", 400), hard_vocab_limit=False, minloglevel=2, num_threads=1, **options)
    return out.getvalue()


def charsmap_of(model):
    """normalizer_spec.precompiled_charsmap: field 2 of field 3 of a protocol buffer."""
    def fields(data):
        at = 0

        def varint():
            nonlocal at
            value = shift = 0
            while True:
                byte, at = data[at], at + 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            tag = varint()
            if tag & 7 == 2:
                size = varint()
                yield tag >> 3, data[at:at + size]
                at += size
            elif tag & 7 == 5:
                at += 4
            else:
                varint()

    return dict(fields(dict(fields(model))[3]))[2]


SYMBOLS = ["<sep>", "<tool>", "://"]
SENTENCEPIECE = {
    "tiny_unigram": dict(model_type="unigram", user_defined_symbols=SYMBOLS),
    "tiny_unigram_bytes": dict(model_type="unigram", byte_fallback=True, vocab_size=600, normalization_rule_name="identity",
                               remove_extra_whitespaces=False, treat_whitespace_as_suffix=True),
    "tiny_bpe": dict(model_type="bpe", user_defined_symbols=SYMBOLS, add_dummy_prefix=False),
    "tiny_bpe_bytes": dict(model_type="bpe", byte_fallback=True, vocab_size=600, remove_extra_whitespaces=False),
    "tiny_char": dict(model_type="char", vocab_size=150),
    "tiny_word": dict(model_type="word", vocab_size=100),
}


def sentencepiece_cases():
    cases = []
    for name, options in SENTENCEPIECE.items():
        data = sentencepiece_model(**dict(options))
        (OUT / f"{name}.model").write_bytes(data)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
        ids = [theirs.encode(text) for text in TEXTS]
        cases.append({"name": name, "plain": ids, "bos": theirs.bos_id(), "eos": theirs.eos_id(), "decoded": {
            str(i): theirs.decode(ids[i]) for i, text in enumerate(TEXTS) if theirs.unk_id() not in ids[i]}})
    return cases


def sentencepiece_gguf():
    """tiny_unigram.model as llama.cpp's converter would put it into a GGUF file."""
    data = (OUT / "tiny_unigram.model").read_bytes()
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    ids = range(theirs.get_piece_size())
    return {"tokens": [theirs.id_to_piece(i) for i in ids], "scores": [theirs.get_score(i) for i in ids],
            "types": [2 if theirs.is_unknown(i) else 3 if theirs.is_control(i) else 4 if theirs.id_to_piece(i) in SYMBOLS else 1 for i in ids],
            "charsmap": list(charsmap_of(data))}


def tiktoken_cases(tiny):
    """The vocabulary of tiny_bpe, whose ids are ranks, in the files of Mistral and of tiktoken."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(b): b for b in plain} | {chr(0x100 + i): b for i, b in enumerate(b for b in range(256) if b not in plain)}
    added = {token["content"] for token in tiny["added_tokens"]}
    texts = sorted((rank, text) for text, rank in tiny["model"]["vocab"].items() if text not in added)
    ranks = {bytes(alphabet[c] for c in text): rank for rank, (_, text) in enumerate(texts)}
    lines = [(base64.b64encode(token).decode(), rank) for token, rank in sorted(ranks.items(), key=lambda r: r[1])]
    n_special = 30
    write("tiny_tekken.json", {
        "config": {"pattern": QWEN2, "num_vocab_tokens": len(ranks), "default_vocab_size": len(ranks) - 10 + n_special,
                   "default_num_special_tokens": n_special, "version": "v3"},
        "vocab": [{"rank": rank, "token_bytes": text, "token_str": None} for text, rank in lines]})
    (OUT / "tiny.tiktoken").write_text("".join(f"{text} {rank}\n" for text, rank in lines))
    shorter = tiktoken.Encoding("tekken", pat_str=QWEN2, special_tokens={},
                                mergeable_ranks={t: r for t, r in ranks.items() if r < len(ranks) - 10})
    kimi = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+")
    whole = tiktoken.Encoding("kimi", pat_str=kimi, special_tokens={}, mergeable_ranks=ranks)
    return [{"name": "tiny_tekken.json", "plain": [[n_special + i for i in shorter.encode_ordinary(text)] for text in TEXTS]},
            {"name": "tiny.tiktoken", "plain": [whole.encode_ordinary(text) for text in TEXTS]}]


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
BYTE_LEVEL_GPT2 = dict(BYTE_LEVEL, use_regex=True)
DIGITS = {"type": "Digits", "individual_digits": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def bpe_variant(pre_tokenizer, **more):
    # null removes in a merge patch, so the pre-tokenizer's members are all spelled out
    return dict({"pre_tokenizer": pre_tokenizer}, **more)


VARIANTS = [  # name, base, merge patch, the name under tokenizer.ggml.pre that means the same
    ("as trained", "tiny_bpe", {}, "qwen2"),
    ("gpt-2", "tiny_bpe", {"normalizer": None, "pre_tokenizer": sequence(BYTE_LEVEL_GPT2)}, "gpt-2"),
    ("smollm", "tiny_bpe", {"normalizer": None, "pre_tokenizer": sequence(DIGITS, BYTE_LEVEL_GPT2)}, "smollm"),
    ("llama-bpe", "tiny_bpe", {"normalizer": None, "model": {"ignore_merges": True},
                               "pre_tokenizer": sequence(split(LLAMA3), BYTE_LEVEL)}, "llama-bpe"),
    ("deepseek-r1-qwen", "tiny_bpe", {"normalizer": None, "pre_tokenizer": sequence(split(QWEN2), BYTE_LEVEL)}, "deepseek-r1-qwen"),
    ("qwen35", "tiny_bpe", {"pre_tokenizer": sequence(split(QWEN35), BYTE_LEVEL)}, "qwen35"),
    ("gpt-4o", "tiny_bpe", {"normalizer": None, "pre_tokenizer": sequence(split(GPT4O), BYTE_LEVEL)}, "gpt-4o"),
    *[(name, "tiny_bpe", {"normalizer": None, "model": {"ignore_merges": ignores}, "pre_tokenizer": {
        "type": "Sequence", "pretokenizers": [*(split(p) for p in patterns), BYTE_LEVEL]}}, name) for name, patterns, ignores in [
            ("kimi-k2", [KIMI], False), ("youtu", [YOUTU, GPT4O_ONE], True), ("bailingmoe", [BAILING], False), ("seed-coder", [SEED], False),
            ("exaone-moe", [EXAONE_MOE], False), ("jais-2", [JAIS2], False), ("bloom", [BLOOM], False), ("viking", [BLOOM, r"\p{N}"], False),
            ("superbpe", [r"\p{N}+", r"(?=(\d{3})+(?!\d))"], False), ("tiny_aya", [TINY_AYA, GPT4O], False),
            ("laguna", [r"[^\n]+|[\n]+", QWEN2], False), ("minicpm5", [r"\p{N}{1,3}", LLAMA3.replace("{1,3}", "+")], True)]],
    ("prefix space", "tiny_bpe", {"pre_tokenizer": sequence(dict(BYTE_LEVEL_GPT2, add_prefix_space=True))}, ""),
    ("removed and inverted", "tiny_bpe", {"pre_tokenizer": sequence(split(GPT2, "Removed", True), BYTE_LEVEL)}, ""),
    ("merged with previous", "tiny_bpe", {"pre_tokenizer": sequence(split(r"\s", "MergedWithPrevious"), BYTE_LEVEL)}, ""),
    ("merged with next", "tiny_bpe", {"pre_tokenizer": sequence(split(r"\s", "MergedWithNext"), BYTE_LEVEL)}, ""),
    ("contiguous", "tiny_bpe", {"pre_tokenizer": sequence(split(r"[\p{L}\d]", "Contiguous"), BYTE_LEVEL)}, ""),
    ("word classes", "tiny_bpe", {"pre_tokenizer": sequence(split(r"\w+|[^\w\s]+|\s+$|\S"), BYTE_LEVEL)}, ""),
    ("spm", "tiny_spm", {}, ""),
    ("metaspace first", "tiny_spm", {"normalizer": None, "pre_tokenizer": sequence(METASPACE)}, ""),
    ("metaspace always, split", "tiny_spm", {"normalizer": None, "pre_tokenizer": sequence(
        dict(METASPACE, prepend_scheme="always", split=True))}, ""),
    ("no byte fallback", "tiny_spm", {"model": {"byte_fallback": False}}, ""),
    ("unigram", "tiny_unigram", {}, ""),
    ("unigram with bytes", "tiny_unigram", {"model": {"byte_fallback": True}}, ""),
    ("unigram, words", "tiny_unigram", {"pre_tokenizer": sequence({"type": "WhitespaceSplit"}, dict(METASPACE, prepend_scheme="always", split=True))}, ""),
    ("unigram as ALBERT", "tiny_unigram", {"normalizer": {"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},
        {"type": "Strip", "strip_left": True, "strip_right": False}]}}, ""),
    ("unigram, Nmt and NFKC", "tiny_unigram", {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKC"}]}}, ""),
    ("wordpiece", "tiny_wordpiece", {}, ""),
    ("wordpiece, cased", "tiny_wordpiece", {"normalizer": {"type": "BertNormalizer", "lowercase": False, "clean_text": False,
                                                           "handle_chinese_chars": False, "strip_accents": None},
                                            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False}}, ""),
    ("wordpiece, whitespace", "tiny_wordpiece", {"pre_tokenizer": {"type": "Whitespace"}, "post_processor": None}, ""),
    ("word level", "tiny_wordpiece", {"model": {"type": "WordLevel"}, "decoder": None, "pre_tokenizer": sequence(
        {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Contiguous"})}, ""),
    ("prefixes and suffixes", "tiny_wordpiece", {
        "model": {"type": "BPE", "continuing_subword_prefix": "##", "end_of_word_suffix": "e", "merges": [], "fuse_unk": True},
        "pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": " "}}, ""),
    ("bytes spelled by the normalizer", "tiny_bpe", {"normalizer": {"type": "ByteLevel"}, "pre_tokenizer": None}, ""),
    ("NFD and fixed length", "tiny_bpe", {"normalizer": {"type": "NFD"}, "pre_tokenizer": sequence(
        {"type": "FixedLength", "length": 7}, BYTE_LEVEL)}, ""),
    ("prefix space behind a split", "tiny_bpe", {"normalizer": {"type": "Replace", "pattern": {"Regex": "[0-9]+"}, "content": "#"},
        "pre_tokenizer": sequence({"type": "Digits", "individual_digits": False}, dict(BYTE_LEVEL_GPT2, add_prefix_space=True))}, ""),
    ("no fusing", "tiny_spm", {"model": {"byte_fallback": False, "fuse_unk": False}}, ""),
]


def merged(base, patch):
    if not isinstance(patch, dict):
        return patch
    result = copy.deepcopy(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def scored_spm(spec):
    """tiny_spm as a GGUF file would hold it: scores, no merges; and Hugging Face's reading of that."""
    from transformers.tokenization_utils_base import generate_merges

    vocab = spec["model"]["vocab"]
    made = {"".join(pair): rank for rank, pair in reversed(list(enumerate(spec["model"]["merges"])))}
    # Some scores are equal, so that the order among equals shows.
    scores = {t: -float(made[t] // 3) if t in made else (0.0 if i < 259 else -1000.0) for t, i in vocab.items()}
    spec = copy.deepcopy(spec)
    spec["model"]["merges"] = [list(m) for m in generate_merges(vocab, scores, ("<unk>", "<s>", "</s>"))]
    return {"scores": [scores[t] for t, _ in sorted(vocab.items(), key=lambda item: item[1])],
            **ids_of(Tokenizer.from_str(json.dumps(spec)))}


def model_tokenizer(name):
    if name != "smollm2":
        return Tokenizer.from_file(str(CACHE / "tokenizers" / name / "tokenizer.json"))
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(CACHE), gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf").backend_tokenizer
    # transformers leaves out what tokenizer.ggml.pre says; SmolLM2's own tokenizer.json splits digits.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def write(name, value):
    (OUT / name).write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("],[", "],\n[").replace(
        '},{', '},\n{') + "\n")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    bases = {"tiny_bpe": tiny_bpe(), "tiny_spm": tiny_spm(), "tiny_unigram": tiny_unigram(), "tiny_wordpiece": tiny_wordpiece()}
    for name, spec in bases.items():
        write(name + ".json", spec)
    write("texts.json", TEXTS)
    write("tiny_cases.json", [
        {"name": name, "base": base, "patch": patch, "pre": pre,
         **ids_of(Tokenizer.from_str(json.dumps(merged(bases[base], patch))))} for name, base, patch, pre in VARIANTS])
    write("sentencepiece_cases.json", sentencepiece_cases())
    write("sentencepiece_gguf.json", sentencepiece_gguf())
    write("tiktoken_cases.json", tiktoken_cases(bases["tiny_bpe"]))
    write("tiny_scored.json", scored_spm(bases["tiny_spm"]))
    write("model_cases.json", [{"name": name, **ids_of(model_tokenizer(name))}
                               for name in ("smollm2", "gpt2", "llama3", "llama3_2", "qwen2_5", "qwen3", "llama2")])


if __name__ == "__main__":
    main()
