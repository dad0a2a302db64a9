import { afterAll, describe, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { byLabel, byName, creation, deletion, newAgent, startTestService, update, withContent } from "./harness.ts";

const service = await startTestService();
const client = service.client;

afterAll(() => service.stop());

const NAME = "greeting";

/** An owner with a prompt in two versions. */
async function ownerOfTwo(): Promise<string> {
  const owner = newOwner();
  await client.createPrompt(creation(owner, { promptContent: "Hello {{name}}.\n" }));
  await client.updatePrompt(update(owner, NAME, "Hello {{first name}} {{name}}.\n"));
  return owner;
}

function setting(ownerId: string, label: string, promptVersion: number) {
  return { ownerId, promptName: NAME, label, promptVersion, idempotency: undefined };
}

function labelled(ownerId: string, promptLabel: string) {
  return client.getPrompt({ ownerId, reference: { promptName: NAME, promptLabel } });
}

describe("labels", () => {
  test("a label names the version it was set to last, whose objects show it", async () => {
    const owner = await ownerOfTwo();
    await client.setPromptLabel(setting(owner, "production", 2));
    service.clock.advance(1);
    const { label } = await client.setPromptLabel(setting(owner, "production", 1));
    expect(label).toEqual({ label: "production", promptVersion: 1, updatedAt: service.clock.now() });
    await client.setPromptLabel(setting(owner, "a", 1));
    expect((await labelled(owner, "production")).prompt).toMatchObject({
      promptVersion: 1,
      labels: ["a", "production"],
    });
    const { versions } = await client.listPromptVersions({ ownerId: owner, promptName: NAME });
    expect(versions.map(({ labels }) => labels)).toEqual([[], ["a", "production"]]);
    for (const search of ["", "hello"]) {
      const listed = await client.listPrompts({ ownerId: owner, search, latestOnly: false, page: undefined });
      expect(listed.prompts.map(({ labels }) => labels)).toEqual([[], ["a", "production"]]);
    }
  });

  test("setting a label to the version that has it changes nothing", async () => {
    const owner = await ownerOfTwo();
    const { label } = await client.setPromptLabel(setting(owner, "production", 1));
    service.clock.advance(1);
    expect((await client.setPromptLabel(setting(owner, "production", 1))).label).toEqual(label);
  });

  test("latest is the newest version's name and can be read but not set", async () => {
    const owner = await ownerOfTwo();
    expect((await labelled(owner, "latest")).prompt?.promptVersion).toBe(2);
    expect(await failure(client.setPromptLabel(setting(owner, "latest", 1)))).toEqual({
      kind: "invalid",
      detail: "label must not be latest, which is always the newest version: choose another name",
      paths: ["label"],
    });
  });

  test.each(["", "a".repeat(65), "two words", "ä", "nul\0"])(
    "the label %j is refused with the reason",
    async (label) => {
      expect(await failure(client.setPromptLabel(setting(await ownerOfTwo(), label, 1)))).toEqual({
        kind: "invalid",
        detail: "label must be 1 to 64 letters of A to Z, digits, hyphens or underscores",
        paths: ["label"],
      });
    },
  );

  test("a label of an unknown version, an unknown prompt or another owner's prompt is not found", async () => {
    const owner = await ownerOfTwo();
    expect(await failure(client.setPromptLabel(setting(owner, "production", 3)))).toEqual({
      kind: "not_found",
      detail: "Version not found",
      paths: ["prompt_version"],
    });
    for (const [ownerId, promptName] of [
      [owner, "nobody's"],
      [newOwner(), NAME],
    ] as const) {
      const unknown = client.setPromptLabel({ ...setting(ownerId, "production", 1), promptName });
      expect(await failure(unknown)).toEqual({ kind: "not_found", detail: "Prompt not found", paths: [] });
    }
  });

  test("the hundred and first label of a prompt is refused, and one of the others can still be moved", async () => {
    const owner = await ownerOfTwo();
    for (let at = 0; at < 100; at++) await client.setPromptLabel(setting(owner, `label-${at}`, 1));
    expect(await failure(client.setPromptLabel(setting(owner, "production", 1)))).toMatchObject({
      kind: "conflict",
      detail: "A prompt has at most 100 labels: delete one of greeting first",
    });
    await client.setPromptLabel(setting(owner, "label-7", 2));
  });

  test("a deleted label is not found, and its prompt can be deleted", async () => {
    const owner = await ownerOfTwo();
    const key = { ownerId: owner, promptName: NAME, label: "production", idempotency: undefined };
    const missing = { kind: "not_found", detail: "Label not found", paths: [] };
    for (const label of ["production", "latest", "nul\0"]) {
      expect(await failure(client.deletePromptLabel({ ...key, label }))).toEqual(missing);
    }
    await client.setPromptLabel(setting(owner, "production", 1));
    await client.setPromptLabel(setting(owner, "staging", 1));
    expect(await failure(client.deletePromptLabel({ ...key, ownerId: newOwner() }))).toMatchObject({
      kind: "not_found",
    });
    await client.deletePromptLabel(key);
    expect(await failure(labelled(owner, "production"))).toEqual({ ...missing, paths: ["label"] });
    expect((await client.deletePrompt(deletion(owner, NAME))).versionsDeleted).toBe(2);
  });
});

describe("agents that follow labels", () => {
  const inUse = (what: string) => ({ kind: "conflict", detail: expect.stringContaining(what) });

  test("an agent's reference by label acquires the version that has it", async () => {
    const owner = await ownerOfTwo();
    await client.setPromptLabel(setting(owner, "production", 1));
    const { acquired } = await client.acquirePrompts({ ...newAgent(owner), uses: [byLabel(NAME, "production")] });
    expect(acquired).toMatchObject([
      { reference: { promptName: NAME, promptLabel: "production" }, prompt: { promptVersion: 1 } },
    ]);
    const references = [
      { promptName: NAME, promptLabel: "production" },
      { promptName: NAME, promptLabel: "latest" },
    ];
    const { results } = await client.batchGetPrompts({
      items: [...references, { promptName: NAME, promptLabel: "staging" }].map((reference) => ({
        ownerId: owner,
        reference,
      })),
      forPage: false,
    });
    expect(results.map(({ prompt }) => prompt?.promptVersion)).toEqual([1, 2, undefined]);
  });

  test("a reference by latest is one without a label", async () => {
    const owner = await ownerOfTwo();
    const { acquired } = await client.acquirePrompts({ ...newAgent(owner), uses: [byLabel(NAME, "latest")] });
    expect(acquired[0]).toMatchObject({ prompt: { promptVersion: 2 } });
    expect(acquired[0]?.reference).toEqual({ promptName: NAME });
  });

  test("a reference by a label that no version has, or by label and version, is refused at its field", async () => {
    const owner = await ownerOfTwo();
    const acquire = (label: string, version?: number) =>
      failure(client.acquirePrompts({ ...newAgent(owner), uses: [byLabel(NAME, label, version)] }));
    expect(await acquire("production")).toEqual({
      kind: "not_found",
      detail: "Label not found",
      paths: ["prompt.prompt_label"],
    });
    expect(await acquire("production", 1)).toEqual({
      kind: "invalid",
      detail: "prompt.prompt_label must not be given with prompt.prompt_version: send one of them",
      paths: ["prompt.prompt_label"],
    });
    expect(await acquire("two words")).toMatchObject({ kind: "invalid", paths: ["prompt.prompt_label"] });
  });

  test("a label or a prompt that an agent follows cannot be deleted, and the refusal names agents and labels", async () => {
    const owner = await ownerOfTwo();
    for (const label of ["production", "staging"]) await client.setPromptLabel(setting(owner, label, 1));
    const [anna, berta] = [newAgent(owner, "Anna"), newAgent(owner, "Berta")];
    await client.acquirePrompts({ ...anna, uses: [byLabel(NAME, "production")] });
    await client.acquirePrompts({ ...berta, uses: [byName(NAME)] });
    const key = { ownerId: owner, promptName: NAME, label: "production", idempotency: undefined };
    expect(await failure(client.deletePromptLabel(key))).toMatchObject(
      inUse("Label production of prompt greeting is used by the agent Anna: "),
    );
    expect(await failure(client.deletePrompt(deletion(owner, NAME)))).toMatchObject(
      inUse("Prompt greeting is used by the agents Anna (label production), Berta: "),
    );
    await client.deletePromptLabel({ ...key, label: "staging" });
  });

  test("a label stays in use until no version of the agent follows it, published ones included", async () => {
    const owner = await ownerOfTwo();
    for (const label of ["production", "staging"]) await client.setPromptLabel(setting(owner, label, 1));
    const agent = newAgent(owner, "Anna");
    await client.acquirePrompts({ ...agent, uses: [byLabel(NAME, "production")] });
    await client.acquirePrompts({ ...agent, uses: [byLabel(NAME, "staging")] });
    const follow = (...labels: string[]) =>
      client.setPromptReferences({
        ...agent,
        references: labels.map((promptLabel) => ({ promptName: NAME, promptLabel })),
        agentGone: false,
      });
    const remove = (label: string) =>
      failure(client.deletePromptLabel({ ownerId: owner, promptName: NAME, label, idempotency: undefined }));
    await follow("production", "staging", "staging");
    expect(await remove("production")).toMatchObject({ kind: "conflict" });
    const { usedBy } = await client.listPromptVersions({ ownerId: owner, promptName: NAME, includeUsedBy: true });
    expect(usedBy).toMatchObject([{ agentName: "Anna", promptLabels: ["production", "staging"] }]);
    await follow("staging", "no label", "latest");
    await client.deletePromptLabel({ ownerId: owner, promptName: NAME, label: "production", idempotency: undefined });
    expect(await remove("staging")).toMatchObject({ kind: "conflict" });
  });
});

describe("agents that follow a prompt", () => {
  /** The prompts of an owner that agents were told to follow since the last call. */
  const followedBy = (ownerId: string) => {
    const own = service.agents.followed.filter((each) => each.ownerId === ownerId);
    service.agents.followed = [];
    return own.map(({ promptName }) => promptName);
  };

  const jobsOf = async (ownerId: string) => {
    const sql = openDatabase({ url: service.database.urls.prompt, max: 1, name: "test" });
    const jobs = await sql`select from jobs where owner_id = ${ownerId}`;
    await sql.end();
    return jobs;
  };

  test("agents are told to follow a new, updated or restored version and a moved label before the change is answered", async () => {
    const owner = await ownerOfTwo();
    await client.setPromptLabel(setting(owner, "production", 1));
    await client.acquirePrompts({ ...newAgent(owner), uses: [byLabel(NAME, "production")] });
    expect(followedBy(owner)).toEqual([]);
    const changes = [
      () => client.createPrompt(creation(owner)),
      () => client.updatePrompt(update(owner, NAME, "Hi.")),
      () => client.restorePromptVersion({ ownerId: owner, promptName: NAME, promptVersion: 1, idempotency: undefined }),
      () => client.setPromptLabel(setting(owner, "production", 2)),
    ];
    for (const change of changes) {
      await change();
      expect(followedBy(owner)).toEqual([NAME]);
    }
    expect(await jobsOf(owner)).toHaveLength(0);
  });

  test("no agent is told to follow a prompt that none uses or a label that none follows", async () => {
    const owner = await ownerOfTwo();
    await client.acquirePrompts({ ...newAgent(owner), uses: [byName(NAME)] });
    await client.setPromptLabel(setting(owner, "production", 1));
    await client.setPromptLabel(setting(owner, "production", 2));
    await client.createPrompt(creation(owner, { promptName: "other" }));
    expect(followedBy(owner)).toEqual([]);
  });

  test("an agent that uses another agent's own prompt follows it in the background when that agent changes it", async () => {
    const owner = newOwner();
    const [agent, other] = [newAgent(owner), newAgent(owner)];
    await client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    await client.acquirePrompts({ ...agent, uses: [withContent("Be briefer.")] });
    await client.acquirePrompts({ ...other, uses: [byName(`agent-${agent.agentId}`)] });
    expect(followedBy(owner)).toEqual([]);
    await client.acquirePrompts({ ...agent, uses: [withContent("Be kind.")] });
    await eventually(() => expect(followedBy(owner)).toEqual([`agent-${agent.agentId}`]));
  });

  test("changes while the agent service is away succeed, and one job has agents follow once it is back", async () => {
    const owner = await ownerOfTwo();
    await client.acquirePrompts({ ...newAgent(owner), uses: [byName(NAME)] });
    service.agents.isAway = true;
    expect((await client.updatePrompt(update(owner, NAME, "Hi."))).prompt?.promptVersion).toBe(3);
    await client.setPromptLabel(setting(owner, "production", 3));
    await client.updatePrompt(update(owner, NAME, "Hi again."));
    expect(followedBy(owner)).toEqual([]);
    expect(await jobsOf(owner)).toHaveLength(1);
    service.agents.isAway = false;
    service.clock.advance(60_000);
    await eventually(() => expect(followedBy(owner)).toEqual([NAME]));
  });
});

describe("restoring a version", () => {
  test("restoring a version makes a new one with its content and leaves labels where they are", async () => {
    const owner = await ownerOfTwo();
    await client.setPromptLabel(setting(owner, "production", 1));
    const { prompt } = await client.restorePromptVersion({
      ownerId: owner,
      promptName: NAME,
      promptVersion: 1,
      idempotency: undefined,
    });
    expect(prompt).toMatchObject({ promptVersion: 3, promptContent: "Hello {{name}}.\n", labels: [] });
    expect((await labelled(owner, "production")).prompt?.promptVersion).toBe(1);
  });

  test("restoring an unknown version or prompt, or another owner's prompt, is not found", async () => {
    const owner = await ownerOfTwo();
    const restore = (ownerId: string, promptName: string, promptVersion: number) =>
      failure(client.restorePromptVersion({ ownerId, promptName, promptVersion, idempotency: undefined }));
    expect(await restore(owner, NAME, 3)).toEqual({
      kind: "not_found",
      detail: "Version not found",
      paths: ["prompt_version"],
    });
    expect(await restore(owner, NAME, 0)).toMatchObject({ kind: "invalid", paths: ["prompt_version"] });
    for (const [ownerId, name] of [
      [owner, "nobody's"],
      [newOwner(), NAME],
    ] as const) {
      expect(await restore(ownerId, name, 1)).toEqual({ kind: "not_found", detail: "Prompt not found", paths: [] });
    }
  });
});

describe("the difference of two versions", () => {
  const diff = (ownerId: string, from: string, to: string) =>
    client.diffPromptVersions({ ownerId, promptName: NAME, from, to });

  test("a comparison has a unified diff and the variables that came and went, of versions by number, label or latest", async () => {
    const owner = await ownerOfTwo();
    await client.setPromptLabel(setting(owner, "production", 1));
    const forward = {
      fromVersion: 1,
      toVersion: 2,
      diff: "--- version 1\n+++ version 2\n@@ -1,1 +1,1 @@\n-Hello {{name}}.\n+Hello {{first name}} {{name}}.\n",
      variablesAdded: ["first_name"],
      variablesRemoved: [],
    };
    expect(await diff(owner, "1", "2")).toEqual(forward);
    expect(await diff(owner, "production", "latest")).toEqual(forward);
    expect(await diff(owner, "latest", "production")).toMatchObject({
      fromVersion: 2,
      variablesAdded: [],
      variablesRemoved: ["first_name"],
    });
    expect(await diff(owner, "2", "2")).toMatchObject({ diff: "", variablesAdded: [], variablesRemoved: [] });
  });

  test("a comparison with an unknown version, label or prompt, or with another owner's, is not found", async () => {
    const owner = await ownerOfTwo();
    const missing = (path: string) => ({ kind: "not_found", detail: "Version not found", paths: [path] });
    expect(await failure(diff(owner, "1", "3"))).toEqual(missing("to"));
    expect(await failure(diff(owner, "production", "2"))).toEqual(missing("from"));
    expect(await failure(diff(newOwner(), "1", "2"))).toMatchObject({ detail: "Prompt not found" });
    expect(await failure(diff(owner, "two words", "2"))).toEqual({
      kind: "invalid",
      detail: "from must be the number of a version, a label or latest",
      paths: ["from"],
    });
  });
});
