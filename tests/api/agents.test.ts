import { afterAll, describe, expect, test } from "bun:test";
import type { Answer } from "../kit/api.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const MINIMAL = { agent_name: "Ada", agent_type: "INBOUND" };
const CUSTOM = {
  provider_name: "CUSTOM_LLM",
  model_name: "any model",
  params: { base_url: "https://llm.example.com/v1", api_key: "sk-abcdefgh-0123" },
};

const stack = await sharedStack();
const api = stack.api(stack.owners[0].apiKey);
const foreign = stack.api(stack.owners[1].apiKey);
afterAll(() => stack.stop());

async function newAgent(fields: object = {}): Promise<Answer["body"]> {
  const { status, body } = await api.post("/agents", { ...MINIMAL, ...fields });
  expect([status, body.detail]).toEqual([200, undefined]);
  return body;
}

const patch = (id: string, body: object) =>
  api.send("PATCH", `/agents/${id}`, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });

describe("creating an agent", () => {
  test("with only a name and a type gives every other field its default", async () => {
    expect(await newAgent()).toEqual({
      id: expect.stringMatching(/^agt_[0-9a-hjkmnp-tv-z]{26}$/),
      agent_name: "Ada",
      agent_description: null,
      agent_type: "INBOUND",
      agent_category: "other",
      agent_tips: [],
      agent_mobile_number: [],
      stt: null,
      llm: null,
      tts: null,
      call_analysis_enabled: false,
      prompt: null,
      prompt_pinned: false,
      publishing: "auto",
      agent_version: 1,
      latest_version: 1,
      published_version: 1,
      published_mobile_number: [],
      recording: false,
      start_webhook: null,
      timezone: null,
      first_message_prompt: null,
      dynamic_variables: [],
      tools: {},
      custom_tools: [],
      handoffs: [],
      knowledge: [],
      call_settings: {},
      whatsapp: {},
      widget_config: {},
      MediaFiles: [],
      created_at: TIME,
      updated_at: TIME,
    });
  });

  test("keeps every field as it was given", async () => {
    const given = {
      ...MINIMAL,
      agent_type: "OUTBOUND",
      agent_description: "Calls back.",
      agent_category: "IT/DevOps",
      agent_tips: ["Speak slowly."],
      agent_mobile_number: ["+14155550123"],
      stt: { provider_name: "DEEPGRAM", model_name: "nova-3", language: "en-US", params: {} },
      llm: { provider_name: "OPENAI", model_name: "gpt-4.1-mini", params: { temperature: 0.5 } },
      tts: { provider_name: "OPENAI", model_name: "tts-1", language: "en", voice_id: "alloy", params: { speed: 1.25 } },
      sts: { provider_name: "OPENAI", model_name: "gpt-realtime", params: { anything: [1, { goes: true }] } },
      first_message_prompt: "Hello {{name}}",
      tools: {
        end_call: { message: "Bye." },
        transfer_call: { transfer_phone_number: "+14155550199" },
        schedule_call: { timezone: "Asia/Kolkata", max_days_ahead: 14 },
        set_language: false,
        background_audio: { sound: "office", volume: 0.2 },
        user_idle: { timeout_seconds: 10, max_reminders: 2 },
      },
      widget_config: { title: "Chat", primary_color: "#1A2B3C", position: "bottom-left", own_key: { kept: 1 } },
      MediaFiles: [{ fileType: "image/png", mediaUrl: "https://example.com/a.png" }],
    };
    const agent = await newAgent(given);
    expect(agent).toMatchObject(given);
    expect(agent.dynamic_variables).toEqual(["name"]);
    expect((await api.get(`/agents/${agent.id}`)).body).toEqual(agent);
  });

  test("shows the addresses of the owner's speech servers and masks their keys", async () => {
    const params = { base_url: "https://speech.example.com/v1", api_key: "sk-abcdefgh-0123" };
    const given = {
      stt: { provider_name: "CUSTOM_STT", model_name: "any model", params },
      tts: { provider_name: "CUSTOM_TTS", voice_id: "any voice", params: { ...params, speed: 1.25 } },
    };
    const agent = await newAgent(given);
    const shown = { base_url: params.base_url, api_key: "********0123" };
    expect(agent.stt).toEqual({ ...given.stt, params: shown });
    expect(agent.tts).toEqual({ ...given.tts, params: { ...shown, speed: 1.25 } });
    expect((await patch(agent.id, { stt: agent.stt, tts: agent.tts })).body).toMatchObject({
      stt: agent.stt,
      tts: agent.tts,
    });
  });

  test("may use the stack's speech stand-in", async () => {
    const params = { base_url: `http://${stack.address("speech")}/v1` };
    const stt = { provider_name: "CUSTOM_STT", model_name: "pocketsphinx", params };
    const tts = { provider_name: "CUSTOM_TTS", voice_id: "slt", params };
    expect(await newAgent({ stt, tts })).toMatchObject({ stt, tts });
  });

  test.each([
    ["stt.params.base_url", { stt: { provider_name: "CUSTOM_STT", model_name: "m", params: {} } }],
    ["tts.params", { tts: { provider_name: "CUSTOM_TTS", voice_id: "v" } }],
    [
      "stt.params.base_url",
      { stt: { provider_name: "DEEPGRAM", model_name: "nova-3", params: { base_url: "https://a.example" } } },
    ],
    [
      "tts.params.base_url",
      { tts: { provider_name: "CUSTOM_TTS", voice_id: "v", params: { base_url: "https://169.254.169.254/v1" } } },
    ],
  ])("refuses %s that does not fit the speech provider", async (path, given) => {
    const { status, body } = await api.post("/agents", { ...MINIMAL, ...given });
    expect([status, body.errors?.[0]?.path]).toEqual([422, path]);
  });

  test.each<[object, string]>([
    [{ llm: { provider_name: "NOBODY", model_name: "m" } }, "llm.provider_name must be one of OPENAI"],
    [{ llm: { provider_name: "OPENAI", model_name: "m" } }, "llm.model_name must be one of"],
    [{ stt: { provider_name: "DEEPGRAM", model_name: "m" } }, "stt.model_name must be one of"],
    [{ tts: { provider_name: "ACME", voice_id: "v" } }, "tts.provider_name must be one of"],
    [{ prompt_content: "x", prompt: { prompt_name: "y" } }, "prompt_content and prompt must not both be given"],
    [{ call_analysis_enabled: true }, "call_analysis_prompt is required when call_analysis_enabled is true"],
    [{ call_analysis_prompt: { prompt_name: "a", custom_prompt: "b" } }, "call_analysis_prompt must have either"],
    [{ call_analysis_schema: { x: { type: "string" } } }, "call_analysis_schema.x.type"],
    [{ llm: { ...CUSTOM, params: { ...CUSTOM.params, base_url: "http://llm.example.com" } } }, "llm.params.base_url"],
    [{ llm: { ...CUSTOM, params: { ...CUSTOM.params, base_url: "https://10.0.0.1/v1" } } }, "llm.params.base_url"],
    [{ llm: { ...CUSTOM, params: { ...CUSTOM.params, api_key: "********0123" } } }, "llm.params.api_key is a mask"],
    [
      { widget_config: { suggested_messages: ["a", "b", "c", "d", "e", "f"] } },
      "widget_config.suggested_messages must have at most 5",
    ],
  ])("refuses %j", async (fields, detail) => {
    const answer = await api.post("/agents", { ...MINIMAL, ...fields });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toStartWith(detail);
  });

  test("with a prompt that does not exist answers 404 naming the field; with an analysis prompt as the main one, 422", async () => {
    const refused = (field: string) => {
      const detail = "Prompt not found";
      return { status: 404, body: { detail, errors: [{ path: field, message: detail }] } };
    };
    const prompt = { prompt_name: "nobody wrote this" };
    expect(await api.post("/agents", { ...MINIMAL, prompt })).toMatchObject(refused("prompt.prompt_name"));
    const { body: agent } = await api.post("/agents", MINIMAL);
    expect(await patch(agent.id, { call_analysis_prompt: prompt })).toMatchObject(
      refused("call_analysis_prompt.prompt_name"),
    );
    await api.post("/prompts", {
      prompt_name: "judge",
      prompt_content: "x",
      prompt_metadata: { prompt_type: "analysis" },
    });
    expect((await api.post("/agents", { ...MINIMAL, prompt: { prompt_name: "judge" } })).status).toBe(422);
    const later = await api.post("/agents", {
      ...MINIMAL,
      call_analysis_prompt: { prompt_name: "judge", prompt_version: 2 },
    });
    expect(later).toMatchObject(refused("call_analysis_prompt.prompt_version"));
  });
});

test("a PATCH that says which agent it is based on is refused once the agent has changed", async () => {
  const agent = await newAgent({ prompt_content: "First." });
  const based = (updatedAt: string, body: object) =>
    patch(`${agent.id}?if_updated_at=${encodeURIComponent(updatedAt)}`, body);
  const first = await based(agent.updated_at, { agent_name: "First to save" });
  expect([first.status, first.body.agent_name]).toEqual([200, "First to save"]);
  const second = await based(agent.updated_at, { prompt_content: "Second." });
  expect(second.status).toBe(409);
  expect(second.body.detail).toContain(`was changed at ${first.body.updated_at}`);
  const unchanged = (await api.get(`/agents/${agent.id}`)).body;
  expect(unchanged.prompt).toMatchObject({ prompt_version: 1, prompt_content: "First." });
  expect((await based(unchanged.updated_at, { prompt_content: "Second." })).status).toBe(200);
  expect((await based("yesterday", {})).status).toBe(422);
});

test("a phone number is moved from one agent to another by one PATCH that says so", async () => {
  const number = "+14155550767";
  const first = await newAgent({ agent_mobile_number: [number] });
  const second = await newAgent();
  const refused = await patch(second.id, { agent_mobile_number: [number] });
  expect(refused.status).toBe(409);
  expect(refused.body.detail).toContain(`${first.id}: take it over with ?move_numbers=true`);
  const moved = await patch(`${second.id}?move_numbers=true`, { agent_mobile_number: [number] });
  expect([moved.status, moved.body.agent_mobile_number]).toEqual([200, [number]]);
  expect((await api.get(`/agents/${first.id}`)).body.agent_mobile_number).toEqual([]);
});

test("an agent's prompt by name follows the latest version, by version stays fixed", async () => {
  await api.post("/prompts", { prompt_name: "shared", prompt_content: "one" });
  const latest = await newAgent({ prompt: { prompt_name: "shared" } });
  const pinned = await newAgent({ prompt: { prompt_name: "shared", prompt_version: 1 } });
  expect([latest.prompt, latest.prompt_pinned, pinned.prompt_pinned]).toEqual([pinned.prompt, false, true]);
  await api.post("/prompts", { prompt_name: "shared", prompt_content: "two {{x}}" });
  expect((await api.get(`/agents/${latest.id}`)).body).toMatchObject({
    prompt: { prompt_name: "shared", prompt_version: 2, prompt_content: "two {{x}}" },
    dynamic_variables: ["x"],
  });
  expect((await api.get(`/agents/${pinned.id}`)).body.prompt).toMatchObject({
    prompt_version: 1,
    prompt_content: "one",
  });
  const follows = await patch(pinned.id, { prompt: { prompt_name: "shared" } });
  expect(follows.body).toMatchObject({ prompt: { prompt_version: 2 }, prompt_pinned: false });
});

test("an agent that follows a label has the version that the label is moved to, and keeps the label from being deleted", async () => {
  await api.post("/prompts", { prompt_name: "labelled", prompt_content: "one" });
  await api.post("/prompts", { prompt_name: "labelled", prompt_content: "two" });
  const label = (prompt_version: number) =>
    api.send("PUT", "/prompts/labelled/labels/production", {
      body: JSON.stringify({ prompt_version }),
      headers: { "content-type": "application/json" },
    });
  await label(1);
  const prompt = { prompt_name: "labelled", prompt_label: "production" };
  const { id, agent_name, ...agent } = await newAgent({ prompt });
  expect([agent.prompt, agent.prompt_pinned]).toEqual([{ ...prompt, prompt_version: 1, prompt_content: "one" }, false]);
  await label(2);
  expect((await api.get(`/agents/${id}`)).body.prompt).toEqual({
    ...prompt,
    prompt_version: 2,
    prompt_content: "two",
  });
  const refused = await api.send("DELETE", "/prompts/labelled/labels/production");
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    `Label production of prompt labelled is used by the agent ${agent_name}: give every agent another label or a version, in published versions too, before deleting it`,
  ]);
  expect((await patch(id, { prompt: { prompt_name: "labelled" } })).body.prompt).not.toHaveProperty("prompt_label");
  expect((await api.send("DELETE", "/prompts/labelled/labels/production")).status).toBe(200);
});

test("a change of an agent whose publishing is manual makes a version that is not published", async () => {
  const agent = await newAgent();
  const { body } = await patch(agent.id, { publishing: "manual", agent_name: "Eva", version_note: "A new name" });
  expect(body).toMatchObject({ agent_name: "Eva", publishing: "manual", latest_version: 2, published_version: 1 });
  const shown = async (version: string | number) => {
    const { status, body } = await api.get(`/agents/${agent.id}?agent_version=${version}`);
    return [status, body.agent_name, body.agent_version];
  };
  expect(await shown("published")).toEqual([200, agent.agent_name, 1]);
  expect(await shown("latest")).toEqual([200, "Eva", 2]);
  expect(await shown(1)).toEqual([200, agent.agent_name, 1]);
  expect((await shown(3))[0]).toBe(404);
  expect((await shown("newest"))[0]).toBe(422);
  const published = await patch(agent.id, { publishing: "auto" });
  expect(published.body).toMatchObject({ agent_name: "Eva", latest_version: 3, published_version: 3 });
});

test("an agent's prompt that an agent no longer uses can be deleted at once", async () => {
  await api.post("/prompts", { prompt_name: "left", prompt_content: "x" });
  const agent = await newAgent({ prompt: { prompt_name: "left" } });
  expect((await api.send("DELETE", "/prompts/left")).status).toBe(409);
  await patch(agent.id, { prompt_content: "own" });
  expect((await api.send("DELETE", "/prompts/left")).status).toBe(200);
});

describe("a model's key", () => {
  const PRICING = { input: 0.4, output: 1.6, cached_input: 0.1 };

  test("is shown masked, and sending the mask back leaves it and the model's price unchanged", async () => {
    const agent = await newAgent({
      llm: { ...CUSTOM, pricing: PRICING, fallbacks: [{ ...CUSTOM, params: { ...CUSTOM.params, api_key: "short" } }] },
    });
    expect(agent.llm.params.api_key).toBe("********0123");
    expect(agent.llm.fallbacks[0].params.api_key).toBe("********");
    expect(agent.llm.pricing).toEqual(PRICING);
    const { status, body } = await patch(agent.id, { llm: { ...agent.llm, model_name: "another" } });
    expect(status).toBe(200);
    expect(body.llm).toEqual({ ...agent.llm, model_name: "another" });
  });
});

test("changing an agent changes given fields, clears null ones, keeps the rest, and updates updated_at", async () => {
  const agent = await newAgent({ agent_description: "old", agent_tips: ["a"], first_message_prompt: "Hi {{name}}" });
  const { body } = await patch(agent.id, { agent_description: null, agent_tips: ["b", "c"] });
  const versions = { agent_version: 2, latest_version: 2, published_version: 2 };
  expect(body).toEqual({ ...agent, agent_description: null, agent_tips: ["b", "c"], updated_at: TIME, ...versions });
  expect(body.updated_at > agent.updated_at).toBe(true);
  const cleared = await patch(agent.id, { first_message_prompt: null, agent_tips: null });
  expect(cleared.body).toMatchObject({ first_message_prompt: null, agent_tips: [], dynamic_variables: [] });
  expect((await patch(agent.id, {})).body.updated_at > cleared.body.updated_at).toBe(true);
});

test("changing an agent cannot clear required fields", async () => {
  const agent = await newAgent();
  expect((await patch(agent.id, { agent_name: null })).status).toBe(422);
  expect((await patch(agent.id, { agent_type: null })).status).toBe(422);
});

test("dynamic variables are listed in reading order with what is known of each", async () => {
  const agent = await newAgent({
    prompt_content: 'Hi {{Customer Name}}, {{order: NUMBER: The order\'s number}}, {{plan | "basic"}}.',
    first_message_prompt: "Hello {{customer_name | friend}}, {{contact_email}}",
  });
  const { body } = await api.get(`/agents/${agent.id}/dynamic-variables`);
  expect(body).toEqual({
    agent_id: agent.id,
    agent_name: "Ada",
    dynamic_variables: [
      { variable_name: "customer_name", required: false, field_type: "STRING", description: "Customer name" },
      { variable_name: "order", required: true, field_type: "NUMBER", description: "The order's number" },
      { variable_name: "plan", required: false, field_type: "STRING", description: "Plan" },
      { variable_name: "contact_email", required: true, field_type: "EMAIL", description: "Contact email" },
    ],
  });
  expect((await api.get(`/agents/${(await newAgent()).id}/dynamic-variables`)).body.dynamic_variables).toEqual([]);
});

describe("listing agents", () => {
  test("newest first, by text, type and category together", async () => {
    const first = await newAgent({ agent_name: "Zebra one", agent_category: "Travel" });
    const second = await newAgent({ agent_name: "Two", agent_description: "a zebra", agent_type: "OUTBOUND" });
    const ids = async (query: string) =>
      (await api.get(`/agents?${query}`)).body.agents.map((agent: { id: string }) => agent.id);
    expect(await ids("search=ZEBRA")).toEqual([second.id, first.id]);
    expect(await ids("search=zebra&agent_type=OUTBOUND")).toEqual([second.id]);
    expect(await ids("search=zebra&agent_category=Travel")).toEqual([first.id]);
    expect(await ids("search=zebra&agent_category=Travel&agent_type=OUTBOUND")).toEqual([]);
    expect(await ids("search=zebra&page_size=1&page=2")).toEqual([first.id]);
    expect((await foreign.get("/agents")).body).toEqual({
      agents: [],
      total: 0,
      page: 1,
      page_size: 10,
      total_pages: 0,
    });
    expect((await api.get("/agents?agent_type=BOTH")).status).toBe(422);
  });
});

test("deleting an agent returns the deleted agent; its conversations stay", async () => {
  const agent = await newAgent({ first_message_prompt: "Hello" });
  const { session_id } = (await api.get(`/agents/${agent.id}/first-message`)).body;
  const { status, body } = await api.send("DELETE", `/agents/${agent.id}`);
  expect(status).toBe(200);
  expect(body).toEqual({ message: expect.any(String), agent_id: agent.id, agent_name: "Ada", deleted_at: TIME });
  expect((await api.get(`/agents/${agent.id}`)).status).toBe(404);
  expect((await api.get(`/conversations/${session_id}`)).status).toBe(200);
  expect((await api.get(`/conversations?agent_id=${agent.id}`)).body.pagination.total).toBe(1);
  expect((await api.get(`/chat/sessions?agent_id=${agent.id}`)).body.total).toBe(1);
});
