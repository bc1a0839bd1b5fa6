#!/usr/bin/env python3
"""langchain-openai, unmodified, against `wick serve`: chats, texts, embeddings and the Responses API, whole and streamed, several at once,
errors, retries, cancellation. .ci/long installs it and calls it:

  langchain_client.py build/release/wick MODEL.gguf
"""
import asyncio, importlib.metadata, subprocess, sys

import openai
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings

import servers
from servers import check_same, refused

TALK = [SystemMessage("Be brief."), HumanMessage("Name a river in France.")]
LOOP = asyncio.new_event_loop()  # one for all: LangChain keeps its connections


def chats(make):
    chat = make(ChatOpenAI, max_tokens=12)
    whole = chat.invoke(TALK)
    check_same(whole.response_metadata["finish_reason"], "length")
    check_same(whole.usage_metadata["output_tokens"], 12)
    parts = list(chat.stream(TALK, stream_usage=True))
    check_same("".join(part.content for part in parts), whole.content)
    check_same(sum((part.usage_metadata or {}).get("output_tokens", 0) for part in parts), 12)

    async def streamed():
        return "".join([part.content async for part in chat.astream(TALK)])

    async def together():
        return [answer.content for answer in await chat.abatch([TALK] * 4)]

    check_same(LOOP.run_until_complete(streamed()), whole.content)
    check_same(LOOP.run_until_complete(together()), [whole.content] * 4)
    scored = make(ChatOpenAI, max_tokens=5, logprobs=True, top_logprobs=2).invoke(TALK)
    check_same([len(token["top_logprobs"]) for token in scored.response_metadata["logprobs"]["content"]], [2] * 5)
    chain = ChatPromptTemplate.from_messages([("system", "Be brief."), ("user", "Name a {what} in France.")]) | chat
    check_same(chain.invoke({"what": "river"}).content, whole.content)
    check_same(make(ChatOpenAI, max_tokens=12, stop=["e"]).invoke(TALK).content, whole.content.split("e")[0])
    new = make(ChatOpenAI, max_tokens=12, use_responses_api=True)
    check_same(new.invoke(TALK).text, whole.content)
    check_same("".join(part.text for part in new.stream(TALK)), whole.content)
    return whole.content


def texts(make):
    text = make(OpenAI, max_tokens=8)
    check_same("".join(text.stream("Once upon")), text.invoke("Once upon"))
    # Its own tokens come from tiktoken, which loads them from the network; the server has them.
    embeddings = make(OpenAIEmbeddings, temperature=None, check_embedding_ctx_length=False)
    vectors = embeddings.embed_documents(["a", "b"])
    check_same(len(vectors), 2)
    assert max(abs(x - y) for x, y in zip(embeddings.embed_query("b"), vectors[1])) < 1e-6


def errors(make):
    ask = lambda **fields: lambda: make(ChatOpenAI, **{"max_tokens": 5, **fields}).invoke(TALK)
    refused(openai.NotFoundError, "model_not_found", ask(model="gpt-5"))
    refused(openai.BadRequestError, "context_length_exceeded", ask(max_tokens=10**7))
    refused(openai.BadRequestError, "invalid_value", ask(temperature=-1))
    schema = {"title": "x", "type": "object", "properties": {"a": {"enum": [7]}}, "required": ["a"], "additionalProperties": False}
    check_same(make(ChatOpenAI, max_tokens=60, temperature=0).with_structured_output(schema, method="json_schema").invoke(TALK), {"a": 7})


def retries(make, url, whole):
    with servers.FirstBusy(url) as busy:
        check_same(make(ChatOpenAI, max_tokens=12, base_url=busy.url + "/v1", max_retries=2).invoke(TALK).content, whole)
        check_same(busy.asked, 2)


def cancellation(make, url):
    before = servers.cancelled(url)
    long = {"max_tokens": 2000, "extra_body": {"ignore_eos": True}}
    stream = make(ChatOpenAI, **long).stream(TALK)
    next(stream)
    stream.close()  # leaves in the middle

    async def leave():
        await asyncio.wait_for(make(ChatOpenAI, **long).ainvoke(TALK), 0.3)

    try:
        LOOP.run_until_complete(leave())
    except asyncio.TimeoutError:
        pass
    else:
        raise AssertionError("2,000 tokens came in 0.3 s")
    servers.until_left(url, before + 2)


def main(wick, file):
    server = subprocess.Popen([wick, "serve", "-m", file, "--port", "0", "--no-access-log"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        model = openai.OpenAI(base_url=url + "/v1", api_key="x").models.list().data[0].id

        def make(kind, **fields):
            fields = {"base_url": url + "/v1", "api_key": "x", "model": model, "temperature": 0, "max_retries": 0, **fields}
            return kind(**{key: value for key, value in fields.items() if value is not None})

        whole = chats(make)
        texts(make)
        errors(make)
        retries(make, url, whole)
        cancellation(make, url)
        print(f"langchain-openai {importlib.metadata.version('langchain-openai')}: {whole!r}, whole and streamed")
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
