import { afterAll, expect, test } from "bun:test";
import { AgentKnowledge, KnowledgeMode } from "@parley/proto/parley/agent/v1/agent.ts";
import { KnowledgeServiceService, ResolvedBase } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { newId } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { change, create, creation, read, runtimes, startTestAgents, update } from "./kit.ts";

const { KNOWLEDGE_MODE_TOOL: TOOL, KNOWLEDGE_MODE_PROMPT: PROMPT } = KnowledgeMode;
const FOREIGN = newId("kb");
/** The characters of the bases that there are, by id. */
const bases = new Map<string, number>();
let asked = 0;

const knowledge = await serve(
  KnowledgeServiceService,
  {
    resolveKnowledgeBases: async ({ knowledgeBaseIds, withCharacters }) => {
      asked++;
      return {
        results: knowledgeBaseIds.map((knowledgeBaseId) => {
          const characters = withCharacters ? (bases.get(knowledgeBaseId) ?? 0) : 0;
          const base = ResolvedBase.fromPartial({ knowledgeBaseId, characters });
          return {
            knowledgeBase: bases.has(knowledgeBaseId) ? base : undefined,
            isForeign: knowledgeBaseId === FOREIGN,
          };
        }),
      };
    },
  },
  { address: "127.0.0.1:0", log: silentLogger },
);
const service = await startTestAgents({ PARLEY_KNOWLEDGE_ADDRESS: knowledge.address });
afterAll(async () => {
  await service.stop();
  await knowledge.stop();
});

function newBase(characters = 100): string {
  const id = newId("kb");
  bases.set(id, characters);
  return id;
}

function use(knowledgeBaseId: string, given: Partial<AgentKnowledge> = {}): AgentKnowledge {
  const defaults = { mode: TOOL, maxChunks: 6, maxCharacters: 8_000 };
  return AgentKnowledge.fromPartial({ knowledgeBaseId, ...defaults, ...given });
}

test("an agent and its drafts keep the knowledge bases that conversations answer from, until they are taken out", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const [first, second] = [newBase(), newBase()];
  const agent = await create(agents, creation(ownerId, { knowledge: [use(first), use(second, { minScore: 0.5 })] }));
  expect((await read(agents, agent)).knowledge).toEqual([use(first), use(second, { minScore: 0.5 })]);
  const runtime = async () => {
    const keys = [{ ownerId, agentId: agent.agentId }];
    return (await runtimes(agents, keys)).results[0]?.runtime?.knowledge;
  };
  expect(await runtime()).toEqual([use(first), use(second, { minScore: 0.5 })]);
  const used = (knowledgeBaseId: string) => agents.listKnowledgeBaseUsers({ ownerId, knowledgeBaseId });
  expect(await used(first)).toEqual({ agentNames: [agent.agentName], total: 1 });
  const { draftId } = await agents.createDraft({
    change: update(agent, { knowledge: { values: [use(first, { mode: PROMPT })] } }),
  });
  const draft = await agents.getDraftRuntime({ ownerId, agentId: agent.agentId, draftId });
  expect(draft.runtime?.knowledge).toEqual([use(first, { mode: PROMPT })]);
  await change(agents, agent, { clear: ["knowledge"] });
  expect([await runtime(), (await used(first)).total]).toEqual([[], 0]);
});

test("an agent is refused knowledge bases that do not exist, stand twice, are another owner's, or do not fit", async () => {
  const { agents } = service;
  const agent = await create(agents, creation(newOwner()));
  const refusal = (...values: AgentKnowledge[]) => failure(change(agents, agent, { knowledge: { values } }));
  const invalidAt = (path: string) => ({ kind: "invalid", paths: [path] });
  const [short, long] = [newBase(20_000), newBase(20_001)];
  expect(await refusal(use(short), use(newId("kb")))).toMatchObject(invalidAt("knowledge.1.knowledge_base_id"));
  expect(await refusal(use(short), use(short))).toMatchObject(invalidAt("knowledge.1.knowledge_base_id"));
  expect(await refusal(use(FOREIGN))).toMatchObject({
    kind: "forbidden",
    detail: "You do not have access to this knowledge base",
  });
  expect(await refusal(...Array.from({ length: 6 }, () => use(newBase())))).toMatchObject(invalidAt("knowledge"));
  expect(await refusal(use(short, { mode: 0 }))).toMatchObject(invalidAt("knowledge.0.mode"));
  expect(await refusal(use(short, { maxChunks: 51 }))).toMatchObject(invalidAt("knowledge.0.max_chunks"));
  expect(await refusal(use(short, { maxCharacters: 1 }))).toMatchObject(invalidAt("knowledge.0.max_characters"));
  expect(await refusal(use(short, { minScore: 1.5 }))).toMatchObject(invalidAt("knowledge.0.min_score"));
  expect(await refusal(use(short, { mode: PROMPT }), use(long, { mode: PROMPT }))).toMatchObject({
    ...invalidAt("knowledge"),
    detail: expect.stringContaining("40001 characters together"),
  });
  await change(agents, agent, { knowledge: { values: [use(short, { mode: PROMPT }), use(long)] } });
});

test("changes that do not name knowledge bases ask nothing about them", async () => {
  const { agents } = service;
  const agent = await create(agents, creation(newOwner()));
  await change(agents, agent, { knowledge: { values: [use(newBase())] } });
  const before = asked;
  await change(agents, agent, { agentCategory: "Sales" });
  expect(asked).toBe(before);
});
