"""Calls of the DashScope SDK, the answers printed as JSON. Arguments: base address, key."""
import json
import sys

import dashscope

dashscope.base_http_api_url, dashscope.api_key = sys.argv[1], sys.argv[2]


def seen(answer):
    return {"status": answer.status_code, "output": answer.output, "usage": answer.usage, "code": answer.code, "message": answer.message}


def image():
    begun = dashscope.ImageSynthesis.async_call(model="wanx-v1", prompt="a cat", n=1)
    ended = dashscope.ImageSynthesis.wait(begun)
    found = seen(ended)
    found["same_task"] = begun.output["task_id"] == ended.output["task_id"]
    return found


def streamed():
    parts = dashscope.Generation.call(model="qwen-plus", prompt="Hello", stream=True, incremental_output=True, result_format="message")
    return [seen(part) for part in parts]


calls = {
    "embedding": lambda: seen(dashscope.TextEmbedding.call(model="text-embedding-v4", input=["a", "b"])),
    "rerank": lambda: seen(dashscope.TextReRank.call(model="gte-rerank-v2", query="q", documents=["a", "b"], top_n=1)),
    "generation": lambda: seen(dashscope.Generation.call(model="qwen-plus", prompt="Hello", result_format="message")),
    "streamed": streamed,
    "speech": lambda: seen(dashscope.MultiModalConversation.call(model="qwen3-tts-flash", text="Hello", voice="Cherry")),
    "image": image,
    "refused": lambda: seen(dashscope.TextEmbedding.call(model="text-embedding-v4", input="refused")),
}
print(json.dumps({name: call() for name, call in calls.items()}, default=str))
