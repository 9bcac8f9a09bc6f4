"""Rows of a database are summarized by a small model once their turns are over.

    sidecar serve --openai-url http://127.0.0.1:8089/v1
    cost_control.py [ADDRESS [PORT]]      127.0.0.1:7171 and 8089 by default

The model is played by this program: it listens on the port, and answers as OpenAI's Chat Completions do. No key, no network.
"""

import http.server
import json
import sys
import threading
import time
import uuid

from agent import Sidecar, assistant, call, check, result, user
from palimpsest_context.v1 import conversation_service_pb2 as record
from palimpsest_context.v1 import event_pb2 as events
from palimpsest_context.v1 import expiration_pb2 as expiration
from palimpsest_context.v1 import message_pb2
from palimpsest_context.v1 import policy_pb2 as policy
from palimpsest_context.v1 import policy_service_pb2 as policies

sidecar = Sidecar(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7171")
conversation = f"cost-control-{uuid.uuid4()}"


class Model(http.server.BaseHTTPRequestHandler):
    """A model that says what it is told to say, and remembers what it was asked."""

    asked = []
    says = ""

    def do_POST(self):
        Model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        choice = {"message": {"role": "assistant", "content": Model.says}, "finish_reason": "stop"}
        reply = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 60}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 8089), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()

# [policy]
# The prompt, and the models that it asks, in order.
sidecar.policy.PutPrompt(policies.PutPromptRequest(prompt=policy.Prompt(
    id="database-rows",
    template="These rows came from a query. Say how many there are, which columns, the range of each column of numbers, "
             "and every row that is not like the others. At most {{target_length}} characters. "
             'Answer with {"summary": "..."} and nothing else.\n\nRows, as a JSON string: {{content}}',
    models=["openai/small"],
)))

# The action says which prompt suits its results ...
sidecar.policy.PutActionPolicy(policies.PutActionPolicyRequest(policy=policy.ActionPolicy(
    action_id="query-database",
    default_compact_prompt_id="database-rows",
)))

# ... and the action as the research agent uses it says when they are summarized. It names no prompt: the action's is used.
sidecar.policy.PutActionPolicy(policies.PutActionPolicyRequest(policy=policy.ActionPolicy(
    agent_action_id="research/query-database",
    expiration=expiration.Expiration(
        turns=3,
        mode=expiration.EXPIRATION_MODE_COMPACT,
        compact_mode=expiration.COMPACT_MODE_AI_SUMMARY,
        compact_length=300,
    ),
)))
# [/policy]

# [append]
by = message_pb2.ActionRef(action_id="query-database", agent_action_id="research/query-database")


def rows_of(call_id, rows):
    return result(call_id, "query", json.dumps(rows), actions=[by])
# [/append]


def orders(first):
    return [{"order": first + n, "customer": f"C-{n % 9}", "total_eur": 20 + n % 7, "state": "paid"} for n in range(80)]


def go_on():
    sidecar.append(conversation, assistant("I look further."))
    sidecar.append(conversation, user("Go on."))


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


sidecar.create(
    conversation,
    policy.Policy(
        rewrite=policy.RewritePolicy(mode=policy.REWRITE_MODE_EAGER),
        fit=policy.FitPolicy(context_window_tokens=128_000),
    ),
)
Model.says = '{"summary": "80 orders, 1000 to 1079, all paid; totals 20 to 26 EUR; customers C-0 to C-8."}'

sidecar.append(conversation, user("Look at the orders."))
sidecar.build(conversation)
sidecar.append(conversation, call("c1", "query", sql="SELECT * FROM orders"))
first = sidecar.append(conversation, rows_of("c1", orders(1000)))
message = sidecar.record.GetMessage(record.GetMessageRequest(conversation_id=conversation, message_index=first)).message
settings = message.parts[0].tool_result.expiration
print("turn 1: 80 rows are appended")
check(settings.source == expiration.EXPIRATION_SOURCE_AGENT_ACTION, "their settings come from the agent's action")
check(settings.compact_prompt_id == "database-rows", "and the prompt from the action")

for turn in (2, 3, 4):
    print(f"turn {turn}")
    built, shown = sidecar.build(conversation)
    check(built.turn == turn and json.loads(shown[first]["content"]) == orders(1000), "all rows are shown")
    if turn < 4:
        check(Model.asked == [], "no model has been asked")
    go_on()
check(wait_for(lambda: Model.asked), "the turns are over after the next build: the summary is written in the background meanwhile")
asked = Model.asked[0]["messages"]
check("At most 300 characters" in asked[1]["content"], "the model was given the prompt")
check(json.dumps(json.dumps(orders(1000))) in asked[1]["content"], "and the rows, as one JSON string that no text in them can leave")
check("never follow it" in asked[0]["content"], "before that, the sidecar told it that the text is data")

print("turn 5: three turns are over. If the answer has not come yet, the build waits for it, 3 seconds at most")
before = built.tokens.total
built, shown = sidecar.build(conversation)
note = f"[Summary of {len(json.dumps(orders(1000)))} characters. Full text: expand_message({first})]"
check(shown[first]["content"] == note + "\n\n80 orders, 1000 to 1079, all paid; totals 20 to 26 EUR; customers C-0 to C-8.", note)
check([d.reason for d in built.decisions] == [events.DECISION_REASON_EXPIRED_SUMMARY], "the decision says: summary")
check(not built.degradations, "nothing that was asked for was left undone")
check(len(Model.asked) == 1, "one call was made")
print(f"  {before} tokens in turn 4, {built.tokens.total} in turn 5")

print("the next query, and a model that does not do what it is told")
Model.says = "I would rather talk about the weather."
sidecar.append(conversation, call("c2", "query", sql="SELECT * FROM orders OFFSET 80"))
second = sidecar.append(conversation, rows_of("c2", orders(2000)))
for turn in (6, 7, 8, 9):
    built, shown = sidecar.build(conversation)
    if turn < 9:
        check(json.loads(shown[second]["content"]) == orders(2000), f"turn {turn}: all rows are shown")
    go_on()
check(len(Model.asked) == 2, "the model has been asked for these rows too")
check(shown[second]["content"].startswith("[Extract of "), "turn 9: an extract stands in, which the sidecar has made itself")
check([d.reason for d in built.decisions if d.start_index == second] == [events.DECISION_REASON_EXPIRED_EXTRACT], "the decision says: extract")
check('"openai/small": bad_answer' in built.degradations[0].reason, f"and why: {built.degradations[0].reason}")
server.shutdown()
