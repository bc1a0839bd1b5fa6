#!/usr/bin/env python3
"""The official Python clients of OpenAI, Anthropic and Ollama, unmodified, against `wick serve`: answers whole and streamed, errors,
embeddings, tokens, retries, clients that leave. .ci/long installs the clients and calls it:

  python_clients.py build/release/wick MODEL.gguf
"""
import json, pathlib, re, subprocess, sys

import anthropic, jsonschema, ollama, openai, pydantic

import servers
from servers import check_same, refused

TALK = [{"role": "user", "content": "Name a river in France."}]
GREEDY = {"temperature": 0, "max_tokens": 12}


def chats(client, model):
    answer = client.chat.completions.create(model=model, messages=TALK, **GREEDY)
    whole = answer.choices[0].message.content
    assert whole and answer.choices[0].finish_reason == "length"
    chunks = list(client.chat.completions.create(model=model, messages=TALK, stream=True, stream_options={"include_usage": True}, **GREEDY))
    check_same("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), whole)
    check_same(chunks[-1].usage, answer.usage.model_copy(update={"prompt_tokens_details": chunks[-1].usage.prompt_tokens_details}))
    with client.chat.completions.stream(model=model, messages=TALK, **GREEDY) as stream:
        for _ in stream:
            pass
        check_same(stream.current_completion_snapshot.choices[0].message.content, whole)
    several = client.chat.completions.create(model=model, messages=TALK, seed=1, max_tokens=5, n=3, logprobs=True, top_logprobs=2)
    check_same([len(choice.logprobs.content) for choice in several.choices], [5, 5, 5])
    return whole


def other_routes(client, model, whole):
    text = client.completions.create(model=model, prompt="Once upon", max_tokens=4, logprobs=1, echo=True, temperature=0).choices[0]
    check_same("".join(text.logprobs.tokens), text.text)
    coded = client.embeddings.create(model=model, input=["a", "b"])  # base64, unless something else is asked for
    plain = client.embeddings.create(model=model, input=["a", "b"], encoding_format="float")
    assert max(abs(x - y) for x, y in zip(coded.data[1].embedding, plain.data[1].embedding)) < 1e-6
    check_same(client.embeddings.create(model=model, input=[1, 2, 3]).usage.prompt_tokens, 3)
    first = client.responses.create(model=model, input=TALK[0]["content"], temperature=0, max_output_tokens=12)
    check_same(first.output_text, whole)
    second = client.responses.create(model=model, input="Another one?", previous_response_id=first.id, max_output_tokens=8)
    check_same(second.previous_response_id, first.id)
    with client.responses.stream(model=model, input=TALK[0]["content"], temperature=0, max_output_tokens=12) as stream:
        check_same("".join(event.delta for event in stream if event.type == "response.output_text.delta"), whole)


def openai_errors(client, model):
    def ask(**fields):
        return lambda: client.chat.completions.create(**{"model": model, "messages": TALK, **fields})
    refused(openai.NotFoundError, "model_not_found", ask(model="gpt-5"))
    refused(openai.BadRequestError, "context_length_exceeded", ask(max_tokens=10**7))
    refused(openai.BadRequestError, "invalid_value", ask(temperature=-1))
    refused(openai.BadRequestError, "response_format_unsupported", ask(response_format={"type": "yaml"}))
    refused(openai.BadRequestError, "schema_keyword", ask(response_format=json_schema({"multipleOf": 3})))


def function(name, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": f"The {name}", "parameters": schema}}


def tools(client, model):
    """Three tools: each one by name, any of them, streamed and whole; then their results."""
    offered = [function("weather", city={"type": "string", "maxLength": 20}), function("add", a={"type": "integer"}, b={"type": "integer"}),
               function("clock")]
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in offered}
    choices = [{"type": "function", "function": {"name": name}} for name in schemas] + ["required"]
    for choice in choices:
        asked = {"model": model, "messages": TALK, "tools": offered, "tool_choice": choice, "seed": 1, "max_tokens": 120}
        answer = client.chat.completions.create(**asked).choices[0]
        for call in answer.message.tool_calls:
            jsonschema.validate(json.loads(call.function.arguments), schemas[call.function.name])
            assert choice == "required" or call.function.name == choice["function"]["name"]
        assert answer.finish_reason in ("tool_calls", "length") and not answer.message.content
        with client.chat.completions.stream(**asked) as stream:
            for _ in stream:
                pass
            heard = stream.current_completion_snapshot.choices[0].message
        check_same([(c.id, c.function.name, c.function.arguments) for c in heard.tool_calls],
                   [(c.id, c.function.name, c.function.arguments) for c in answer.message.tool_calls])
    single = client.chat.completions.create(model=model, messages=TALK, tools=offered, tool_choice="required", seed=3, temperature=2,
                                            max_tokens=120, parallel_tool_calls=False)
    check_same(len(single.choices[0].message.tool_calls), 1)
    results = [{"role": "tool", "tool_call_id": call.id, "content": "7"} for call in answer.message.tool_calls]
    after = client.chat.completions.create(model=model, messages=[*TALK, answer.message, *results], tools=offered, max_tokens=8)
    assert after.choices[0].finish_reason in ("stop", "length", "tool_calls")
    refused(openai.BadRequestError, "bad_tool_choice",
            lambda: client.chat.completions.create(model=model, messages=TALK, tool_choice="required"))


def json_schema(schema):
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def structured(client, model):
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "population": {"type": "integer"},
                                               "rivers": {"type": "array", "items": {"type": "string"}}},
              "required": ["city", "population", "rivers"], "additionalProperties": False}
    for most in (16, 24, 40, 200):
        for seed in range(5):
            answer = client.chat.completions.create(model=model, messages=TALK, temperature=1.5, seed=seed, max_tokens=most,
                                                    response_format=json_schema(schema))
            document = json.loads(answer.choices[0].message.content)
            jsonschema.validate(document, schema)
            assert answer.choices[0].finish_reason in ("stop", "length")
            assert (answer.choices[0].finish_reason == "length") == (answer.model_extra.get("wick", {}).get("steered", False))
    class River(pydantic.BaseModel):
        name: str
        length_km: int
    parsed = client.chat.completions.parse(model=model, messages=TALK, response_format=River, max_tokens=60)
    assert isinstance(parsed.choices[0].message.parsed, River)
    parsed = client.responses.parse(model=model, input=TALK[0]["content"], text_format=River, max_output_tokens=60)
    assert isinstance(parsed.output_parsed, River)
    with client.chat.completions.stream(model=model, messages=TALK, response_format=River, max_tokens=60) as stream:
        for _ in stream:
            pass
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, River)
    choice = client.chat.completions.create(model=model, messages=TALK, extra_body={"structured_outputs": {"choice": ["Rhône", "Seine"]}})
    assert choice.choices[0].message.content in ("Rhône", "Seine")


def check_example(shown):
    """What the README's examples print: a document of the schema, and a tool with its arguments."""
    document, call = shown.splitlines()
    document = json.loads(document)
    assert isinstance(document["name"], str) and isinstance(document["length_km"], int) and len(document) == 2
    name, _, arguments = call.partition(" ")
    assert set(json.loads(arguments)) == {"weather": {"city"}, "distance": {"start", "end"}, "clock": set()}[name], call


def readme_example(url, model):
    """The README's example as it stands there, but for the address and the model's name."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()
    text = re.search(r"^## Structured output.*?^```python\n(.*?)^```$", page, re.S | re.M)[1]
    text = text.replace("http://127.0.0.1:8080", url).replace('model="model"', f"model={model!r}")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=True)
    check_example(done.stdout)


def use_anthropic(url, model, whole):
    client = anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)
    fields = {"model": model, "max_tokens": 12, "messages": TALK, "extra_body": {"temperature": 0}}
    answer = client.messages.create(**fields)
    check_same((answer.content[0].text, answer.stop_reason), (whole, "max_tokens"))
    with client.messages.stream(**fields) as stream:
        check_same("".join(stream.text_stream), whole)
        check_same(stream.get_final_message().usage.output_tokens, 12)
    read = answer.usage.input_tokens + answer.usage.cache_read_input_tokens
    check_same(client.messages.count_tokens(model=model, messages=TALK).input_tokens, read)
    try:
        client.messages.create(model="nobody", max_tokens=1, messages=TALK)
    except anthropic.NotFoundError as error:
        check_same(error.body["error"]["type"], "not_found_error")
    else:
        raise AssertionError("a model that is not there answered")


def use_ollama(url, model, whole):
    client = ollama.Client(host=url)
    options = {"temperature": 0, "num_predict": 12}
    check_same(client.chat(model=model, messages=TALK, options=options).message.content, whole)
    check_same("".join(p.message.content for p in client.chat(model=model, messages=TALK, options=options, stream=True)), whole)
    check_same(client.generate(model=model, prompt=TALK[0]["content"], options=options).response, whole)
    check_same([m.model for m in client.list().models], [model])
    check_same(client.show(model).capabilities, ["completion"])
    check_same(client.ps().models[0].model, model)
    assert len(client.embed(model=model, input="a").embeddings[0]) > 0
    try:
        client.chat(model="nobody", messages=TALK)
    except ollama.ResponseError as error:
        check_same(error.status_code, 404)
    else:
        raise AssertionError("a model that is not there answered")


def retries(url, model, whole):
    with servers.FirstBusy(url) as busy:
        client = openai.OpenAI(base_url=busy.url + "/v1", api_key="x")
        check_same(client.chat.completions.create(model=model, messages=TALK, **GREEDY).choices[0].message.content, whole)
        check_same(busy.asked, 2)
    with servers.FirstBusy(url) as busy:
        client = anthropic.Anthropic(base_url=busy.url, api_key="x")
        answer = client.messages.create(model=model, max_tokens=12, messages=TALK, extra_body={"temperature": 0})
        check_same(answer.content[0].text, whole)
        check_same(busy.asked, 2)


def cancellation(url, model):
    """In the middle of a stream, and while the answer is not yet there."""
    before = servers.cancelled(url)
    long = {"model": model, "messages": TALK, "max_tokens": 2000, "extra_body": {"ignore_eos": True}}
    client = openai.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
    other = anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)
    for stream in (client.chat.completions.create(stream=True, **long), other.messages.create(stream=True, **long)):
        next(iter(stream))
        stream.close()
    for create, late in ((client.chat.completions.create, openai.APITimeoutError), (other.messages.create, anthropic.APITimeoutError)):
        try:
            create(timeout=0.3, **long)
        except late:
            continue
        raise AssertionError("2,000 tokens came in 0.3 s")
    servers.until_left(url, before + 4)


def main(wick, file):
    server = subprocess.Popen([wick, "serve", "-m", file, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        client = openai.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0)
        model = client.models.list().data[0].id
        whole = chats(client, model)
        other_routes(client, model, whole)
        openai_errors(client, model)
        structured(client, model)
        tools(client, model)
        readme_example(url, model)
        use_anthropic(url, model, whole)
        use_ollama(url, model, whole)
        retries(url, model, whole)
        cancellation(url, model)
        print(f"openai {openai.__version__}, anthropic {anthropic.__version__}, ollama: all say {whole!r}")
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
