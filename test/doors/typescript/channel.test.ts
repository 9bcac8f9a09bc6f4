// How calls fail, and how they are repeated.

import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp2, type Http2Server } from "node:http2";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Palimpsest, PalimpsestError, VersionError, version } from "palimpsest-context";

let palimpsest: Palimpsest;
let address: string;
before(async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  address = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  listener.close();
  await once(listener, "close");
  palimpsest = await Palimpsest.local({ flags: ["--listen", address] });
});
after(() => palimpsest.close());

async function listening(server: Server | Http2Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("errors have their reason, and the faults of the request", async () => {
  await assert.rejects(palimpsest.raw.conversation.getConversation({ conversationId: "none" }), { name: "PalimpsestError", reason: "CONVERSATION_NOT_FOUND" });
  await assert.rejects(palimpsest.raw.context.appendMessage({ conversationId: "c", message: {} }), (thrown) => {
    assert.ok(thrown instanceof PalimpsestError);
    assert.equal(thrown.reason, "INVALID_FIELD");
    assert.deepEqual(thrown.violations.map(({ field }) => field).sort(), ["message.parts", "message.role"]);
    return true;
  });
});

test("a call whose answer is lost is repeated, and carried out once", async () => {
  let appending = false;
  let lost = 0;
  const proxy = createServer((client) => {
    const server = connect({ host: "127.0.0.1", port: Number(address.split(":")[1]) });
    client.pipe(server);
    server.on("data", (data) => {
      // What begins a connection is shorter than an answer with a receipt. That is let through the third time.
      if (appending && lost < 2 && data.length > 60) {
        lost++;
        client.destroy();
        server.destroy();
      } else client.write(data);
    });
    for (const socket of [client, server]) socket.on("error", () => undefined).on("close", () => { client.destroy(); server.destroy(); });
  });
  const through = new Palimpsest(await listening(proxy));
  await through.raw.conversation.listConversations({});
  appending = true;
  await through.raw.context.appendMessage({ conversationId: "lost", message: { role: 2, parts: [{ content: { case: "text", value: "once" } }] } });
  assert.equal(lost, 2);
  assert.equal((await palimpsest.raw.conversation.getConversation({ conversationId: "lost" })).conversation!.messageCount, 1);
  await through.close();
  proxy.close();
});

test("a conversation whose call failed for good goes on without doubling anything", async () => {
  let dead = false;
  const clients: Socket[] = [];
  const proxy = createServer((client) => {
    clients.push(client);
    const server = connect({ host: "127.0.0.1", port: Number(address.split(":")[1]) });
    client.pipe(server);
    server.on("data", (data) => { if (!dead) client.write(data); });
    for (const socket of [client, server]) socket.on("error", () => undefined).on("close", () => { client.destroy(); server.destroy(); });
  });
  const through = new Palimpsest(await listening(proxy), { timeoutMs: 400 });
  const conversation = through.conversation("unsettled");
  await conversation.user("one").flush();
  dead = true; // what is sent is carried out, and nobody hears of it
  await assert.rejects(conversation.user("two").openai({ model: "m" }), PalimpsestError);
  for (const client of clients) client.destroy(); // the connection is no more, with what it swallowed
  dead = false;
  conversation.user("three");
  const request = await conversation.openai({ model: "m" });
  assert.deepEqual(request.messages.map((message) => message.content), ["one", "two", "three"]);
  await through.close();
  proxy.close();
});

test("nobody there: the call waits as long as its deadline says, and not longer", async () => {
  const nobody = new Palimpsest("unix:///nonexistent/p.sock", { timeoutMs: 200 });
  const began = Date.now();
  await assert.rejects(nobody.raw.conversation.listConversations({}), { name: "PalimpsestError", reason: undefined });
  assert.ok(Date.now() - began < 2000);
  await nobody.close();
  assert.throws(() => new Palimpsest("http://127.0.0.1:1"), TypeError);
});

/** answering plays a sidecar of a version: it answers health checks, and counts all else. */
async function answering(header: Record<string, string>): Promise<{ server: Http2Server; at: string; calls: string[] }> {
  const calls: string[] = [];
  const server = createHttp2((request, response) => {
    calls.push(request.url);
    response.writeHead(200, { "content-type": "application/grpc+proto", ...header });
    response.addTrailers({ "grpc-status": "0" });
    response.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
  });
  return { server, at: await listening(server), calls };
}

test("a sidecar that is older than the package is given nothing", async () => {
  assert.equal(version, "v0.0.2"); // as the test's package was built
  for (const [header, refused] of [["v0.0.1", true], [undefined, true], ["v0.0.2", false], ["0.1.0", false], ["dev", false]] as const) {
    const { server, at, calls } = await answering(header === undefined ? {} : { "palimpsest-version": header });
    const client = new Palimpsest(at, { timeoutMs: 2000 });
    const asked = client.raw.conversation.listConversations({});
    if (refused) await assert.rejects(asked, VersionError);
    else await asked.catch(() => undefined);
    assert.equal(calls.length, refused ? 1 : 2, `${header}: ${calls}`);
    await client.close();
    server.close();
  }
});

test("a token comes with every call", async () => {
  const seen: (string | undefined)[] = [];
  const server = createHttp2((request, response) => {
    seen.push(request.headers.authorization);
    response.stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "16" }, { endStream: true });
  });
  const client = new Palimpsest(await listening(server), { token: "t", timeoutMs: 2000 });
  await assert.rejects(client.raw.conversation.listConversations({}), PalimpsestError);
  assert.deepEqual(seen, ["Bearer t"]);
  await client.close();
  server.close();
});

test("a program that does not close its sidecar ends all the same, and leaves none behind", async () => {
  const program = 'import { Palimpsest } from "palimpsest-context"; const p = await Palimpsest.local(); await p.raw.conversation.listConversations({}); console.log(p.pid);';
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { timeout: 20_000 });
  const pid = Number(stdout);
  for (let i = 0; i < 200 && alive(pid); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(!alive(pid));
});

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a binary that does not serve says why", async () => {
  await assert.rejects(Palimpsest.local({ flags: ["--no-such-flag"] }), /no-such-flag/);
  await assert.rejects(Palimpsest.local({ binary: "/nonexistent/sidecar" }), /ENOENT/);
});
