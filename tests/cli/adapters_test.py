#!/usr/bin/env python3
"""LoRA adapters of wick serve and wick run: chosen by name, by llama.cpp's `lora`, and by /lora-adapters."""
# labels: cli
import json
import random
import struct
import sys
import tempfile
import unittest

import tiny
from serving import TALK, Server, close_at_end

WICK = sys.argv.pop(1)


def write_adapter(folder, seed):
    """PEFT's folder of an adapter for the tiny model's queries."""
    draw = random.Random(seed).gauss
    rows = {"A": (3, tiny.SIZE), "B": (tiny.HEADS * tiny.HEAD, 3)}
    header, body = {}, b""
    for part, (out, into) in rows.items():
        data = struct.pack(f"<{out * into}f", *(draw(0, 1) for _ in range(out * into)))
        name = f"base_model.model.model.layers.0.self_attn.q_proj.lora_{part}.weight"
        header[name] = {"dtype": "F32", "shape": [out, into], "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + body)
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 3, "lora_alpha": 6}))


class Adapters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name)
        for number, name in enumerate(("sql", "poems")):
            write_adapter(self.home.folder / name, number)
        self.flags = ["--lora", f"{self.home.folder}/sql:0", "--lora", f"verse={self.home.folder}/poems"]

    def said(self, server, **fields):
        body = {"messages": TALK, "max_tokens": 24, "seed": 1, "temperature": 2, "logprobs": True, **fields}
        choice = server.json("/v1/chat/completions", body)["choices"][0]
        return [one["logprob"] for one in choice["logprobs"]["content"]]

    def test_requests_choose_among_them(self):
        server = close_at_end(self, Server(self.home, "--open-admin", *self.flags))
        rows = server.json("/v1/models")["data"]
        self.assertEqual([(row["id"], row.get("parent")) for row in rows], [("tiny", None), ("sql", "tiny"), ("verse", "tiny")])
        plain, verse, sql = self.said(server, lora=[]), self.said(server, model="verse"), self.said(server, model="sql")
        self.assertEqual(len({tuple(one) for one in (plain, verse, sql)}), 3)
        self.assertEqual(self.said(server), verse)  # as loaded
        self.assertEqual(self.said(server, lora=[{"id": 0, "scale": 1}]), sql)
        self.assertNotEqual(self.said(server, lora=[{"id": 0, "scale": 1}, {"id": 1, "scale": 0.5}]), sql)
        listed = server.json("/lora-adapters")
        self.assertEqual([(one["id"], one["name"], one["scale"]) for one in listed], [(0, "sql", 0), (1, "verse", 1)])
        server.json("/lora-adapters", [{"id": 0, "scale": 1}])
        self.assertEqual(self.said(server), sql)
        refused = server.json("/v1/chat/completions", {"messages": TALK, "lora": [{"id": 7, "scale": 1}]}, status=400)
        self.assertEqual(refused["error"]["code"], "bad_adapter")
        self.assertIn("scale", server.json("/v1/chat/completions", {"messages": TALK, "lora": [{"id": 0}]}, status=400)["error"]["message"])

    def test_the_program_takes_them_and_counts_their_memory(self):
        plain = self.home.wick("logits", "-m", self.home.model, "--ids", "1,2,3", "-o", "plain.npy")
        adapted = self.home.wick("logits", "-m", self.home.model, "--ids", "1,2,3", "-o", "adapted.npy", *self.flags)
        self.assertEqual((plain.returncode, adapted.returncode), (0, 0), adapted.stderr)
        self.assertNotEqual((self.home.folder / "plain.npy").read_bytes(), (self.home.folder / "adapted.npy").read_bytes())
        refused = self.home.wick("run", "-m", self.home.model, "-p", "a", "--lora", "nowhere.gguf")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(b"nowhere.gguf", refused.stderr)

    def test_two_of_one_name_are_refused_and_of_two_names_added(self):
        sql = f"{self.home.folder}/sql"
        logits = ("logits", "-m", self.home.model, "--ids", "1,2,3", "-o", "out.npy")
        for command in (logits, ("run", "-m", self.home.model, "-p", "a")):
            refused = self.home.wick(*command, "--lora", sql, "--lora", sql)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(b"two adapters are called 'sql'", refused.stderr)
        values = []
        for flags in (("--lora", f"{sql}:0.5", "--lora", f"b={sql}:0.5"), ("--lora", f"{sql}:1")):
            self.assertEqual(self.home.wick(*logits, *flags).returncode, 0)
            raw = (self.home.folder / "out.npy").read_bytes()[128:]
            values.append(struct.unpack(f"<{len(raw) // 4}f", raw))
        self.assertEqual([round(one, 3) for one in values[0]], [round(one, 3) for one in values[1]])


if __name__ == "__main__":
    unittest.main()
