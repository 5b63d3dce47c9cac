"""The tool runner of `anthropic`."""
from agent_kit import instructions, keep, kept, key, max_turns, model, tools, url, work
from anthropic import Anthropic
from anthropic.lib.tools import BetaFunctionTool

client = Anthropic(base_url=url, api_key=key)


def runnable(tool):
    def call(**args):
        result = tool["run"](**args)
        if isinstance(result, str):
            return result
        return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": result["image"]}}]

    return BetaFunctionTool(call, name=tool["name"], description=tool["description"], input_schema=tool["schema"])


def plain(message):
    content = message["content"]
    blocks = content if isinstance(content, str) else [b if isinstance(b, dict) else b.model_dump(mode="json", exclude_none=True) for b in content]
    return {"role": message["role"], "content": blocks}


messages = kept() or []


def turn(words):
    global messages
    if messages and messages[-1]["role"] == "user":
        # The API wants turns to alternate.
        last = messages[-1]
        before = [{"type": "text", "text": last["content"]}] if isinstance(last["content"], str) else list(last["content"])
        last["content"] = [*before, {"type": "text", "text": words}]
    else:
        messages.append({"role": "user", "content": words})
    runner = client.beta.messages.tool_runner(
        model=model,
        system=instructions,
        max_tokens=16_000,
        thinking={"type": "enabled", "budget_tokens": 2000},
        tools=[runnable(tool) for tool in tools],
        messages=messages,
        max_iterations=max_turns,
        stream=True,
    )
    text = ""
    try:
        for stream in runner:
            message = stream.get_final_message()
            text = "".join(getattr(block, "text", "") for block in message.content)
        return text
    finally:
        messages = [plain(message) for message in runner._params["messages"]]
        keep(messages)


work(turn)
