"""One turn with a tool's call through OpenAI's own Python SDK. Arguments: base address (http), key, model. Prints what it saw as JSON."""

import asyncio
import json
import sys

from openai import AsyncOpenAI


async def main(base, key, model):
    client = AsyncOpenAI(api_key=key, base_url=f"{base}/v1", websocket_base_url=f"{base.replace('http', 'ws')}/v1", max_retries=0)
    seen = {"types": [], "arguments": "", "text": ""}
    async with client.realtime.connect(model=model) as connection:
        tool = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
        await connection.session.update(session={"type": "realtime", "output_modalities": ["text"], "tools": [tool]})
        question = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is the weather in London?"}]}
        await connection.conversation.item.create(item=question)
        await connection.response.create()
        call = None
        async for event in connection:
            seen["types"].append(event.type)
            if event.type == "error":
                seen["error"] = event.error.message
                break
            if event.type == "response.function_call_arguments.done":
                call = event.call_id
                seen["arguments"] = event.arguments
            elif event.type == "response.output_text.delta":
                seen["text"] += event.delta
            elif event.type == "response.done" and call is not None:
                await connection.conversation.item.create(item={"type": "function_call_output", "call_id": call, "output": "Foggy, 12 degrees."})
                await connection.response.create()
                call = None
            elif event.type == "response.done":
                seen["total_tokens"] = event.response.usage.total_tokens
                break
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:4]))
