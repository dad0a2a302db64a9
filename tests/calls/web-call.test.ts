import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import type { Page } from "playwright-core";
import { startChromium } from "../kit/calls/chromium.ts";
import { obtainPocketSphinx } from "../kit/calls/pocketsphinx.ts";
import { spokenSentence } from "../kit/calls/spoken-sentence.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const GREETING = "Hello, this is Acme. How can I help you?";
const SENTENCE = "I would like to book a table for two people please";
/** Longer than the pause after which the microphone plays the sentence again. */
const REPLY = Array.from({ length: 12 }, (_, at) => `We have many tables on each of our ${at + 2} floors.`).join(" ");
/** Recognition and a browser are slow on a busy machine. */
const WITHIN_MS = 90_000;

await obtainPocketSphinx();
const stack = await sharedStack();
const model = await startScriptedModel();
/** The first thing that the model does is to have the page show its plan. */
let hasShownPlan = false;
model.always((exchange) => {
  if (hasShownPlan) exchange.text(REPLY);
  else exchange.toolCall("show_plan", { floor: 2 });
  hasShownPlan = true;
  exchange.finish();
});
const api = stack.api(stack.owners[0].apiKey);
const folder = await mkdtemp(join(tmpdir(), "parley-web-call-"));
const microphone = join(folder, "microphone.wav");
const speechUrl = `http://${stack.address("speech")}/v1`;
await Bun.write(microphone, await spokenSentence(speechUrl, SENTENCE, { beforeSeconds: 7, afterSeconds: 2 }));
const browser = await startChromium({ microphone });
/** Customers' pages have origins of their own. */
const site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("<!doctype html>", HTML) });
afterAll(async () => {
  await browser.close();
  await site.stop(true);
  await model.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

const HTML = { headers: { "Content-Type": "text/html" } };

test("a page hears the agent, is heard by it, makes a call for it, and interrupts it by speaking, while somebody listens", async () => {
  const floor = { name: "floor", schema: { type: "integer" } };
  const { body: tool } = await api.post("/tools", {
    ...{ name: "show_plan", type: "client", description: "Shows the plan of a floor.", parameters: [floor] },
  });
  const custom_tools = [{ tool_id: tool.id }];
  const agentId = await createAgent(api, model, { first_message_prompt: GREETING, recording: true, custom_tools });
  const webCall = await createWebCall(agentId);
  const page = await openPage();
  const tools = "{ show_plan: ({ floor }) => ({ shown: floor }) }";
  await page.evaluate(
    `window.calling = call(${JSON.stringify(webCall)}, (caption) => captions.push(caption), ${tools})`,
  );

  // The page hears the agent: the greeting is audible, and its caption shows while it plays.
  await eventually(async () => expect(await heardEnergy(page)).toBeGreaterThan(0.01), WITHIN_MS);
  // On a busy machine, the microphone may interrupt it.
  const isGreeting = (text: string) => text !== "" && GREETING.startsWith(text);
  await eventually(async () => expect((await captionsOf(page, "agent")).some(isGreeting)).toBeTrue(), WITHIN_MS);

  // Somebody else listens from another page, which hears what is said from now on.
  const { status, body: given } = await api.post(`/conversations/${webCall.conversation_id}/listen`, {});
  expect({ status, given }).toMatchObject({ status: 200, given: { expires_at: expect.any(String) } });
  const listener = await openPage("live.md", "listen");
  await listener.evaluate(`listen(${JSON.stringify(given)}, () => { window.isOver = true; })`);
  await eventually(async () => expect(await heardEnergy(listener)).toBeGreaterThan(0.01), WITHIN_MS);

  // The page is heard: what the microphone says becomes a user's message. The stand-in misunderstands some words, more of them after
  // a browser's noise suppression, but the microphone says it again and again.
  const heard = await eventually(async () => {
    const said = (await transcriptOf(webCall.conversation_id)).filter(({ role }) => role === "user");
    const understood = said.find(({ content }) => wordsIn(content).intersection(wordsIn(SENTENCE)).size >= 3);
    if (!understood) throw new Error(`The agent has heard only this: ${JSON.stringify(said)}`);
    return understood.content;
  }, WITHIN_MS);
  // Its caption comes over the call's connection, which may be behind the API.
  await eventually(async () => expect(await captionsOf(page, "user")).toContain(heard), WITHIN_MS);

  // What the page's function returned is the result of the call that the model made.
  await eventually(async () => {
    const { body } = await api.get(`/conversations/${webCall.conversation_id}?include=replies`);
    const called = body.conversation_transcript.flatMap(({ tool_calls = [] }: Item) => tool_calls);
    expect(called).toMatchObject([{ name: "show_plan", status: "SUCCEEDED", result: '{"shown":2}' }]);
  }, WITHIN_MS);

  // The microphone continues while the agent speaks: the agent stops, and what was heard is what is stored. The latency comes with the
  // end of the turn.
  await eventually(async () => {
    const items = await transcriptOf(webCall.conversation_id);
    const cutShort = items.find(
      ({ content, latency }) => latency && /^We have/.test(content) && content.length < REPLY.length,
    );
    expect(REPLY).toStartWith(cutShort?.content ?? "nothing");
    expect(cutShort?.latency).toMatchObject({ end_of_turn: expect.any(Number), audible: expect.any(Number) });
  }, WITHIN_MS);

  await page.evaluate("calling.then((hangUp) => hangUp())");
  await eventually(async () => expect(await listener.evaluate("window.isOver")).toBeTrue());
  await eventually(async () => {
    const { body } = await api.get(`/conversations?conversation_id=${webCall.conversation_id}`);
    expect(body.data[0]).toMatchObject({ conversation_type: "WEB", conversation_status: "COMPLETED" });
    const { conversation_recording_url: url, conversation_duration: seconds } = body.data[0].conversation_metadata;
    await expectRecording(url, seconds);
  });
}, 300_000);

/** Only the owner hears the call at that address, in full and in part. */
async function expectRecording(url: string, seconds: number): Promise<void> {
  const [own, foreign] = stack.owners.map(({ apiKey }) => ({ "x-api-key": apiKey }));
  const whole = await fetch(url, { headers: own ?? {} });
  expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "audio/ogg; codecs=opus"]);
  const bytes = Buffer.from(await whole.arrayBuffer());
  // 32 kbit/s, less while nobody speaks.
  expect(bytes.length / seconds).toBeWithin(500, 6_000);
  const part = await fetch(url, { headers: { ...own, range: "bytes=0-3" } });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
    206,
    `bytes 0-3/${bytes.length}`,
    "OggS",
  ]);
  const beyond = await fetch(url, { headers: { ...own, range: `bytes=${bytes.length}-` } });
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
  expect((await fetch(url, { headers: foreign ?? {} })).status).toBe(404);
  expect((await fetch(url)).status).toBe(401);
}

test("a token connects only one page, and a wrong one connects none", async () => {
  const agentId = await createAgent(api, model, { first_message_prompt: GREETING });
  const webCall = await createWebCall(agentId);
  const page = await openPage();
  const failure = (of: object) =>
    page.evaluate(`call(${JSON.stringify(of)}, () => {}).then((hangUp) => { calls.push(hangUp); }, (e) => e.message)`);
  expect(await failure({ ...webCall, token: `${webCall.token}x` })).toContain("The token is wrong");
  expect(await failure(webCall)).toBeUndefined();
  expect(await failure(webCall)).toContain("The token is wrong");
  // Otherwise the stack would wait for the call to end before it stops.
  await page.evaluate("calls[0]()");
});

async function createWebCall(agentId: string): Promise<{ conversation_id: string; url: string; token: string }> {
  const { status, body } = await api.post("/web-calls", { agent_id: agentId });
  expect({ status, body }).toMatchObject({ status: 200, body: { ice_servers: [] } });
  return body;
}

/** A page with a function of a guide in docs/, whose connection tests can look into. */
async function openPage(guide = "calls.md", name = "call"): Promise<Page> {
  const text = await Bun.file(join(import.meta.dir, "../../docs", guide)).text();
  const scripts = [...text.matchAll(/```js\n([\s\S]+?)```/g)].map(([, script = ""]) => script);
  const script = scripts.find((each) => each.includes(`function ${name}(`));
  const page = await browser.newPage();
  await page.goto(site.url.href);
  await page.addScriptTag({
    content: `
      window.captions = [];
      window.calls = [];
      window.connections = [];
      window.RTCPeerConnection = class extends RTCPeerConnection {
        constructor(...given) { super(...given); connections.push(this); }
      };
      ${script}
      window.${name} = ${name};`,
  });
  return page;
}

/** The sum of energy over time of everything that was played to the page, from WebRTC's statistics. */
function heardEnergy(page: Page): Promise<number> {
  return page.evaluate(`(async () => {
    const stats = await connections[0].getStats();
    return [...stats.values()].find(({ type, kind }) => type === "inbound-rtp" && kind === "audio")?.totalAudioEnergy ?? 0;
  })()`);
}

async function captionsOf(page: Page, type: "agent" | "user"): Promise<string[]> {
  const captions = await page.evaluate<{ type: string; text: string; is_final: boolean }[]>("captions");
  return captions.filter((caption) => caption.type === type && caption.is_final).map(({ text }) => text);
}

function wordsIn(text = ""): Set<string> {
  return new Set(text.toLowerCase().split(" "));
}

interface Item {
  role: string;
  content: string;
  latency?: Record<string, number>;
  tool_calls?: object[];
}

async function transcriptOf(conversationId: string): Promise<Item[]> {
  const { body } = await api.get(`/conversations?conversation_id=${conversationId}`);
  return body.data[0]?.conversation_transcript ?? [];
}
