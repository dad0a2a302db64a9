import { afterAll, expect, test } from "bun:test";
import { Gender, Voice } from "@parley/proto/parley/agent/v1/agent.ts";
import { eventually } from "@parley/testkit/eventually";
import { countOwnedRows, newOwner } from "@parley/testkit/owners";
import { create, creation, customLlm, inline, read, startTestAgents, update } from "./kit.ts";
import { clientTool, createTool } from "./tools-kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

test("a deleted owner's agents, their versions, keys and publish logs, tools, drafts and voices are deleted, also more than one part; another owner's stay", async () => {
  const { agents, sql } = service;
  const owners = [newOwner(), newOwner()];
  const made = [];
  for (const ownerId of owners) {
    const llm = customLlm("https://models.example/v1", "secret");
    const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
    const agent = await create(agents, creation(ownerId, { llm, prompt: inline("Be brief."), idempotency }));
    await agents.createDraft({ change: update(agent, { agentName: "Other" }) });
    const voice = {
      providerName: "ELEVENLABS",
      voiceId: "v",
      name: "V",
      language: "en",
      gender: Gender.GENDER_FEMALE,
    };
    await agents.addClonedVoice({ ownerId, voice: Voice.fromPartial(voice) });
    await createTool(agents, ownerId, clientTool("show"));
    await sql`insert into claims values (${ownerId}, 'of a process that died', gen_random_uuid(), now() - interval '1 day')`;
    await sql`
      insert into agents select (jsonb_populate_record(agents, jsonb_build_object('agent_id', 'agt_' || number))).*
      from agents, generate_series(1, 250) as number where owner_id = ${ownerId} and agent_id = ${agent.agentId}`;
    made.push(agent);
  }
  const [gone = "", stays = ""] = owners;
  const before = {
    ...{ agent_drafts: 1, agents: 251, claims: 1, cloned_voices: 1, tools: 1 },
    ...{ agent_versions: 1, version_texts: 1, agent_publishes: 1, agent_keys: 1 },
    ...{ idempotency_keys: 1, idempotency_bytes: 1, stored_bytes: 1 },
  };
  expect(await countOwnedRows(sql, gone)).toEqual(before);
  for (const _ of ["once", "once more"]) await agents.forgetOwner({ ownerId: gone });
  await eventually(async () => expect(await countOwnedRows(sql, gone)).toEqual({}));
  expect(await countOwnedRows(sql, stays)).toEqual(before);
  const [, kept] = made;
  if (kept) expect((await read(agents, kept)).agentName).toBe("Front desk");
});
