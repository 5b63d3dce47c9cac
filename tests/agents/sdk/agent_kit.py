"""What every Python program here shares: where it is pointed, its tools, the conversation kept between runs, and the person who says "Go on."."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import traceback

URL = os.environ["AGENT_URL"]
KEY = os.environ["AGENT_KEY"]
MODEL = os.environ["AGENT_MODEL"]
PROMPT = os.environ["AGENT_PROMPT"]
INSTRUCTIONS = "You are a coding agent. Work with the tools until all is done, then report."
# Most turns of one run; the SDKs' own limits are far lower.
MAX_TURNS = 60


def read_file(path: str) -> str:
    """Reads a file.

    Args:
        path: Path of the file.
    """
    content = pathlib.Path(path).read_bytes()
    return f"a PNG of {len(content)} bytes" if path.endswith(".png") else content.decode()


def write_file(path: str, content: str) -> str:
    """Writes a file.

    Args:
        path: Path of the file.
        content: All of its text.
    """
    pathlib.Path(path).write_text(content)
    return "written"


def bash(command: str) -> str:
    """Runs a command.

    Args:
        command: Command for bash.
    """
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    if done.returncode != 0:
        # How an error is told to the model is the SDK's business.
        raise RuntimeError(f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout or "(no output)"


def picture(path: str) -> str:
    """Base64 of a picture, for SDKs whose tools can show one."""
    return base64.b64encode(pathlib.Path(path).read_bytes()).decode()


FUNCTIONS = [read_file, write_file, bash]
_FILE = pathlib.Path(os.environ["HOME"], "conversation.json")


def kept():
    """What `keep` was given by the run before; None: this is the first."""
    if os.environ.get("AGENT_RESUME") != "1" or not _FILE.exists():
        return None
    return json.loads(_FILE.read_text())


def keep(conversation) -> None:
    _FILE.write_text(json.dumps(conversation))


def work(turn, most_interruptions: int = 8) -> None:
    """`turn(words)` runs the agent on a user's words until it stops, and gives its last text. A person who sees an error, or a reply that is no
    report, says "Go on."; each time is printed, since a program that needs none is the better one."""
    words = PROMPT
    for _ in range(most_interruptions + 1):
        try:
            end = str(turn(words))
        except Exception:  # noqa: BLE001
            print(f"interrupted: {traceback.format_exc()[-1500:]}", flush=True)
        else:
            if "REPORT" in end:
                print(end, flush=True)
                sys.exit(0)
            print(f"interrupted: {end[-80:]!r}", flush=True)
        words = "Go on."
    sys.exit(1)
