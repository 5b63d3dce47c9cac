"""LangChain's agent (`langchain`, on `langgraph`) on each of its own chat models."""
from agent_kit import instructions, keep, kept, key, max_turns, model, text_or_error, tools, url, way, work
from langchain.agents import create_agent
from langchain_core.messages import messages_from_dict, messages_to_dict
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import MemorySaver


def made():
    if way == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(
            model=model, api_key=key, base_url=url, streaming=True, max_tokens=16_000, thinking={"type": "enabled", "budget_tokens": 2000}
        )
    if way == "google":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=model, google_api_key=key, base_url=url, streaming=True, include_thoughts=True)
    from langchain_openai import ChatOpenAI

    shared = {"model": model, "api_key": key, "base_url": f"{url}/v1", "streaming": True}
    if way == "chat":
        return ChatOpenAI(**shared, use_responses_api=False)
    return ChatOpenAI(
        **shared, use_responses_api=True, store=False, reasoning={"effort": "medium", "summary": "auto"}, include=["reasoning.encrypted_content"]
    )


def tool_of(tool):
    return StructuredTool(
        name=tool["name"], description=tool["description"], args_schema=tool["schema"], func=lambda **args: text_or_error(tool["run"], args)
    )


agent = create_agent(made(), [tool_of(tool) for tool in tools], system_prompt=instructions, checkpointer=MemorySaver())
config = {"configurable": {"thread_id": "work"}, "recursion_limit": 4 * max_turns}
first = messages_from_dict(kept() or [])


def turn(words):
    global first
    messages, first = [*first, {"role": "user", "content": words}], []
    try:
        return agent.invoke({"messages": messages}, config)["messages"][-1].text
    finally:
        keep(messages_to_dict(agent.get_state(config).values.get("messages", [])))


work(turn)
