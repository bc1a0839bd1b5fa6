#!/usr/bin/env python3
"""Compares the scores of wick's cross-encoders with Hugging Face transformers, live: tiny random models for sequence classification of
BERT, XLM-R and RoBERTa with tokenizers of their kinds, pairs of texts through the tokenizer's own pairing, from safetensors.

  ~/.cache/wick-ref/bin/python tools/parity/rerank.py build/release/wick

The largest absolute difference of a score may be 3e-4. Needs what models.py needs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import transformers
from tokenizers import Tokenizer, models as token_models, normalizers, pre_tokenizers, processors

import models

WORDS = "what is the capital of japan tokyo paris river long france a city in which people live ice cream rank texts".split()
PAIRS = [("what is the capital of japan", text) for text in (
    "tokyo is the capital", "a long river in france", "paris", "people live in a city of ice cream", "which texts rank long")]
BASE = dict(hidden_size=64, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)


def word_piece():
    vocab = {token: i for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    tokenizer = Tokenizer(token_models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
                                                sep_token="[SEP]", mask_token="[MASK]",
                                                model_input_names=["input_ids", "token_type_ids", "attention_mask"])


def unigram():
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *(("▁" + word, -float(i + 1)) for i, word in enumerate(WORDS)),
              *((letter, -30.0) for letter in "▁abcdefghijklmnopqrstuvwxyz")]
    tokenizer = Tokenizer(token_models.Unigram(pieces, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", sep_token="</s>",
                                                cls_token="<s>", unk_token="<unk>", pad_token="<pad>",
                                                model_input_names=["input_ids", "attention_mask"])


ROBERTA = dict(BASE, max_position_embeddings=66, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2)
BERT = dict(BASE, max_position_embeddings=64, pad_token_id=0)
CASES = {f"{kind.lower()}_{name}": (kind, tokenizer, dict(base, **changes)) for kind, tokenizer, base in (
    ("Bert", word_piece, BERT), ("XLMRoberta", unigram, ROBERTA), ("Roberta", unigram, ROBERTA)) for name, changes in {
        "plain": {}, "one_layer": dict(num_hidden_layers=1), "many_heads": dict(num_attention_heads=16)}.items()}


def make(case):
    kind, make_tokenizer, fields = CASES[case]
    tokenizer = make_tokenizer()
    config = getattr(transformers, kind + "Config")(vocab_size=len(tokenizer), num_labels=1, **fields)
    torch.manual_seed(sum(map(ord, case)))
    model = getattr(transformers, kind + "ForSequenceClassification")(config).float().eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            scale = 0.4 if key.endswith("bias") else 0.3 if value.dim() == 1 else 1.4 / value.shape[-1] ** 0.5
            value.copy_(torch.randn_like(value) * scale + (1 if "LayerNorm.weight" in key else 0))
    return tokenizer, model


def scores_of(wick, path):
    command = [wick, "embed", "-m", path, "--query", PAIRS[0][0], "--json"]
    for _, text in PAIRS:
        command += ["-p", text]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return [row["embedding"][0] for row in json.loads(run.stdout)["data"]]


def compare(wick, case, folder):
    tokenizer, model = make(case)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    with torch.no_grad():
        wanted = [float(model(**tokenizer(query, text, return_tensors="pt")).logits[0, 0]) for query, text in PAIRS]
    assert max(wanted) - min(wanted) > 0.05, "all texts score alike"
    return {"safetensors": max(abs(a - b) for a, b in zip(wanted, scores_of(wick, folder)))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    options = parser.parse_args()
    failures = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                row = compare(options.wick, case, pathlib.Path(folder))
            except (RuntimeError, AssertionError, ValueError) as error:
                row = {"failed": str(error)[-300:]}
        bad = [value for value in row.values() if isinstance(value, str) or not value <= models.LIMIT]
        failures += bool(bad)
        shown = "  ".join(f"{key} {value:.1e}" if isinstance(value, float) else f"{key}: {value}" for key, value in row.items())
        print(f"{'FAIL' if bad else 'ok  '} {case:22} {shown}", flush=True)
    print(f"{failures} of {len(CASES)} cross-encoders fail")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
