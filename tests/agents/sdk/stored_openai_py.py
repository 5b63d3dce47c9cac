"""`openai`, ten turns of which only what is new is sent: the gateway keeps the rest, in a conversation or by the id of the response before."""
import json

from agent_kit import instructions, key, model_of, text_or_error, tools, turns, url, way
from openai import OpenAI

client = OpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
functions = [{"type": "function", "name": tool["name"], "description": tool["description"], "parameters": tool["schema"], "strict": True} for tool in tools]
runs = {tool["name"]: tool["run"] for tool in tools}
conversation = client.conversations.create() if way == "conversations" else None
previous = None


def ask(turn, new):
    global previous
    kept = {"conversation": conversation.id} if conversation else {"previous_response_id": previous}
    asked = {"model": model_of(turn), "instructions": instructions, "tools": functions, "input": new, "store": True, **kept}
    if way == "streamed":
        with client.responses.stream(**asked) as stream:
            response = stream.get_final_response()
    else:
        response = client.responses.create(**asked)
    previous = response.id
    return response


for turn in range(1, turns + 1):
    response = ask(turn, f"Now turn-{turn}.")
    while calls := [item for item in response.output if item.type == "function_call"]:
        response = ask(turn, [
            {"type": "function_call_output", "call_id": call.call_id, "output": text_or_error(runs[call.name], json.loads(call.arguments))} for call in calls
        ])
    print(f"{turn}: {response.output_text}", flush=True)
last = client.responses.retrieve(previous)
assert last.output_text == response.output_text, last
if conversation:
    print(f"kept: {len(list(client.conversations.items.list(conversation.id)))}")
    client.conversations.delete(conversation.id)
client.responses.delete(previous)
