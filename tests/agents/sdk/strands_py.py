"""`strands-agents` on each of its models but Bedrock's."""
from agent_kit import instructions, keep, kept, key, model, text_or_error, tools, url, way, work
from strands import Agent
from strands.tools.tools import PythonAgentTool


def made():
    if way == "anthropic":
        from strands.models.anthropic import AnthropicModel

        return AnthropicModel(
            client_args={"api_key": key, "base_url": url},
            model_id=model,
            max_tokens=16_000,
            params={"thinking": {"type": "enabled", "budget_tokens": 2000}},
        )
    if way == "google":
        from strands.models.gemini import GeminiModel

        return GeminiModel(client_args={"api_key": key, "http_options": {"base_url": url}}, model_id=model)
    from strands.models.openai import OpenAIModel

    return OpenAIModel(client_args={"api_key": key, "base_url": f"{url}/v1"}, model_id=model)


def tool_of(tool):
    def call(use, **_context):
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": text_or_error(tool["run"], use["input"])}]}

    spec = {"name": tool["name"], "description": tool["description"], "inputSchema": {"json": tool["schema"]}}
    return PythonAgentTool(tool["name"], spec, call)


agent = Agent(
    model=made(), system_prompt=instructions, messages=kept() or [], callback_handler=None, tools=[tool_of(tool) for tool in tools]
)


def turn(words):
    try:
        return str(agent(words))
    finally:
        keep(agent.messages)


work(turn)
