import { afterAll, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { type Answer, answerOf } from "../kit/api.ts";
import { allEvents } from "../kit/events/chat-events.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const [stack, model]: [RunningStack, Awaited<ReturnType<typeof startScriptedModel>>] = await Promise.all([
  sharedStack(),
  startScriptedModel(),
]);
const [{ apiKey }, { apiKey: foreignKey }] = stack.owners;
const api = stack.api(apiKey);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

const base = (await api.post("/knowledge-bases", { name: "Price lists" })).body;
const documents = `/knowledge-bases/${base.id}/documents`;

/** Sends a file as a browser's form does. */
async function upload(path: string, file: File, fields: object = {}, headers: object = {}): Promise<Answer> {
  const form = new FormData();
  form.append("file", file);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const method = path === documents ? "POST" : "PUT";
  return answerOf(
    await fetch(`${stack.url}/v1/public${path}`, { method, body: form, headers: { "x-api-key": apiKey, ...headers } }),
  );
}

const settled = (id: string) =>
  eventually(async () => {
    const { body } = await api.get(`${documents}/${id}?include=text`);
    expect(body.status).not.toBe("PENDING");
    return body;
  });

test("a file becomes a document that searches find, and corrected content takes its place", async () => {
  const added = await upload(documents, new File(["# Repairs\n\nSmall repairs cost 40 euros."], "prices.md"));
  expect(added).toMatchObject({ status: 200, body: { name: "prices.md", status: "PENDING", duplicate: false } });
  const { id } = added.body;
  expect(await settled(id)).toMatchObject({
    status: "READY",
    media_type: "text/markdown",
    text: "# Repairs\n\nSmall repairs cost 40 euros.",
  });
  const found = async () => (await api.post(`/knowledge-bases/${base.id}/search`, { query: "small repairs" })).body;
  expect((await found()).chunks).toMatchObject([{ document_id: id, heading: "Repairs", name: "prices.md" }]);
  await upload(`${documents}/${id}`, new File(["Small repairs cost 45 euros.\n"], "new.txt"));
  expect(await settled(id)).toMatchObject({ status: "READY", name: "prices.md" });
  expect((await found()).chunks[0].text).toContain("45 euros");
});

test("a repeated upload with the same key is one document, and answers as the first one", async () => {
  const key = { "idempotency-key": newUuid() };
  const send = () => upload(documents, new File(["Large repairs cost 90 euros."], "large.txt"), {}, key);
  const [first, again] = [await send(), await send()];
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});

test("a file over 20 MiB is 413, a picture 422, and so is a body without content or with two", async () => {
  const large = await upload(documents, new File([new Uint8Array(20 * 1024 * 1024 + 1)], "large.txt"));
  expect([large.status, large.body.detail]).toEqual([413, "The file must be at most 20 MiB"]);
  const picture = await upload(documents, new File([new Uint8Array([137, 80, 78, 71, 0, 0])], "a.png"));
  expect([picture.status, picture.body.errors[0].path]).toEqual([422, "file"]);
  for (const body of [{ name: "a" }, { name: "a", text: "a", url: "https://shop.example" }, { text: "a" }])
    expect((await api.post(documents, body)).status).toBe(422);
  const form = new FormData();
  form.append("name", "no file");
  const headers = { "x-api-key": apiKey };
  expect((await fetch(`${stack.url}/v1/public${documents}`, { method: "POST", body: form, headers })).status).toBe(422);
});

test("another owner's key is 403 for the base and everything in it", async () => {
  const foreign = stack.api(foreignKey);
  for (const path of [`/knowledge-bases/${base.id}`, documents]) expect((await foreign.get(path)).status).toBe(403);
  expect((await foreign.post(documents, { name: "a", text: "a" })).status).toBe(403);
  expect((await foreign.post(`/knowledge-bases/${base.id}/search`, { query: "a" })).status).toBe(403);
});

async function change(method: string, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  expect((await api.send(method, path, { body: JSON.stringify(body), headers })).status).toBe(200);
}

/** The model searches, and answers with the figure that it is given. */
function answersFromDocuments(): void {
  model.next((exchange) => {
    exchange.toolCall("search_knowledge", { query: "warranty months" });
    exchange.finish();
  });
  model.next((exchange) => {
    exchange.text(/\d+ months/.exec(exchange.request.body.messages.at(-1)?.content ?? "")?.[0] ?? "I do not know.");
    exchange.finish();
  });
}

test("an agent answers from a document, names it, and answers from the corrected one in the next turn", async () => {
  const { body: terms } = await api.post("/knowledge-bases", { name: "Terms", description: "What we promise." });
  const path = `/knowledge-bases/${terms.id}/documents`;
  const added = await api.post(path, { name: "Warranty", text: "The warranty lasts 24 months." });
  const { id } = added.body;
  const isReady = () => eventually(async () => expect((await api.get(`${path}/${id}`)).body.status).toBe("READY"));
  await isReady();
  const knowledge = [{ knowledge_base_id: terms.id, mode: "tool" }];
  const agent_id = await createAgent(api, model, {
    knowledge,
    widget_config: { allowed_origins: ["https://shop.example"] },
  });
  answersFromDocuments();
  const asked = { agent_id, message: "How long is the warranty?" };
  const headers = { "x-api-key": apiKey, "content-type": "application/json", accept: "text/event-stream" };
  const url = `${stack.url}/v1/public/chat`;
  const events = await allEvents(await fetch(url, { method: "POST", headers, body: JSON.stringify(asked) }));
  const { session_id, ...known } = events.at(-1)?.data ?? {};
  const source = { document_id: id, name: "Warranty", chunk_id: expect.stringMatching(/^chk_/) };
  expect(known).toMatchObject({ knowledge: { status: expect.stringMatching(/^(ok|partial)$/) }, sources: [source] });
  const shown = async () => (await api.get(`/chat/sessions/${session_id}?include=replies,sources`)).body.messages;
  expect((await shown()).at(-1)).toMatchObject({ content: "24 months", ...known, tool_calls: [{ is_error: false }] });
  const setsOf = async (id: string) => (await api.get(`/conversations/${id}?include=sources`)).body.document_sets;
  const setNow = async () => {
    const { documents_hash } = (await api.get(`/knowledge-bases/${terms.id}`)).body;
    return { knowledge_base_id: terms.id, documents_hash };
  };
  const first = await setNow();
  expect(known.knowledge.document_sets).toEqual([first]);
  expect(await setsOf(session_id)).toEqual([first]);
  expect((await api.get(`/conversations/${session_id}`)).body.conversation_transcript.at(-1)).not.toHaveProperty(
    "sources",
  );

  await change("PUT", `${path}/${id}`, { text: "The warranty lasts 36 months." });
  await eventually(async () => expect((await api.get(`${path}/${id}?include=text`)).body.text).toContain("36"));
  answersFromDocuments();
  await api.post("/chat", { ...asked, session_id, streaming: false });
  expect((await shown()).at(-1).content).toBe("36 months");
  const second = await setNow();
  expect(second.documents_hash).not.toBe(first.documents_hash);
  const setsByReply = (await shown()).flatMap(({ knowledge }: { knowledge?: object }) => knowledge ?? []);
  expect(setsByReply).toMatchObject([{ document_sets: [first] }, { document_sets: [second] }]);
  expect(await setsOf(session_id)).toEqual([second]);
  const refused = await api.send("DELETE", `/knowledge-bases/${terms.id}`);
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining("the agent Front desk")]);
});

test("visitors of the widget learn what a reply is from only if its agent shows sources", async () => {
  const knowledge = [{ knowledge_base_id: base.id, mode: "always" }];
  const widget_config = { allowed_origins: ["https://shop.example"] };
  const agent_id = await createAgent(api, model, { knowledge, widget_config });
  const origin = { origin: "https://shop.example" };
  const { token } = (await stack.api("").post("/widget-tokens", { agent_id }, origin)).body;
  const sourcesSeen = async () => {
    const headers = { ...origin, authorization: `Bearer ${token}`, accept: "text/event-stream" };
    const response = await fetch(`${stack.url}/v1/public/widget-messages`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ message: "What do large repairs cost?" }),
    });
    return (await allEvents(response)).at(-1)?.data.sources?.map(({ name }: { name: string }) => name);
  };
  expect(await sourcesSeen()).toBeUndefined();
  await change("PATCH", `/agents/${agent_id}`, { widget_config: { ...widget_config, show_sources: true } });
  expect(await sourcesSeen()).toContain("large.txt");
});
