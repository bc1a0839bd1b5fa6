"""Conversations for chat templates: a list of chosen ones, and random ones that mix everything a client may send."""
import copy

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Weather at a place.\nCelsius – \"feels like\" too.",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "Name, e.g. München <b>"},
            "days": {"type": "integer", "minimum": 1, "default": 3},
            "unit": {"type": "string", "enum": ["c", "f"]}}, "required": ["city"]}}},
    {"type": "function", "function": {
        "name": "sum", "description": "Adds.", "parameters": {"type": "object", "properties": {
            "xs": {"type": "array", "items": {"type": "number"}},
            "opts": {"type": ["object", "null"], "properties": {"round": {"type": "boolean"}}}}},
        "return": {"type": "number", "description": "The sum"}}},
]
ODD = " \n<|im_end|> {{ x }} é 日本 \U0001F600 'q' \"d\" \\ \t&<>\n\n"
TEXTS = ["Hi there", "", " ", "Two.", "Be brief.  ", ODD, "<think>\nHm.\n</think>\n\nTwo.", "<think>x", "a</think>b", "line\nline\n", "[INST] x [/INST]",
         "{\"a\": 1}", "7", "日本語", "\r\n", "<tool_call>", "x" * 300]


def call(name, arguments, id="call00001"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chosen():
    """33 conversations in three settings each."""
    user, system = {"role": "user", "content": "Hi there"}, {"role": "system", "content": "Be brief.  "}
    odd = {"role": "user", "content": ODD}
    answer = {"role": "assistant", "content": "Hello!"}
    thought = {"role": "assistant", "content": "<think>\nHm, 1+1.\n</think>\n\nTwo."}
    split = {"role": "assistant", "content": "Two.", "reasoning_content": "Hm.", "thinking": "Hm."}
    ask = {"role": "assistant", "content": "", "tool_calls": [call("get_weather", {"city": "Köln", "days": 2, "f": 1.0, "n": None, "t": True})]}
    ask_none = {"role": "assistant", "content": None, "tool_calls": [call("sum", {"xs": [1, 2.5, 1e20]}, "call00002"), call("get_weather", {}, "call00003")]}
    ask_text = {"role": "assistant", "content": "One moment.", "tool_calls": [call("sum", '{"xs": [1]}')]}
    ask_plain = {"role": "assistant", "tool_calls": [{"function": {"name": "sum", "arguments": {"xs": []}}}]}
    result = {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"t\": 7}"}
    parts = {"role": "user", "content": [{"type": "text", "text": "Look: "}, {"type": "image"}, {"type": "text", "text": "what?"}]}
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "?"}]}
    system_parts = {"role": "system", "content": [{"type": "text", "text": "Brief."}]}
    developer = {"role": "developer", "content": "Dev says."}
    base = [
        ([user], {}), ([system, user], {}), ([odd], {}), ([system, user, answer, odd], {}),
        ([user, answer], {}), ([user, thought, user], {}), ([system, user, split, user], {}),
        ([user, split], {}), ([parts], {}), ([system_parts, image, answer, user], {}), ([developer, user], {}),
        ([user], {"tools": TOOLS}), ([system, user], {"tools": TOOLS}), ([user, ask, result], {"tools": TOOLS}),
        ([system, user, ask, result, answer, user], {"tools": TOOLS}),
        ([user, ask_none, result, dict(result, tool_call_id="call00002", name="sum", content="3.5")], {"tools": TOOLS}),
        ([user, ask_text, result, split, user], {"tools": TOOLS}), ([user, ask_plain, result], {"tools": TOOLS[:1]}),
        ([user, ask, result], {}), ([], {}), ([answer], {}), ([user, user], {}), ([system], {}),
        ([{"role": "alien", "content": "x"}], {}), ([{"role": "user"}], {}),
        ([user], {"enable_thinking": False}), ([user], {"enable_thinking": True}), ([user], {"thinking": True}),
        ([system, user, thought, user], {"enable_thinking": False, "preserve_thinking": True}),
        ([user], {"reasoning_effort": "high", "builtin_tools": ["browser", "python"]}),
        ([user], {"date_string": "01 Jan 2025", "tools_in_user_message": False, "tools": TOOLS}),
        ([user], {"documents": [{"title": "A", "text": "aa"}, {"title": "B", "text": "bb"}], "citation_mode": "fast"}),
        ([user, answer, user, answer, user, ask, result, answer], {"tools": TOOLS, "add_default_system_prompt": False}),
    ]
    for messages, extra in base:
        for prompt in (True, False):
            yield {"messages": copy.deepcopy(messages), "add_generation_prompt": prompt,
                   "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **copy.deepcopy(extra)}
        yield {"messages": copy.deepcopy(messages), "tools": None, "documents": None, "add_generation_prompt": True,
               "bos_token": "<|begin|>", "eos_token": "<|end|>", **copy.deepcopy(extra)}


def value(rng, depth=0):
    kind = rng.randrange(9 if depth < 3 else 6)
    if kind < 2:
        return rng.choice(TEXTS)
    if kind < 6:
        return [rng.randint(-5, 10**12), rng.choice((0.0, 2.5, 1e20, -1e-7)), rng.random() < 0.5, None][kind - 2]
    if kind < 7:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(("a", "items", "keys", "name", "type", "ü", "x y")): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def content(rng):
    kind = rng.random()
    if kind < 0.7:
        return rng.choice(TEXTS)
    if kind < 0.9:
        some = [{"type": "text", "text": rng.choice(TEXTS)}, {"type": "image"}, {"type": "image_url", "image_url": {"url": "u"}},
                {"type": "video"}, {"type": "audio", "audio": "a"}, {"text": "t"}, {"type": "thinking", "thinking": "Hm."}]
        return [rng.choice(some[:3] if rng.random() < 0.7 else some) for _ in range(rng.randint(0, 3))]
    return rng.choice((None, None, 7, True, 1.5, {"a": "b"}, []))


def calls(rng):
    out = []
    for i in range(rng.choice((1, 1, 1, 2, 3))):
        arguments = rng.choice(({}, {"city": "Köln"}, {"xs": [1, 2.5]}, '{"city": "Bonn"}', "", "no json"))
        if rng.random() < 0.3:
            arguments = {rng.choice(("a", "items", "b c")): value(rng) for _ in range(rng.randint(0, 3))}
        one = call(rng.choice(("get_weather", "sum", "ünï")), arguments, rng.choice((f"call0000{i}", "abcDEF123", "x", "")))
        if rng.random() < 0.1:
            one = one["function"]
        elif rng.random() < 0.1:
            del one[rng.choice(("id", "type"))]
        out.append(one)
    return out


def message(rng, role):
    out = {"role": role, "content": content(rng)}
    if rng.random() < 0.05:
        del out["content"]
    if role == "assistant":
        if rng.random() < 0.3:
            out["tool_calls"] = calls(rng) if rng.random() < 0.9 else rng.choice(([], None))
        if rng.random() < 0.25:
            out[rng.choice(("reasoning_content", "thinking", "reasoning"))] = rng.choice(TEXTS + [None])
    if role == "tool":
        out["tool_call_id"] = rng.choice(("call00000", "abcDEF123", "x"))
        if rng.random() < 0.7:
            out["name"] = rng.choice(("get_weather", "sum"))
    if rng.random() < 0.03:
        out[rng.choice(("name", "prefix", "tool_plan", "citations", "task", "weight"))] = value(rng)
    return out


def tool(rng):
    properties = {rng.choice(("city", "n", "items", "mode")): rng.choice((
        {"type": "string"}, {"type": "string", "description": "D\n\"d\"", "enum": ["a", "b"]}, {"type": ["integer", "null"], "default": 3},
        {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "boolean"}}}}, {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"$ref": "#/x"}, {})) for _ in range(rng.randint(0, 3))}
    function = {"name": rng.choice(("get_weather", "sum")), "description": rng.choice(TEXTS),
                "parameters": {"type": "object", "properties": properties, "required": list(properties)[:1]}}
    if rng.random() < 0.2:
        del function[rng.choice(("description", "parameters"))]
    if rng.random() < 0.1:
        function["return"] = {"type": "number", "description": "r"}
    return function if rng.random() < 0.1 else {"type": "function", "function": function}


def generated(rng):
    messages = []
    if rng.random() < 0.5:
        messages.append(message(rng, rng.choice(("system", "system", "system", "developer"))))
    if rng.random() < 0.85:  # in an order that templates like
        for _ in range(rng.randint(1, 3)):
            messages += [message(rng, "user"), message(rng, "assistant")]
            if messages[-1].get("tool_calls"):
                messages += [message(rng, "tool") for _ in messages[-1]["tool_calls"]]
                if rng.random() < 0.6:
                    messages.append({"role": "assistant", "content": rng.choice(TEXTS)})
        if rng.random() < 0.7:
            messages.append(message(rng, "user"))
    else:
        messages += [message(rng, rng.choice(("user", "assistant", "tool", "system", "alien", "model"))) for _ in range(rng.randint(0, 5))]
    out = {"messages": messages, "add_generation_prompt": rng.random() < 0.5, "bos_token": "<s>", "eos_token": "</s>"}
    if rng.random() < 0.4:
        out["tools"] = [tool(rng) for _ in range(rng.randint(0, 3))] if rng.random() < 0.9 else None
    for name, values in (("enable_thinking", (True, False)), ("thinking", (True, False)), ("reasoning_effort", ("low", "high", None)),
                         ("documents", ([], None, [{"title": "T", "text": "x"}], [{"a": 1}])), ("date_string", ("1 May",)), ("pad_token", ("<pad>",)),
                         ("builtin_tools", (["python"], [])), ("preserve_thinking", (True,)), ("model_identity", ("I am.",)), ("safety_mode", ("STRICT",))):
        if rng.random() < 0.12:
            out[name] = rng.choice(values)
    return out
