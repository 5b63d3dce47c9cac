"""`pydantic-ai-slim` on each of its models."""
import asyncio
import json

from agent_kit import instructions, keep, kept, key, max_turns, model, text_of, tools, url, way, work
from pydantic_ai import Agent, BinaryContent, ModelRetry, Tool, UsageLimits
from pydantic_ai.messages import ModelMessagesTypeAdapter


def made():
    if way == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        settings = {"anthropic_thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 16_000}
        return AnthropicModel(model, provider=AnthropicProvider(api_key=key, base_url=url)), settings
    if way == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        settings = {"google_thinking_config": {"include_thoughts": True}}
        return GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=url)), settings
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=key, base_url=f"{url}/v1")
    if way == "chat":
        return OpenAIChatModel(model, provider=provider), {}
    settings = {"openai_reasoning_effort": "medium", "openai_reasoning_summary": "auto", "openai_store": False}
    return OpenAIResponsesModel(model, provider=provider), settings


def tool_of(tool):
    def call(**args):
        try:
            result = tool["run"](**args)
        except RuntimeError as error:
            raise ModelRetry(str(error)) from error
        return result if isinstance(result, str) else BinaryContent(data=__import__("base64").b64decode(result["image"]), media_type="image/png")

    return Tool.from_schema(call, tool["name"], tool["description"], tool["schema"])


chosen, settings = made()
agent = Agent(chosen, instructions=instructions, tools=[tool_of(tool) for tool in tools], model_settings=settings, retries=5)
before = kept()
messages = [] if before is None else ModelMessagesTypeAdapter.validate_json(json.dumps(before))


async def run(words):
    global messages
    run = None
    try:
        async with agent.iter(words, message_history=messages, usage_limits=UsageLimits(request_limit=max_turns)) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for _event in stream:
                            pass
        return str(run.result.output)
    finally:
        if run is not None:
            messages = run.all_messages()
            # A request that was not answered is said again with the next words.
            keep(json.loads(ModelMessagesTypeAdapter.dump_json(messages)))


loop = asyncio.new_event_loop()
work(lambda words: loop.run_until_complete(run(words)))
