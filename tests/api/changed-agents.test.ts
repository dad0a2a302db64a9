import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Api } from "../kit/api.ts";
import { startTestStack, type TestStack } from "../kit/stack/test-stack.ts";

const CHANGES = 60;
/** Each request may then reach another of the gateways. */
const ANEW = { connection: "close" };

let stack: TestStack;
let api: Api;
beforeAll(async () => {
  stack = await startTestStack({ replicas: 2 });
  api = stack.api(stack.owners[0].apiKey);
});
afterAll(() => stack?.stop());

const send = (method: string, path: string, body: object) =>
  api.send(method, path, {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...ANEW },
  });

test("reading an agent shows every change answered before, whichever gateways and services are used", async () => {
  const prompt_name = "greeter";
  await api.post("/prompts", { prompt_name, prompt_content: "version 0" });
  const { body } = await api.post("/agents", { agent_name: "0", agent_type: "INBOUND", prompt: { prompt_name } });
  const stale: string[] = [];
  for (let change = 1; change <= CHANGES; change++) {
    const isPrompt = change % 2 === 0;
    const answer = isPrompt
      ? await send("PATCH", `/prompts/${prompt_name}`, { prompt_content: `version ${change}` })
      : await send("PATCH", `/agents/${body.id}`, { agent_description: `version ${change}` });
    expect(answer.status).toBe(200);
    for (let read = 0; read < 3; read++) {
      const seen = await api.get(`/agents/${body.id}`, ANEW);
      const text = isPrompt ? seen.body.prompt?.prompt_content : seen.body.agent_description;
      if (text !== `version ${change}`) stale.push(`${change}: ${text}`);
    }
  }
  expect(stale).toEqual([]);
  await send("DELETE", `/agents/${body.id}`, {});
  for (let read = 0; read < 3; read++) expect((await api.get(`/agents/${body.id}`, ANEW)).status).toBe(404);
}, 120_000);
