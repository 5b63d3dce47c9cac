"""`openai-agents`, which speaks Responses or chat completions."""
import asyncio
import json

from agent_kit import instructions, keep, kept, key, max_turns, model, tools, url, way, work
from agents import Agent, FunctionTool, ModelSettings, RunConfig, Runner, ToolOutputImage
from agents.models.openai_provider import OpenAIProvider
from openai.types.shared import Reasoning

is_responses = way == "responses"


def function(tool):
    async def invoke(_context, args):
        try:
            result = tool["run"](**json.loads(args))
        except Exception as error:
            return str(error)
        return result if isinstance(result, str) else ToolOutputImage(image_url=f"data:image/png;base64,{result['image']}")

    return FunctionTool(name=tool["name"], description=tool["description"], params_json_schema=tool["schema"], on_invoke_tool=invoke)


settings = (
    ModelSettings(reasoning=Reasoning(effort="medium", summary="auto"), store=False, response_include=["reasoning.encrypted_content"])
    if is_responses
    else ModelSettings()
)
agent = Agent(name="worker", instructions=instructions, model=model, model_settings=settings, tools=[function(tool) for tool in tools])
config = RunConfig(
    model_provider=OpenAIProvider(api_key=key, base_url=f"{url}/v1", use_responses=is_responses),
    tracing_disabled=True,
)
items = kept() or []


async def run(words):
    global items
    asked = [*items, {"role": "user", "content": words}]
    result = Runner.run_streamed(agent, asked, max_turns=max_turns, run_config=config)
    try:
        async for _event in result.stream_events():
            pass
        return str(result.final_output or "")
    finally:
        items = result.to_input_list()
        keep(items)


loop = asyncio.new_event_loop()
work(lambda words: loop.run_until_complete(run(words)))
