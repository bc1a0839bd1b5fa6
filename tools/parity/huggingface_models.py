#!/usr/bin/env python3
"""Trains a tokenizer.json of each kind that Hugging Face's families have, on mixed text of this machine, and writes them to
FOLDER/NAME/tokenizer.json, for tokenizer_corpus.py and tokenizer_diff.py.

    ~/.cache/wick-ref/bin/python tools/parity/huggingface_models.py FOLDER
    ~/.cache/wick-ref/bin/python tools/parity/tokenizer_corpus.py FOLDER/*/tokenizer.json
"""
import io
import pathlib
import sys

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from corpus import some_texts

VOCAB = 8000
METASPACE = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")


def charsmap(rule):
    """The table that SentencePiece makes for a rule, out of a model trained on nothing much."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c d e f g"] * 10), model_writer=out, vocab_size=12,
                                             normalization_rule_name=rule, hard_vocab_limit=False, minloglevel=2)
    data, at = out.getvalue(), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def fields(end):
        nonlocal at
        while at < end:
            tag = varint()
            if tag & 7 == 2:
                size = varint()
                yield tag >> 3, at, at + size
                at += size
            elif tag & 7 == 5:
                at += 4
            else:
                varint()

    begin, end = next((b, e) for field, b, e in fields(len(data)) if field == 3)
    at = begin
    begin, end = next((b, e) for field, b, e in fields(end) if field == 2)
    return data[begin:end]


def unigram(normalizer, pre_tokenizer, byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    specials = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)] * byte_fallback
    trainer = trainers.UnigramTrainer(vocab_size=VOCAB, unk_token="<unk>", special_tokens=specials, show_progress=False)
    yield tokenizer, trainer
    if byte_fallback:  # the bytes stand in the vocabulary alone
        import json
        spec = json.loads(tokenizer.to_str())
        spec["model"]["byte_fallback"] = True
        spec["added_tokens"] = spec["added_tokens"][:3]
        tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]) if byte_fallback else decoders.Metaspace()
    yield tokenizer, None


def simple(model, trainer, normalizer, pre_tokenizer, decoder):
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    yield tokenizer, trainer
    tokenizer.decoder = decoder
    yield tokenizer, None


def wordpiece(lowercase, strip_accents=None):
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return simple(models.WordPiece(unk_token="[UNK]"),
                  trainers.WordPieceTrainer(vocab_size=VOCAB, special_tokens=specials, show_progress=False),
                  normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents),
                  pre_tokenizers.BertPreTokenizer(), decoders.WordPiece())


def kinds():
    nfkc, cf = charsmap("nmt_nfkc"), charsmap("nmt_nfkc_cf")
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), METASPACE])
    yield "t5", unigram(normalizers.Precompiled(nfkc), words)
    yield "xlm_r", unigram(normalizers.Sequence([normalizers.Precompiled(cf), normalizers.Replace(Regex(" {2,}"), " ")]), METASPACE)
    yield "albert", unigram(normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                                  normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip(),
                                                  normalizers.Precompiled(nfkc)]), words)
    yield "unigram_bytes", unigram(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()]), METASPACE, True)
    yield "bert_uncased", wordpiece(True)
    yield "bert_cased", wordpiece(False)
    yield "bert_accents", wordpiece(False, True)
    yield "clip", simple(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
                         trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False),
                         normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
                         pre_tokenizers.Whitespace(), decoders.BPEDecoder(suffix="</w>"))
    yield "bpe_hashes", simple(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True),
                               trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=["<unk>"], continuing_subword_prefix="##",
                                                   limit_alphabet=500, show_progress=False),
                               normalizers.NFD(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(
                                   behavior="merged_with_previous")]), decoders.WordPiece(cleanup=False))
    yield "word_level", simple(models.WordLevel(unk_token="<unk>"),
                               trainers.WordLevelTrainer(vocab_size=VOCAB, special_tokens=["<unk>"], show_progress=False),
                               normalizers.StripAccents(), pre_tokenizers.Whitespace(), None)
    yield "byte_normalizer", simple(models.BPE(), trainers.BpeTrainer(vocab_size=VOCAB, show_progress=False,
                                                                      initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())),
                                    normalizers.ByteLevel(), pre_tokenizers.CharDelimiterSplit("Ġ"), decoders.ByteLevel())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    texts = list(some_texts(2, 2))
    for name, steps in kinds():
        path = pathlib.Path(sys.argv[1]) / name / "tokenizer.json"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        tokenizer, trainer = next(steps)
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer, _ = next(steps)
        tokenizer.save(str(path))
        print(path, tokenizer.get_vocab_size(), flush=True)


if __name__ == "__main__":
    main()
