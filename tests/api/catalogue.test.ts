import { afterAll, describe, expect, test } from "bun:test";
import { Gender } from "@parley/proto/parley/agent/v1/agent.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { createClient } from "@parley/shared/rpc/client";
import type { Answer, Api } from "../kit/api.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createMember } from "../kit/test-owner.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

const problem = ({ status, body }: Answer) => ({ status, ...body });

const stack = await sharedStack();
const api = stack.api(stack.owners[0].apiKey);
const foreign = stack.api(stack.owners[1].apiKey);
afterAll(() => stack.stop());

describe("the catalogue", () => {
  test("of providers lists them by kind, with their models", async () => {
    const { status, body } = await api.get("/providers");
    expect(status).toBe(200);
    expect(body).toEqual({
      llm: expect.any(Object),
      tts: expect.any(Object),
      stt: expect.any(Object),
      timestamp: TIME,
    });
    expect(Object.keys(body.llm).sort()).toEqual([
      "ANTHROPIC",
      "GOOGLE",
      "GROQ",
      "MISTRAL",
      "OPENAI",
      "OPENAI_RESPONSES",
    ]);
    expect(Object.keys(body.tts).sort()).toEqual(["CARTESIA", "DEEPGRAM", "ELEVENLABS", "GOOGLE", "OPENAI"]);
    expect(Object.keys(body.stt).sort()).toEqual(["ASSEMBLYAI", "DEEPGRAM"]);
    expect(body.stt.DEEPGRAM).toContain("nova-3");
  });

  test("of voices has pages of 20 by default, and a wrong size is not clamped", async () => {
    const first = await api.get("/voices?provider=DEEPGRAM");
    expect(first.body).toMatchObject({ page: 1, page_size: 20, has_more: true });
    expect(first.body.voices).toHaveLength(20);
    expect(first.body.voices[0]).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      provider: "DEEPGRAM",
      gender: expect.stringMatching(/^(MALE|FEMALE|NEUTRAL)$/),
      language: expect.any(String),
      preview_url: expect.stringMatching(/^https:/),
    });
    const all = (await api.get("/voices?provider=OPENAI")).body.total_count;
    expect((await api.get(`/voices?provider=OPENAI&page_size=${all}`)).body.has_more).toBe(false);
    const pages = Math.ceil(first.body.total_count / 100);
    const last = await api.get(`/voices?provider=DEEPGRAM&page_size=100&page=${pages}`);
    expect(last.body.has_more).toBe(false);
    expect(last.body.voices).toHaveLength(first.body.total_count - 100 * (pages - 1));
    expect((await api.get(`/voices?provider=DEEPGRAM&page=${pages * 5 + 1}`)).body).toMatchObject({
      voices: [],
      has_more: false,
    });
    for (const query of [
      "",
      "?provider=deepgram",
      "?provider=DEEPGRAM&page_size=101",
      "?provider=OPENAI&gender=male",
    ]) {
      expect((await api.get(`/voices${query}`)).status).toBe(422);
    }
  });

  test("of voices can be filtered by language, gender, name, model and ownership together", async () => {
    const agents = createClient(AgentServiceService, { peer: "agent", address: stack.address("agent") });
    const voice = { providerName: "ELEVENLABS", language: "fr-CA", previewUrl: undefined };
    const ownerId = stack.owners[0].ownerId;
    await agents.addClonedVoice({
      ownerId,
      voice: { ...voice, voiceId: "mine", name: "Aunt Zoë", gender: Gender.GENDER_FEMALE },
    });
    agents.close();
    const found = async (as: Api, query: string): Promise<string[]> =>
      (await as.get(`/voices?provider=ELEVENLABS&page_size=100&${query}`)).body.voices.map(
        ({ id }: { id: string }) => id,
      );
    const model = "model=eleven_multilingual_v2";
    expect(await found(api, "cloned_only=true")).toEqual(["mine"]);
    expect(await found(foreign, "cloned_only=true")).toEqual([]);
    expect((await found(api, "cloned_only=false"))[0]).toBe("mine");
    expect(await found(foreign, "")).not.toContain("mine");
    expect(await found(api, `language=fr&gender=FEMALE&search=ZO%C3%8B&${model}`)).toEqual(["mine"]);
    for (const other of ["gender=MALE", "language=en", "search=uncle"])
      expect(await found(api, other)).not.toContain("mine");
    expect((await api.get("/voices?provider=ELEVENLABS&model=tts-1")).status).toBe(422);
  });
});

test("cloned voices are added, listed among an agent's voices, and removed", async () => {
  const { manage, apiKey } = await createMember(stack);
  const voice = { name: "Ours", provider: "ELEVENLABS", gender: "FEMALE", language: "en-US", preview_url: null };
  const added = await manage.post("/cloned-voices", { ...voice, voice_id: "a/b" });
  expect(problem(added)).toEqual({ status: 200, id: "a/b", ...voice });
  const page = { total_count: 1, page: 1, page_size: 10, has_more: false };
  expect((await manage.get("/cloned-voices?provider=ELEVENLABS")).body).toEqual({ voices: [added.body], ...page });
  expect((await manage.get("/cloned-voices?provider=OPENAI")).body.voices).toEqual([]);
  const found = await stack.api(apiKey).get("/voices?provider=ELEVENLABS&cloned_only=true");
  expect(found.body.voices).toEqual([added.body]);
  expect(problem(await manage.post("/cloned-voices", { ...voice, voice_id: "a/b" }))).toMatchObject({ status: 409 });
  const remove = (path: string) => manage.send("DELETE", `/cloned-voices/${path}`);
  const gone = { status: 404, detail: "Voice not found" };
  expect(problem(await remove("NOBODY/a%2Fb"))).toEqual(gone);
  expect((await remove("ELEVENLABS/a%2Fb")).body).toEqual({ message: "Voice removed" });
  expect(problem(await remove("ELEVENLABS/a%2Fb"))).toEqual(gone);
});
