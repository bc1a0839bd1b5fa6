#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/tokenizer/: small tokenizer.json files of every component that wick reads, in the form that
tests/fuzz/tokenizer.cc takes (the JSON, 60 bytes of text, then the choices, which are read from the end).

    python3 tools/goldens/text_fuzz_corpus.py
"""
import json
import pathlib

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/fuzz/corpus/tokenizer"
VOCAB = {c: i for i, c in enumerate(["<unk>", "a", "b", "Ġ", "▁", "c", "ab", "Ġa", "▁a", "<0x0A>", "é", "abc"])}
BASE = {"model": {"type": "BPE", "vocab": VOCAB, "merges": [["a", "b"], "Ġ a", ["▁", "a"], ["ab", "c"]], "unk_token": "<unk>"},
        "added_tokens": [{"id": 12, "content": "<|x|>", "special": True},
                         {"id": 13, "content": "word", "single_word": True, "lstrip": True, "rstrip": True, "normalized": True}]}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+(?!\S)|\p{L}{1,3}|[^\s\p{N}]"}, "behavior": "Isolated", "invert": False}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
VARIANTS = [
    {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}, "decoder": {"type": "ByteLevel"}},
    {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, {"type": "Digits", "individual_digits": True}, BYTE_LEVEL]},
     "normalizer": {"type": "NFC"}},
    {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [dict(SPLIT, behavior="MergedWithNext"), BYTE_LEVEL]}},
    {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [dict(SPLIT, behavior="Removed", invert=True), BYTE_LEVEL]}},
    {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
                                                        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
     "decoder": {"type": "Sequence", "decoders": [{"type": "Replace"}, {"type": "ByteFallback"}, {"type": "Fuse"},
                                                  {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
     "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|x|>"}}, {"Sequence": {"id": "A"}}],
                        "special_tokens": {"<|x|>": {"ids": [12]}}}},
    {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
     "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}},
]

OUT.mkdir(parents=True, exist_ok=True)
for i, variant in enumerate(VARIANTS):
    text = json.dumps({**BASE, **variant}, ensure_ascii=False, separators=(",", ":")).encode()
    tail = b"abc word a\xffb <|x|>  123 caf\xc3\xa9 e\xcc\x81 aabb".ljust(60, b"a")
    (OUT / f"json_{i}").write_bytes(text + tail + bytes([60, 0]))
