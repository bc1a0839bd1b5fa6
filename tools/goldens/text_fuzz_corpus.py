#!/usr/bin/env python3
"""Writes the corpora of the targets tests/fuzz/tokenizer_*.cc for files: small tokenizer.json files of every component that wick reads,
and the small files of tests/data/text; behind each 60 bytes of text, then the choices, which are read from the end.

    python3 tools/goldens/text_fuzz_corpus.py
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/fuzz/corpus"
VOCAB = {c: i for i, c in enumerate(["<unk>", "a", "b", "Ġ", "▁", "c", "ab", "Ġa", "▁a", "<0x0A>", "é", "abc"])}
BASE = {"model": {"type": "BPE", "vocab": VOCAB, "merges": [["a", "b"], "Ġ a", ["▁", "a"], ["ab", "c"]], "unk_token": "<unk>"},
        "added_tokens": [{"id": 12, "content": "<|x|>", "special": True},
                         {"id": 13, "content": "word", "single_word": True, "lstrip": True, "rstrip": True, "normalized": True}]}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+(?!\S)|\p{L}{1,3}|[^\s\p{N}]"}, "behavior": "Isolated", "invert": False}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
CHARSMAP = json.loads((ROOT / "tests/data/text/tiny_unigram.json").read_text())["normalizer"]["normalizers"][0]["precompiled_charsmap"]
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
    {"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [[t, -i / 3] for t, i in VOCAB.items()]},
     "normalizer": {"type": "Sequence", "normalizers": [
         {"type": "Precompiled", "precompiled_charsmap": CHARSMAP}, {"type": "NFKC"}, {"type": "Strip"}, {"type": "Nmt"},
         {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
     "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁"}]},
     "post_processor": {"type": "RobertaProcessing", "cls": ["a", 1], "sep": ["b", 2]}},
    {"model": {"type": "WordPiece", "unk_token": "<unk>", "vocab": {("##" + t if i % 2 else t): i for t, i in VOCAB.items()}},
     "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
     "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
    {"model": {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"}, "normalizer": {"type": "Sequence", "normalizers": [
        {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Whitespace"}, {"type": "Punctuation"}, {"type": "CharDelimiterSplit", "delimiter": "b"}, {"type": "FixedLength", "length": 2}]},
     "decoder": {"type": "CTC", "pad_token": "a", "word_delimiter_token": "b", "cleanup": True}},
    {"model": dict(BASE["model"], continuing_subword_prefix="a", end_of_word_suffix="c"), "normalizer": {"type": "ByteLevel"},
     "decoder": {"type": "BPEDecoder", "suffix": "c"}},
]

TAIL = b"abc word a\xffb <|x|>  123 caf\xc3\xa9 e\xcc\x81 aabb".ljust(60, b"a")


def write(kind, name, data, last=1):
    folder = OUT / f"tokenizer_{kind}"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data + TAIL + bytes([len(TAIL), last]))


def main():
    for i, variant in enumerate(VARIANTS):
        write("json", str(i), json.dumps({**BASE, **variant}, ensure_ascii=False, separators=(",", ":")).encode())
    for kind, name in [("model", "tiny_unigram.model"), ("model", "tiny_bpe_bytes.model"), ("model", "tiny_char.model"),
                       ("model", "tiny_word.model"), ("tiktoken", "tiny.tiktoken")]:
        write(kind, "tiny" if kind == "tiktoken" else name[5:-6], (ROOT / "tests/data/text" / name).read_bytes())
    tekken = json.loads((ROOT / "tests/data/text/tiny_tekken.json").read_text())
    tekken["vocab"] = tekken["vocab"][:300]
    tekken["config"].update(default_vocab_size=320, default_num_special_tokens=20)
    write("tekken", "tiny", json.dumps(tekken, separators=(",", ":")).encode(), last=0)


if __name__ == "__main__":
    main()
