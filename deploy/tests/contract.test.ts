import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Ajv from "ajv/dist/2020";
import addFormats from "ajv-formats";
import fc from "fast-check";
import type { Answer, Api } from "../src/testing/api.ts";
import { arbitraryOf, HOSTILE, type Schema } from "../src/testing/schema-arbitrary.ts";
import { type ScriptedModel, startScriptedModel } from "../src/testing/scripted-model.ts";
import { createAgent } from "../src/testing/test-agent.ts";
import { startTestStack, type TestStack } from "../src/testing/test-stack.ts";

interface Operation {
  method: string;
  path: string;
  operationId: string;
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { content: { "application/json": { schema: Schema } } }>;
}

// Every route there is, from the document, so that a new one is tested without a line here.
const stack: TestStack = await startTestStack();
const model: ScriptedModel = await startScriptedModel();
const api = stack.api(stack.owners[0].apiKey);
const foreign = stack.api(stack.owners[1].apiKey);
const document = (await api.get("//openapi.json")).body;
const schemas: Record<string, Schema> = document.components.schemas;
const operations: Operation[] = Object.entries<Record<string, Omit<Operation, "method" | "path">>>(
  document.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, rest]) => ({ method: method.toUpperCase(), path, ...rest })),
);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

/** What one owner has, by the names of the path parameters that lead to it. */
const SECRET = "only-the-owner-reads-this";
const mine: Record<string, string> = {};
/** What fuzzing may change and delete. */
const fuzzed: Record<string, string> = {};
let agentBody: object;
beforeAll(async () => {
  const fields = { agent_name: SECRET, prompt_content: `${SECRET} {{company}}`, first_message_prompt: SECRET };
  mine.agent_id = await createAgent(api, model, fields);
  agentBody = { agent_id: mine.agent_id, message: SECRET, streaming: false, metadata: { note: SECRET } };
  mine.session_id = (await api.post("/chat", agentBody)).body.session_id;
  mine.conversation_id = mine.session_id ?? "";
  mine.prompt_name = SECRET;
  await api.post("/prompts", { prompt_name: SECRET, prompt_content: SECRET });
  fuzzed.agent_id = await createAgent(foreign, model);
  fuzzed.session_id = (await foreign.get(`/agents/${fuzzed.agent_id}/first-message`)).body.session_id;
  fuzzed.conversation_id = fuzzed.session_id ?? "";
  fuzzed.prompt_name = `agent-${fuzzed.agent_id}`;
});

const isOfPath = (operation: Operation) => operation.path.includes("{");
const pathTo = (operation: Operation, values: Record<string, string>) =>
  operation.path
    .replace("/v1/public", "")
    .replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "none"));

const send = (as: Api, operation: Operation, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  as.send(operation.method, path, {
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
  });

/** A body that the operation accepts, as far as one is needed to get past validation. */
function goodBody({ operationId }: Operation): object | undefined {
  const bodies: Record<string, object> = {
    createAgent: { agent_name: "A", agent_type: "INBOUND" },
    updateAgent: { agent_description: "B" },
    createPrompt: { prompt_name: "contract", prompt_content: "C" },
    updatePrompt: { prompt_content: "D" },
    sendMessage: { ...agentBody, session_id: mine.session_id },
  };
  return bodies[operationId];
}

describe.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  "%s",
  (_, operation) => {
    test("without a key answers 401 and nothing else", async () => {
      const answer = await send(api, operation, pathTo(operation, mine), goodBody(operation), { "x-api-key": "" });
      expect([answer.status, answer.body]).toEqual([401, { detail: "API key is missing" }]);
    });

    test("with another owner's key reaches nothing of this owner's", async () => {
      const answer = await send(foreign, operation, pathTo(operation, mine), goodBody(operation));
      if (isOfPath(operation) || operation.operationId === "sendMessage") expect([403, 404]).toContain(answer.status);
      expect(JSON.stringify(answer.body).replaceAll(JSON.stringify(SECRET), "")).not.toContain(SECRET);
      for (const id of [mine.agent_id, mine.session_id]) expect(JSON.stringify(answer.body)).not.toContain(id ?? "");
    });

    test("answers what the document says it answers", async () => {
      // Deleting takes things of its own: everybody else still needs these.
      const values = operation.method === "DELETE" ? await doomed() : mine;
      const answer = await send(api, operation, withRequiredQuery(operation, values), goodBody(operation));
      expect(answer.status).toBe(200);
      expectDocumented(operation, answer);
    });

    test("answers a fuzzed request with a documented status, never with a fault", async () => {
      await fc.assert(
        fc.asyncProperty(requestOf(operation), async ({ path, body, headers }) => {
          const answer = await send(foreign, operation, path, body, headers);
          expectDecided(operation, answer);
        }),
        { numRuns: 40, interruptAfterTimeLimit: 20_000 },
      );
    }, 40_000);

    test("answers methods it does not know with 404 or 405", async () => {
      for (const method of ["PUT", "OPTIONS", "TRACE", "PURGE"]) {
        const answer = await api.send(method, pathTo(operation, mine)).catch(() => null);
        // A client may refuse to send one; the server must not accept it.
        if (answer) expect([404, 405]).toContain(answer.status);
      }
    });

    if (!operation.requestBody) return;
    test("answers a malformed body with a decided refusal", async () => {
      const json = { "content-type": "application/json" };
      const malformed: [string, Record<string, string>, number[]][] = [
        ["", json, [400]],
        ["{", json, [400]],
        ["[]", json, [400]],
        ["null", json, [400]],
        ['"text"', json, [400]],
        ["\u0000", json, [400]],
        [`{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, json, [400, 422]],
        ['{"a":1e999}', json, [422]],
        ['{"a":"\\u0000"}', json, [422]],
        [`{"a":"${"x".repeat(1024 * 1024)}"}`, json, [413]],
        ["{}", { "content-type": "text/plain" }, [415]],
        ["a=1", { "content-type": "application/x-www-form-urlencoded" }, [415]],
      ];
      for (const [body, headers, statuses] of malformed) {
        const answer = await foreign.send(operation.method, pathTo(operation, mine), { body, headers });
        expect(statuses).toContain(answer.status);
        expect(answer.body).toMatchObject({ detail: expect.any(String) });
      }
    });
  },
);

async function doomed(): Promise<Record<string, string>> {
  await api.post("/prompts", { prompt_name: "doomed", prompt_content: "x" });
  return { prompt_name: "doomed", agent_id: await createAgent(api, model) };
}

function withRequiredQuery(operation: Operation, values: Record<string, string>): string {
  const path = pathTo(operation, values);
  return operation.operationId === "listVoices" ? `${path}?provider=OPENAI` : path;
}

function requestOf(operation: Operation) {
  const text = fc.oneof(fc.constant("none"), fc.string({ unit: "binary", minLength: 1, maxLength: 60 }));
  const hostileText = HOSTILE.filter((value) => typeof value === "string" && value !== "" && value.length < 5_000);
  const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const inQuery = operation.parameters.filter((parameter) => parameter.in === "query");
  const query = Object.fromEntries(inQuery.map(({ name, schema }) => [name, arbitraryOf(schema, schemas)]));
  const bodySchema = operation.requestBody?.content["application/json"].schema;
  return fc
    .record({
      values: fc.record(Object.fromEntries(inPath.map((name) => [name, fc.oneof(text, hostileText, existing(name))]))),
      query: fc.record(query, { requiredKeys: [] }),
      body: bodySchema ? arbitraryOf(bodySchema, schemas).chain(withExisting) : fc.constant(undefined),
      headers: fc.record({ "idempotency-key": fc.stringMatching(/^[ -~]{0,40}$/) }, { requiredKeys: [] }),
    })
    .map(({ values, query, body, headers }) => {
      const search = Object.entries(query)
        .filter(([, value]) => value !== undefined && String(JSON.stringify(value)).length < 5_000)
        .map(([name, value]) => `${name}=${encoded(typeof value === "string" ? value : JSON.stringify(value))}`)
        .join("&");
      const path = operation.path
        .replace("/v1/public", "")
        .replaceAll(/\{(\w+)\}/g, (_, name) => encoded(String((values as Record<string, unknown>)[name])));
      return { path: search === "" ? path : `${path}?${search}`, body, headers };
    });
}

const existing = (name: string) => fc.constant(name).map(() => fuzzed[name] ?? "none");

/** Half of the bodies name an agent that is there, or most would be refused for that alone. */
function withExisting(body: unknown) {
  const named = typeof body === "object" && body !== null && "agent_id" in body;
  return named
    ? fc.oneof(
        fc.constant(body),
        existing("agent_id").map((id) => ({ ...body, agent_id: id })),
      )
    : fc.constant(body);
}

/** As a hostile client sends it: a lone surrogate, which the platform refuses to encode, as its three bytes. */
function encoded(text: string): string {
  return [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : "%ED%A0%80"))
    .join("");
}

/** 404 and 405 of the router itself are every path's: `.` and `..` in one lead elsewhere. */
function expectDecided(operation: Operation, answer: Answer): void {
  const documented = [...Object.keys(operation.responses).map(Number), 404, 405];
  expect(documented).toContain(answer.status);
  expect([500, 503, 504]).not.toContain(answer.status);
  if (answer.status >= 400) expect(answer.body).toMatchObject({ detail: expect.any(String) });
}

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ $id: "document", components: document.components });

function expectDocumented(operation: Operation, answer: Answer): void {
  const response = operation.responses[String(answer.status)];
  const { $ref = "" } = response?.content["application/json"].schema ?? {};
  const validate = ajv.compile({ $ref: `document${$ref}` });
  expect(validate(answer.body) ? [] : validate.errors).toEqual([]);
  for (const header of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    expect(answer.headers.get(header)).not.toBeNull();
  }
}
