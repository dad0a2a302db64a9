import { afterAll, describe, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  ANALYSIS,
  byName,
  byNames,
  creation,
  deletion,
  MAIN,
  newAgent,
  startTestService,
  UNSPECIFIED,
  update,
  withContent,
} from "./harness.ts";

const service = await startTestService();
const client = service.client;

afterAll(() => service.stop());

const notFound = (field: string) => ({ kind: "not_found", detail: "Prompt not found", paths: [field] });

async function exists(ownerId: string, promptName: string): Promise<boolean> {
  const { results } = await client.batchGetPrompts({
    items: [{ ownerId, reference: { promptName } }],
    forPage: false,
  });
  return results[0]?.prompt !== undefined;
}

describe("acquiring by reference", () => {
  test("returns the current prompt of each reference, in order", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    await client.updatePrompt(update(owner, "greeting", "Say hi."));
    await client.createPrompt(creation(owner, { promptName: "sums up", promptType: ANALYSIS }));
    const { acquired } = await client.acquirePrompts({
      ...newAgent(owner),
      uses: [byName("sums up", undefined, ANALYSIS), byName("greeting"), byName("greeting", 1)],
    });
    expect(acquired).toMatchObject([
      { reference: { promptName: "sums up" }, prompt: { promptName: "sums up", promptType: ANALYSIS } },
      { reference: { promptName: "greeting" }, prompt: { promptVersion: 2, promptContent: "Say hi." } },
      { reference: { promptName: "greeting", promptVersion: 1 }, prompt: { promptContent: "Say hello." } },
    ]);
    expect(acquired[1]?.reference?.promptVersion).toBeUndefined();
  });

  test("keeps the references that the agent already has, also when they are acquired again", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    await client.createPrompt(creation(owner, { promptName: "a" }));
    await client.createPrompt(creation(owner, { promptName: "b" }));
    await client.acquirePrompts({ ...agent, uses: [byName("a")] });
    await client.acquirePrompts({ ...agent, uses: [byName("b")] });
    await client.acquirePrompts({ ...agent, uses: [byName("b")] });
    for (const name of ["a", "b"]) {
      expect(await failure(client.deletePrompt(deletion(owner, name)))).toMatchObject({ kind: "conflict" });
    }
  });

  test("acquires and writes nothing when one use fails", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    await client.createPrompt(creation(owner));
    const uses = [byName("greeting"), withContent("Be brief."), byName("nobody's", undefined, ANALYSIS)];
    expect(await failure(client.acquirePrompts({ ...agent, uses }))).toEqual(
      notFound("call_analysis_prompt.prompt_name"),
    );
    expect(await exists(owner, `agent-${agent.agentId}`)).toBe(false);
    expect((await client.deletePrompt(deletion(owner, "greeting"))).versionsDeleted).toBe(1);
  });

  test("an unknown version, an impossible name and another owner's prompt are not found, and the error names the field", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    const acquire = (ownerId: string, name: string, version?: number) =>
      failure(client.acquirePrompts({ ...newAgent(ownerId), uses: [byName(name, version)] }));
    expect(await acquire(owner, "greeting", 2)).toEqual(notFound("prompt.prompt_version"));
    expect(await acquire(owner, "nul\0")).toEqual(notFound("prompt.prompt_name"));
    expect(await acquire(newOwner(), "greeting")).toEqual(notFound("prompt.prompt_name"));
  });

  test("refuses a prompt of the other type, naming the agent's field", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    await client.createPrompt(creation(owner, { promptName: "sums up", promptType: ANALYSIS }));
    expect(await failure(client.acquirePrompts({ ...newAgent(owner), uses: [byName("sums up")] }))).toEqual({
      kind: "invalid",
      detail: "prompt sums up is an analysis prompt. Choose one of type main as an agent's main prompt.",
      paths: ["prompt.prompt_name"],
    });
    const analysis = [byName("greeting", undefined, ANALYSIS)];
    expect(await failure(client.acquirePrompts({ ...newAgent(owner), uses: analysis }))).toEqual({
      kind: "invalid",
      detail:
        "call_analysis_prompt greeting is a main prompt. Choose one of type analysis as an agent's analysis prompt.",
      paths: ["call_analysis_prompt.prompt_name"],
    });
  });

  test.each([
    [byName("greeting", 0), "prompt.prompt_version must be at least 1"],
    [byName("greeting", -1, ANALYSIS), "call_analysis_prompt.prompt_version must be at least 1"],
    [withContent(""), "prompt_content must be at least 1 character"],
    [withContent("", ANALYSIS), "call_analysis_prompt.custom_prompt must be at least 1 character"],
    [{ promptType: MAIN, source: undefined }, "prompt must name a prompt or have content"],
    [byName("greeting", 1, UNSPECIFIED), "prompt_type must be main or analysis"],
  ])("the use %j is refused with the reason", async (use, detail) => {
    const refused = await failure(client.acquirePrompts({ ...newAgent(newOwner()), uses: [use] }));
    expect(refused).toMatchObject({ kind: "invalid", detail });
  });
});

describe("acquiring by content", () => {
  test("creates versions of the agent's internal prompts, referenced without a version", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    const { acquired } = await client.acquirePrompts({
      ...agent,
      uses: [withContent("Be brief."), withContent("Was it brief?", ANALYSIS)],
    });
    expect(acquired).toMatchObject([
      {
        reference: { promptName: `agent-${agent.agentId}` },
        prompt: {
          promptName: `agent-${agent.agentId}`,
          promptVersion: 1,
          promptContent: "Be brief.",
          promptType: MAIN,
        },
      },
      {
        reference: { promptName: `agent-${agent.agentId}-analysis` },
        prompt: { promptVersion: 1, promptContent: "Was it brief?", promptType: ANALYSIS },
      },
    ]);
    expect(acquired[0]?.reference?.promptVersion).toBeUndefined();
    const again = await client.acquirePrompts({ ...agent, uses: [withContent("Be briefer.")] });
    expect(again.acquired[0]?.prompt).toMatchObject({ promptVersion: 2, promptContent: "Be briefer." });
  });

  test("an internal prompt in use cannot be deleted, and is visible in the prompts API", async () => {
    const owner = newOwner();
    const agent = newAgent(owner, "Anna");
    await client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    const { prompts } = await client.listPrompts({ ownerId: owner, search: "", latestOnly: true, page: undefined });
    expect(prompts.map((prompt) => prompt.promptName)).toEqual([`agent-${agent.agentId}`]);
    expect(await failure(client.deletePrompt(deletion(owner, `agent-${agent.agentId}`)))).toMatchObject({
      kind: "conflict",
      detail: expect.stringContaining("the agent Anna:"),
    });
  });

  test("a prompt that a user created under the internal name gets the version and outlives the agent", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    const promptName = `agent-${agent.agentId}`;
    await client.createPrompt(creation(owner, { promptName }));
    const { acquired } = await client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    expect(acquired[0]?.prompt).toMatchObject({ promptName, promptVersion: 2 });
    await client.setPromptReferences({ ...agent, references: [], agentGone: true });
    expect(await exists(owner, promptName)).toBe(true);
  });

  test("a prompt that a user created under the internal name with the other type is a conflict that says what to do", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    const promptName = `agent-${agent.agentId}-analysis`;
    await client.createPrompt(creation(owner, { promptName, promptType: MAIN }));
    expect(await failure(client.acquirePrompts({ ...agent, uses: [withContent("Sum up.", ANALYSIS)] }))).toEqual({
      kind: "conflict",
      detail: `Prompt ${promptName} exists and is a main prompt: delete it so that the agent's own prompt can be created`,
      paths: [],
    });
  });
});

describe("setting the references", () => {
  test("makes the agent use exactly these prompts, and keeps its internal prompt for later", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    for (const promptName of ["a", "b", "c"]) await client.createPrompt(creation(owner, { promptName }));
    await client.acquirePrompts({ ...agent, uses: [byName("a"), byName("b"), withContent("Be brief.")] });
    for (const _ of ["once", "again"])
      await client.setPromptReferences({ ...agent, references: byNames(["b", "c"]), agentGone: false });
    expect((await client.deletePrompt(deletion(owner, "a"))).versionsDeleted).toBe(1);
    expect(await failure(client.deletePrompt(deletion(owner, "b")))).toMatchObject({ kind: "conflict" });
    expect(await failure(client.deletePrompt(deletion(owner, "c")))).toMatchObject({ kind: "conflict" });
    expect(await exists(owner, `agent-${agent.agentId}`)).toBe(true);
  });

  test("to none keeps the agent's internal prompt, which can then be deleted", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    const promptName = `agent-${agent.agentId}`;
    await client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    await client.setPromptReferences({ ...agent, references: [], agentGone: false });
    expect(await exists(owner, promptName)).toBe(true);
    expect((await client.deletePrompt(deletion(owner, promptName))).versionsDeleted).toBe(1);
  });

  test("of a deleted agent deletes its internal prompts, and only those", async () => {
    const owner = newOwner();
    const [agent, other] = [newAgent(owner), newAgent(owner)];
    const uses = [withContent("Be brief."), withContent("Was it?", ANALYSIS)];
    await client.acquirePrompts({ ...agent, uses });
    await client.acquirePrompts({ ...other, uses });
    for (const _ of ["once", "again"])
      await client.setPromptReferences({ ...agent, agentName: "", references: [], agentGone: true });
    const { prompts } = await client.listPrompts({ ownerId: owner, search: "", latestOnly: true, page: undefined });
    expect(prompts.map((prompt) => prompt.promptName).sort()).toEqual([
      `agent-${other.agentId}`,
      `agent-${other.agentId}-analysis`,
    ]);
  });

  test("an internal prompt that another agent uses outlives its agent and becomes an ordinary prompt", async () => {
    const owner = newOwner();
    const [agent, other] = [newAgent(owner), newAgent(owner)];
    const promptName = `agent-${agent.agentId}`;
    await client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    await client.acquirePrompts({ ...other, uses: [byName(promptName)] });
    await client.setPromptReferences({ ...agent, references: [], agentGone: true });
    expect(await exists(owner, promptName)).toBe(true);
    await client.setPromptReferences({ ...other, references: [], agentGone: true });
    await client.setPromptReferences({ ...agent, references: [], agentGone: true });
    expect(await exists(owner, promptName)).toBe(true);
    expect((await client.deletePrompt(deletion(owner, promptName))).versionsDeleted).toBe(1);
  });

  test("a refused deletion names a renamed agent by its new name", async () => {
    const owner = newOwner();
    const agent = newAgent(owner, "Anna");
    await client.createPrompt(creation(owner));
    await client.acquirePrompts({ ...agent, uses: [byName("greeting")] });
    await client.setPromptReferences({
      ...agent,
      agentName: "Berta",
      references: byNames(["greeting"]),
      agentGone: false,
    });
    const { detail } = await failure(client.deletePrompt(deletion(owner, "greeting")));
    expect(detail).toContain("the agent Berta:");
  });

  test("unknown prompt names are skipped, so that settling always ends", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    await client.createPrompt(creation(owner));
    await client.setPromptReferences({
      ...agent,
      references: byNames(["greeting", "nobody's", "nul\0"]),
      agentGone: false,
    });
    expect(await failure(client.deletePrompt(deletion(owner, "greeting")))).toMatchObject({ kind: "conflict" });
  });

  test("another owner's references and prompts cannot be reached", async () => {
    const owner = newOwner();
    const agent = newAgent(owner);
    await client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    await client.setPromptReferences({ ...agent, ownerId: newOwner(), references: [], agentGone: false });
    expect(await failure(client.deletePrompt(deletion(owner, `agent-${agent.agentId}`)))).toMatchObject({
      kind: "conflict",
    });
  });
});

describe("reading a batch", () => {
  test("returns one result per item in order: latest, pinned, repeated, unknown, impossible, another owner's", async () => {
    const [owner, other] = [newOwner(), newOwner()];
    await client.createPrompt(creation(owner));
    await client.updatePrompt(update(owner, "greeting", "Say hi."));
    await client.createPrompt(creation(other, { promptContent: "Say ciao." }));
    const item = (ownerId: string, promptName: string, promptVersion?: number) => ({
      ownerId,
      reference: { promptName, promptVersion },
    });
    const { results } = await client.batchGetPrompts({
      forPage: false,
      items: [
        item(owner, "greeting"),
        item(owner, "greeting", 1),
        item(other, "greeting"),
        item(owner, "nobody's"),
        item(owner, "greeting", 3),
        item(owner, "nul\0"),
        item(other, "greeting", 2),
        item(owner, "greeting"),
        { ownerId: owner, reference: undefined },
      ],
    });
    expect(results.map(({ prompt }) => prompt?.promptContent ?? null)).toEqual([
      "Say hi.",
      "Say hello.",
      "Say ciao.",
      null,
      null,
      null,
      null,
      "Say hi.",
      null,
    ]);
    expect(results[0]?.prompt).toEqual({
      promptName: "greeting",
      promptVersion: 2,
      promptContent: "Say hi.",
      promptType: MAIN,
      createdAt: undefined,
      updatedAt: undefined,
      labels: [],
    });
  });

  test("an empty batch has an empty answer", async () => {
    expect(await client.batchGetPrompts({ items: [], forPage: false })).toEqual({ results: [] });
  });
});

describe("changes of one agent's references that arrive out of order", () => {
  const settled = (agent: ReturnType<typeof newAgent>, promptNames: string[], revision: number, agentGone = false) =>
    client.setPromptReferences({ ...agent, references: byNames(promptNames), agentGone, revision });
  const overtaken = { kind: "unavailable", detail: "The agent's prompts were changed by another request. Try again." };

  test("an older one changes nothing: the prompt in use stays in use", async () => {
    const agent = newAgent(newOwner());
    for (const promptName of ["a", "b"]) await client.createPrompt(creation(agent.ownerId, { promptName }));
    await client.acquirePrompts({ ...agent, uses: [byName("a")], revision: 2 });
    expect(await failure(settled(agent, [], 1))).toMatchObject(overtaken);
    expect(await failure(client.acquirePrompts({ ...agent, uses: [byName("b")], revision: 1 }))).toMatchObject(
      overtaken,
    );
    expect(await failure(client.deletePrompt(deletion(agent.ownerId, "a")))).toMatchObject({ kind: "conflict" });
    await client.deletePrompt(deletion(agent.ownerId, "b"));
    // Repeats and newer revisions are accepted; another owner's agent has its own revisions.
    for (const revision of [2, 2, 3]) await settled(agent, ["a"], revision);
    await settled({ ...agent, ownerId: newOwner() }, [], 1);
  });

  test("none restores the references of a deleted agent within a day, nor while the clock is in doubt", async () => {
    const agent = newAgent(newOwner());
    await client.createPrompt(creation(agent.ownerId));
    await settled(agent, ["greeting"], 1);
    await settled(agent, [], 2, true);
    expect(await failure(settled(agent, ["greeting"], 1))).toMatchObject(overtaken);
    await client.deletePrompt(deletion(agent.ownerId, "greeting"));
    service.clock.advance(24 * 60 * 60_000 + 1);
    service.clock.contradict(24 * 60 * 60_000 + 1);
    await settled(newAgent(agent.ownerId), [], 1, true);
    expect(await failure(settled(agent, [], 1))).toMatchObject(overtaken);
    service.clock.contradict(0);
    await settled(newAgent(agent.ownerId), [], 1, true);
    const sql = openDatabase({ url: service.database.urls.prompt, max: 1, name: "test" });
    expect(await sql`select 1 from reference_revisions where agent_id = ${agent.agentId}`).toHaveLength(0);
    await sql.end();
  });
});

test("the versions of a prompt come with the owner's agents that use it, by name, if the request asks for them", async () => {
  const owner = newOwner();
  await client.createPrompt(creation(owner));
  const [second, first] = [newAgent(owner), newAgent(owner)];
  await client.acquirePrompts({ ...second, agentName: "Second", uses: [byName("greeting")] });
  await client.acquirePrompts({ ...first, agentName: "First", uses: [byName("greeting", 1)] });
  const key = { ownerId: owner, promptName: "greeting" };
  expect(await client.listPromptVersions(key)).toMatchObject({ usedBy: [], usedByTotal: 0 });
  const { usedBy, usedByTotal } = await client.listPromptVersions({ ...key, includeUsedBy: true });
  expect({ usedBy, usedByTotal }).toEqual({
    usedBy: [
      { agentId: first.agentId, agentName: "First", promptLabels: [] },
      { agentId: second.agentId, agentName: "Second", promptLabels: [] },
    ],
    usedByTotal: 2,
  });
});
