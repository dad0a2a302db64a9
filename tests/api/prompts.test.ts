import { afterAll, describe, expect, test } from "bun:test";
import { sharedStack } from "../kit/stack/shared-stack.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

const stack = await sharedStack();
const api = stack.api(stack.owners[0].apiKey);
const foreign = stack.api(stack.owners[1].apiKey);
afterAll(() => stack.stop());

let made = 0;
/** A prompt with a new name. */
async function newPrompt(fields: object = {}): Promise<string> {
  const name = `prompt ${++made}`;
  const { status } = await api.post("/prompts", { prompt_name: name, prompt_content: "one", ...fields });
  expect(status).toBe(200);
  return encodeURIComponent(name);
}

const patch = (name: string, body: object, headers = {}) =>
  api.send("PATCH", `/prompts/${name}`, {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

describe("creating a prompt", () => {
  test("with new_only never adds a version to a prompt that exists", async () => {
    const name = decodeURIComponent(await newPrompt());
    const { status, body } = await api.post("/prompts?new_only=true", { prompt_name: name, prompt_content: "two" });
    expect({ status, ...body }).toMatchObject({ status: 409, errors: [{ path: "prompt_name" }] });
    expect((await api.get(`/prompts/${encodeURIComponent(name)}`)).body.prompt_content).toBe("one");
  });

  test("makes version 1 of type main", async () => {
    const { status, body } = await api.post("/prompts", { prompt_name: "greeting", prompt_content: "Be kind." });
    expect(status).toBe(200);
    expect(body).toEqual({
      prompt_name: "greeting",
      prompt_version: 1,
      prompt_content: "Be kind.",
      prompt_metadata: { prompt_type: "main" },
      created_at: TIME,
      updated_at: TIME,
      labels: [],
    });
  });

  test("with an existing name makes the next version and keeps the type", async () => {
    const name = await newPrompt({ prompt_metadata: { prompt_type: "analysis" } });
    const again = { prompt_name: decodeURIComponent(name), prompt_content: "two" };
    const { body } = await api.post("/prompts", again);
    expect(body).toMatchObject({ prompt_version: 2, prompt_metadata: { prompt_type: "analysis" } });
    const other = await api.post("/prompts", { ...again, prompt_metadata: { prompt_type: "main" } });
    expect(other.status).toBe(422);
    expect(other.body.detail).toContain("prompt_type");
  });

  test("accepts a name of 100 characters, counted in code points, with a slash in it", async () => {
    const name = `a/${"🦜".repeat(98)}`;
    expect((await api.post("/prompts", { prompt_name: name, prompt_content: "x" })).status).toBe(200);
    expect((await api.get(`/prompts/${encodeURIComponent(name)}`)).body.prompt_name).toBe(name);
    const { status, body } = await api.post("/prompts", { prompt_name: `${name}b`, prompt_content: "x" });
    expect([status, body.detail]).toEqual([422, "prompt_name must be at most 100 characters"]);
  });

  test.each([
    [{ prompt_content: "x" }, "prompt_name is required"],
    [{ prompt_name: "", prompt_content: "x" }, "prompt_name must not be empty"],
    [{ prompt_name: "n" }, "prompt_content is required"],
    [{ prompt_name: "n", prompt_content: "" }, "prompt_content must not be empty"],
    [
      { prompt_name: "n", prompt_content: "x", prompt_metadata: { prompt_type: "other" } },
      "prompt_metadata.prompt_type must be one of main, analysis",
    ],
  ])("refuses %j", async (body, detail) => {
    const answer = await api.post("/prompts", body);
    expect([answer.status, answer.body.detail]).toEqual([422, detail]);
  });
});

test.each([
  ["?version=3", 404, "Prompt not found"],
  ["?version=0", 422, "version must be between 1 and 2147483647"],
  ["?version=one", 422, "version must be an integer"],
])("reading a prompt with %s answers %d", async (query, status, detail) => {
  const answer = await api.get(`/prompts/${await newPrompt()}${query}`);
  expect([answer.status, answer.body.detail]).toEqual([status, detail]);
});

describe("an idempotency key", () => {
  const agent = { agent_name: "Keyed", agent_type: "INBOUND" };
  const prompt = { prompt_name: "keyed", prompt_content: "x" };
  const refused = "Idempotency-Key was used with another request";

  test("of one route is refused on every other route, while its own request gets a replay", async () => {
    const headers = { "idempotency-key": "across routes" };
    const first = await api.post("/prompts", prompt, headers);
    const others = await Promise.all([
      api.post("/agents", agent, headers),
      api.post("/chat", { agent_id: "agt_0", message: "Hi" }, headers),
      patch("keyed", { prompt_content: "y" }, headers),
      api.send("DELETE", "/prompts/keyed", { headers }),
    ]);
    for (const { status, body } of others) {
      expect([status, body.detail]).toEqual([422, expect.stringContaining(refused)]);
      expect(body.errors[0].path).toBe("Idempotency-Key");
    }
    expect((await api.get("/agents?search=Keyed")).body.total).toBe(0);
    const again = await api.post("/prompts", prompt, headers);
    expect([again.status, again.body, again.headers.get("idempotent-replayed")]).toEqual([200, first.body, "true"]);
  });

  test("sent concurrently with requests of two services belongs to only one of them", async () => {
    const headers = { "idempotency-key": "two services at once" };
    const ask = (at: number) => (at % 2 ? api.post("/agents", agent, headers) : api.post("/prompts", prompt, headers));
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at)));
    const statuses = [0, 1].map(
      (kind) => new Set(answers.filter((_, at) => at % 2 === kind).map(({ status }) => status)),
    );
    expect(statuses.map((kind) => [...kind]).sort()).toEqual([[200], [422]]);
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body))).size).toBe(
      1,
    );
  });

  test("is still free after a request that was refused early, or when only another owner used it", async () => {
    const headers = { "idempotency-key": "free" };
    expect((await api.post("/prompts", { prompt_name: "" }, headers)).status).toBe(422);
    expect((await api.post("/prompts", prompt, headers)).status).toBe(200);
    const theirs = await foreign.post("/agents", agent, headers);
    expect([theirs.status, theirs.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });
});

describe("listing prompts", () => {
  test("shows the latest version of each, or all versions with latest_only=false", async () => {
    const name = decodeURIComponent(await newPrompt({ prompt_content: "unmistakable" }));
    await patch(encodeURIComponent(name), { prompt_content: "unmistakable too" });
    const versions = async (query: string) =>
      (await api.get(`/prompts?search=unmistakable&${query}`)).body.prompts.map(
        (prompt: { prompt_version: number }) => prompt.prompt_version,
      );
    expect(await versions("")).toEqual([2]);
    expect(await versions("latest_only=true")).toEqual([2]);
    expect((await versions("latest_only=false")).sort()).toEqual([1, 2]);
    expect((await versions("latest_only=0")).sort()).toEqual([1, 2]);
  });

  test("has consistent page figures, and is empty past the end", async () => {
    const { body } = await api.get("/prompts?page_size=2");
    expect(body.prompts).toHaveLength(2);
    expect(body).toMatchObject({ page: 1, page_size: 2, total_pages: Math.ceil(body.total / 2) });
    expect((await api.get("/prompts?page=100000")).body.prompts).toEqual([]);
  });

  test.each(["page=0", "page=-1", "page_size=0", "page_size=101", "latest_only=maybe", "page=1.5"])(
    "refuses %s",
    async (query) => {
      const { status, body } = await api.get(`/prompts?${query}`);
      expect(status).toBe(422);
      expect(body.detail).toStartWith(`${query.split("=")[0]} must`);
    },
  );
});

test("a version is labelled, read by its label, compared, restored, and its label moved and deleted", async () => {
  const name = await newPrompt({ prompt_content: "Hello {{name}}." });
  await patch(name, { prompt_content: "Hi." });
  const label = async (prompt_version: number) =>
    (
      await api.send("PUT", `/prompts/${name}/labels/production`, {
        body: JSON.stringify({ prompt_version }),
        headers: { "content-type": "application/json" },
      })
    ).body;
  const prompt_name = decodeURIComponent(name);
  expect(await label(1)).toEqual({ prompt_name, label: "production", prompt_version: 1, updated_at: TIME });
  expect((await api.get(`/prompts/${name}?label=production`)).body).toMatchObject({
    prompt_version: 1,
    labels: ["production"],
  });
  const both = await api.get(`/prompts/${name}?label=production&version=1`);
  expect([both.status, both.body.detail]).toEqual([422, "label must not be given with version: send one of them"]);
  expect((await api.get(`/prompts/${name}/diff?from=production`)).body).toMatchObject({
    from_version: 1,
    to_version: 2,
    diff: expect.stringContaining("-Hello {{name}}.\n"),
    variables_added: [],
    variables_removed: ["name"],
  });
  expect((await api.post(`/prompts/${name}/restore`, { prompt_version: 1 })).body).toMatchObject({
    prompt_version: 3,
    prompt_content: "Hello {{name}}.",
    labels: [],
  });
  expect(await label(3)).toMatchObject({ prompt_version: 3 });
  const deleted = await api.send("DELETE", `/prompts/${name}/labels/production`);
  expect(deleted.body).toEqual({ message: "Label deleted", prompt_name, label: "production", deleted_at: TIME });
  expect((await api.get(`/prompts/${name}?label=production`)).status).toBe(404);
});
