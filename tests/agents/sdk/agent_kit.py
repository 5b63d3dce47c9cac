"""What every Python program here shares: where it is pointed, its tools, the conversation kept between runs, and the person who says "Go on."."""
import base64
import json
import os
import subprocess
import sys
import traceback

url, key, model, prompt = (os.environ[f"AGENT_{name}"] for name in ("URL", "KEY", "MODEL", "PROMPT"))
way = sys.argv[1]
instructions = "You are a coding agent. Work with the tools until all is done, then report."
# Most turns of one run; the SDKs' own limits are far lower.
max_turns = 60
# Of a conversation, where a person says something new in each.
turns = 10


def model_of(turn):
    """In the middle of a conversation another vendor's model answers."""
    return f"{model}-other" if 3 < turn < 7 else model


def _schema(**properties):
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def _read(path):
    data = open(path, "rb").read()
    return {"image": base64.b64encode(data).decode()} if path.endswith(".png") else data.decode()


def _write(path, content):
    with open(path, "w") as file:
        file.write(content)
    return "written"


def _bash(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout or "(no output)"


# A picture is {"image": base64 of a PNG}. A command that fails raises: how an error is told to the model is the SDK's business.
tools = [
    {"name": "read_file", "description": "Reads a file", "schema": _schema(path="Path of the file"), "run": _read},
    {"name": "write_file", "description": "Writes a file", "schema": _schema(path="Path of the file", content="All of its text"), "run": _write},
    {"name": "bash", "description": "Runs a command", "schema": _schema(command="Command for bash"), "run": _bash},
]


def text_of(result):
    """For SDKs whose tools give text alone."""
    return result if isinstance(result, str) else f"a PNG of {len(result['image'])} characters"


def text_or_error(run, args):
    """For SDKs that let a tool's error end the run: it is told to the model as text."""
    try:
        return text_of(run(**args))
    except Exception as error:
        return str(error)


_file = os.path.join(os.environ["HOME"], "conversation.json")


def kept():
    """What `keep` was given by the run before; None: this is the first."""
    if os.environ["AGENT_RESUME"] != "1" or not os.path.exists(_file):
        return None
    with open(_file) as file:
        return json.load(file)


def keep(conversation):
    with open(_file, "w") as file:
        json.dump(conversation, file)


def work(turn, most_interruptions=8):
    """`turn(words)` runs the agent until it stops, and gives its last text. A person who sees an error, or no report, says "Go on."."""
    words = prompt
    for _ in range(most_interruptions + 1):
        try:
            end = turn(words)
            if isinstance(end, str) and "REPORT" in end:
                print(end)
                sys.exit(0)
            said = json.dumps(str(end)[-80:])
        except Exception:
            said = " ".join(traceback.format_exc().split())[-500:]
        print(f"interrupted: {said}", flush=True)
        words = "Go on."
    sys.exit(1)
