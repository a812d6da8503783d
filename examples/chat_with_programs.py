# %% [markdown]
# # A program in a chat
#
# Two ways to bring a program to a language model with an API like OpenAI's: put it into the question, or
# offer the tools and let the model call them.
#
# The model here is a script, so that this runs without a key and without a network. It is honest about
# one thing: it sees the messages and nothing else. With a real one, `complete` is
# `client.chat.completions.create`, and nothing else changes.

# %%
import json

from skimage.data import stereo_motorcycle

from perception_programs import DepthMap, PerceptionProgram, depth_program
from perception_programs.integrations import openai_tools

left, right, disparity = stereo_motorcycle()
depth = DepthMap(disparity, kind="relative")
question = "Which is closer to the camera, A (the front wheel) or B (the floor before the bench)?"

# %% [markdown]
# The script: where it finds a program it answers with the item that has the highest reading; where it
# finds none but is offered the tool `depth`, it calls it; else it guesses.


# %%
def complete(messages, tools=()):
    """Stands for `client.chat.completions.create(...).choices[0].message`."""
    said = "\n".join(m["content"] for m in messages if isinstance(m.get("content"), str))
    found = PerceptionProgram.all_from_text(said)
    if found:
        best = max(found[-1].items, key=lambda item: item.r)
        return {"role": "assistant", "content": f"{best.p} reads {best.r}. Answer: {best.p}"}
    if any(tool["function"]["name"] == "depth" for tool in tools):
        arguments = {
            "depth_map": "depth",
            "points": {"A": [810, 740], "B": [270, 640]},
            "overlay": True,
            "image": "left",
        }
        function = {"name": "depth", "arguments": json.dumps(arguments)}
        call = {"id": "call_1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": "I cannot tell. Answer: B"}


print(complete([{"role": "user", "content": question}])["content"])

# %% [markdown]
# ## In the question
#
# The shortest way: you run the tool, the program goes in front of the question.

# %%
program = depth_program(depth, points={"A": (600, 370), "B": (200, 320)}, grid=None)
messages = [
    {
        "role": "system",
        "content": "Programs hold what vision tools measured. Use them as evidence.",
    },
    {"role": "user", "content": f"{program}\n\n{question}"},
]
print(complete(messages)["content"])

# %% [markdown]
# ## As a tool
#
# `openai_tools` has the tools in the shape of the API. A model cannot send the bytes of a picture that
# it sees, so pictures and results get names, and the model says those.

# %%
tools = openai_tools(given={"left": left, "depth": depth}, only=["find_points", "depth"])
for tool in tools.schemas:
    function = tool["function"]
    print(f"{function['name']}: {function['description'].splitlines()[0]}")
    print("   ", ", ".join(function["parameters"]["properties"]))

# %% [markdown]
# One turn: ask, answer the calls, ask again. `tools.answer` runs what the model called and returns the
# messages that belong behind its own.

# %%
told = 'There are a picture "left" and its depth map "depth". Places are [x, y] from 0 to 1000.'
messages = [{"role": "user", "content": f"{told}\n\n{question}"}]
reply = complete(messages, tools.schemas)
print("calls:", reply["tool_calls"][0]["function"])

# %%
messages += [reply, *tools.answer(reply)]
print([message["role"] for message in messages])
print(messages[2]["content"])

# %% [markdown]
# The text is in the `tool` message. The drawing that the model asked for is in the `user` message behind
# it, because a `tool` message of this API holds text only.

# %%
for part in messages[3]["content"]:
    print(part["type"], str(part.get("text") or part["image_url"]["url"])[:60])
print(complete(messages, tools.schemas)["content"])

# %% [markdown]
# ## When a call is wrong
#
# Every call is answered, also one that cannot be done: the model reads what was expected, and may try
# again. No traceback, and no path of your machine.

# %%
wrong = {"id": "call_2", "function": {"name": "depth", "arguments": '{"depth_map": "Depth"}'}}
print(tools.answer([wrong])[0]["content"])
