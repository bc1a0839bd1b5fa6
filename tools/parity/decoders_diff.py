#!/usr/bin/env python3
"""Random lists of ids, decoded by Hugging Face's tokenizers and by wick, whole and as a stream, for small tokenizers with each decoder.

    tools/build release text_decode && ~/.cache/wick-ref/bin/python tools/parity/decoders_diff.py build/release/text_decode [LISTS]
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import AddedToken, Tokenizer, decoders, models

WORDS = ["a", "b", "##c", "##d", "▁e", "▁", "f▁", "g</w>", "h", "i</w>", ".", "'", "n't", "</w>", "##", "k▁l", "▁▁m", "|", "<pad>", "##."]
KINDS = {
    "wordpiece": decoders.WordPiece(), "wordpiece_plain": decoders.WordPiece(cleanup=False),
    "metaspace_always": decoders.Metaspace(), "metaspace_first": decoders.Metaspace(prepend_scheme="first"),
    "metaspace_never": decoders.Metaspace(prepend_scheme="never"),
    "bpe": decoders.BPEDecoder(suffix="</w>"), "ctc": decoders.CTC(),
    "llama": decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
}


def tokenizer_of(kind):
    vocabulary = {word: i for i, word in enumerate(["<unk>", *WORDS])}
    model = models.WordPiece(vocabulary, unk_token="<unk>") if kind.startswith("wordpiece") else models.BPE(vocabulary, [], unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.decoder = KINDS[kind]
    tokenizer.add_special_tokens([AddedToken("[CLS]", special=True), AddedToken("[SEP]", special=True)])
    tokenizer.add_tokens([AddedToken("user", special=False)])
    return tokenizer


def main():
    driver, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    failed = False
    for kind in KINDS:
        tokenizer, rng = tokenizer_of(kind), random.Random(1)
        size = tokenizer.get_vocab_size()
        lists = [[rng.randrange(1, size) for _ in range(rng.choice((1, 1, 2, 2, 3, 5, 8)))] for _ in range(n)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "tokenizer.json")
            tokenizer.save(str(path))
            done = subprocess.run([driver, path], input="".join(" ".join(map(str, ids)) + "\n" for ids in lists), text=True,
                                  capture_output=True, check=False)
        if done.returncode != 0:
            print(f"{kind}: refused: {done.stderr.strip()}")
            continue
        wrong = []
        for ids, line in zip(lists, done.stdout.splitlines()):
            want, (whole, streamed) = tokenizer.decode(ids), json.loads(line)
            if not want == whole == streamed:
                wrong.append(([tokenizer.id_to_token(i) for i in ids], want, whole, streamed))
        print(f"{kind}: {n} lists, {len(wrong)} differ")
        for case in sorted(wrong, key=lambda case: len(case[0]))[:6]:
            print("   ", *map(repr, case))
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
