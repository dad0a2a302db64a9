import { afterAll, describe, expect, test } from "bun:test";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { ANALYSIS, byName, creation, deletion, MAIN, newAgent, startTestService, update } from "./harness.ts";

const service = await startTestService();
const client = service.client;

afterAll(() => service.stop());

const NOT_FOUND = { kind: "not_found", detail: "Prompt not found", paths: [] };

describe("creating", () => {
  test("a new name gets version 1, of type main by default", async () => {
    const owner = newOwner();
    const { prompt } = await client.createPrompt(creation(owner));
    const now = service.clock.now();
    expect(prompt).toEqual({
      promptName: "greeting",
      promptVersion: 1,
      promptContent: "Say hello.",
      promptType: MAIN,
      createdAt: now,
      updatedAt: now,
      labels: [],
    });
    const analysis = await client.createPrompt(creation(owner, { promptName: "sums up", promptType: ANALYSIS }));
    expect(analysis.prompt?.promptType).toBe(ANALYSIS);
  });

  test("a name that is taken is a conflict at the name when only a new prompt is wanted, and stays as it was", async () => {
    const owner = newOwner();
    const fresh = creation(owner, { newOnly: true });
    expect((await client.createPrompt(fresh)).prompt).toMatchObject({ promptVersion: 1 });
    expect(await failure(client.createPrompt({ ...fresh, promptContent: "Overwritten." }))).toMatchObject({
      kind: "conflict",
      paths: ["prompt_name"],
      detail: expect.stringContaining("greeting is taken"),
    });
    const { versions } = await client.listPromptVersions({ ownerId: owner, promptName: "greeting" } as never);
    expect(versions).toMatchObject([{ promptContent: "Say hello." }]);
  });

  test("an existing name gets its next version, with the first one's created_at and its own updated_at", async () => {
    const owner = newOwner();
    const first = await client.createPrompt(creation(owner, { promptType: ANALYSIS }));
    service.clock.advance(60_000);
    const second = await client.createPrompt(creation(owner, { promptContent: "Say hi." }));
    expect(second.prompt).toEqual({
      promptName: "greeting",
      promptVersion: 2,
      promptContent: "Say hi.",
      promptType: ANALYSIS,
      createdAt: first.prompt?.createdAt,
      updatedAt: service.clock.now(),
      labels: [],
    });
  });

  test("a new version of another type is refused, uses up no number, and the error names the right type", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    expect(await failure(client.createPrompt(creation(owner, { promptType: ANALYSIS })))).toEqual({
      kind: "invalid",
      detail: "prompt_metadata.prompt_type must be main: a new version keeps the type of its prompt",
      paths: ["prompt_metadata.prompt_type"],
    });
    const { prompt } = await client.createPrompt(creation(owner, { promptType: MAIN }));
    expect(prompt?.promptVersion).toBe(2);
  });

  test.each([
    ["", "prompt_name must be 1 to 100 characters"],
    ["a".repeat(101), "prompt_name must be 1 to 100 characters"],
    ["   ", "prompt_name must not be blank"],
    [".", 'prompt_name must not be "." or ".."'],
    ["..", 'prompt_name must not be "." or ".."'],
    ["two\nlines", "prompt_name must be printable characters only"],
    ["nul\0", "prompt_name must be printable characters only"],
  ])("the name %j is refused with the reason", async (promptName, detail) => {
    const refused = await failure(client.createPrompt(creation(newOwner(), { promptName })));
    expect(refused).toEqual({ kind: "invalid", detail, paths: ["prompt_name"] });
  });

  test.each(["", "nul\0"])("the content %j is refused", async (promptContent) => {
    const refused = await failure(client.createPrompt(creation(newOwner(), { promptContent })));
    expect(refused).toMatchObject({ kind: "invalid", paths: ["prompt_content"] });
    expect(refused.detail).toStartWith("prompt_content must ");
  });
});

describe("updating", () => {
  test("adds the next version and leaves the earlier ones readable", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    const { prompt } = await client.updatePrompt(update(owner, "greeting", "Say hi."));
    expect(prompt).toMatchObject({ promptVersion: 2, promptContent: "Say hi.", promptType: MAIN });
    const first = await client.getPrompt({ ownerId: owner, reference: { promptName: "greeting", promptVersion: 1 } });
    expect(first.prompt?.promptContent).toBe("Say hello.");
  });

  test("an unknown prompt, an impossible name and another owner's prompt are not found", async () => {
    await client.createPrompt(creation(newOwner(), { promptName: "theirs" }));
    const owner = newOwner();
    for (const name of ["nobody's", "theirs", "nul\0"]) {
      expect(await failure(client.updatePrompt(update(owner, name, "text")))).toEqual(NOT_FOUND);
    }
  });

  test("an empty content is refused", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    expect(await failure(client.updatePrompt(update(owner, "greeting", "")))).toEqual({
      kind: "invalid",
      detail: "prompt_content must be at least 1 character",
      paths: ["prompt_content"],
    });
  });
});

describe("reading", () => {
  test("without a version the latest is returned, otherwise the requested one", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    await client.updatePrompt(update(owner, "greeting", "Say hi."));
    const latest = await client.getPrompt({ ownerId: owner, reference: { promptName: "greeting" } });
    expect(latest.prompt).toMatchObject({ promptVersion: 2, promptContent: "Say hi." });
    const first = await client.getPrompt({ ownerId: owner, reference: { promptName: "greeting", promptVersion: 1 } });
    expect(first.prompt).toMatchObject({ promptVersion: 1, promptContent: "Say hello." });
  });

  test("an unknown name or version and another owner's prompt are not found, a version below 1 is refused", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    const get = (ownerId: string, promptName: string, promptVersion?: number) =>
      failure(client.getPrompt({ ownerId, reference: { promptName, promptVersion } }));
    expect(await get(owner, "nobody's")).toEqual(NOT_FOUND);
    expect(await get(owner, "nul\0")).toEqual(NOT_FOUND);
    expect(await get(owner, "greeting", 2)).toEqual(NOT_FOUND);
    expect(await get(newOwner(), "greeting")).toEqual(NOT_FOUND);
    expect(await get(owner, "greeting", 0)).toEqual({
      kind: "invalid",
      detail: "version must be at least 1",
      paths: ["version"],
    });
  });

  test("all versions come newest first", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    const created = service.clock.now();
    service.clock.advance(1);
    await client.updatePrompt(update(owner, "greeting", "Say hi."));
    expect(await client.listPromptVersions({ ownerId: owner, promptName: "greeting" })).toEqual({
      versions: [
        { promptVersion: 2, promptContent: "Say hi.", createdAt: service.clock.now(), labels: [] },
        { promptVersion: 1, promptContent: "Say hello.", createdAt: created, labels: [] },
      ],
      usedBy: [],
      usedByTotal: 0,
    });
    expect(await failure(client.listPromptVersions({ ownerId: owner, promptName: "nobody's" }))).toEqual(NOT_FOUND);
    expect(await failure(client.listPromptVersions({ ownerId: newOwner(), promptName: "greeting" }))).toEqual(
      NOT_FOUND,
    );
  });
});

describe("deleting", () => {
  test("removes every version and returns their number; a later prompt of that name starts at 1", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    await client.updatePrompt(update(owner, "greeting", "Say hi."));
    expect(await client.deletePrompt(deletion(owner, "greeting"))).toEqual({
      versionsDeleted: 2,
      deletedAt: service.clock.now(),
    });
    expect(await failure(client.getPrompt({ ownerId: owner, reference: { promptName: "greeting" } }))).toEqual(
      NOT_FOUND,
    );
    const { prompt } = await client.createPrompt(creation(owner, { promptType: ANALYSIS }));
    expect(prompt).toMatchObject({ promptVersion: 1, promptType: ANALYSIS });
  });

  test("an unknown prompt and another owner's are not found, and the other owner's stays", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    const stranger = newOwner();
    for (const name of ["nobody's", "greeting", "nul\0"]) {
      expect(await failure(client.deletePrompt(deletion(stranger, name)))).toEqual(NOT_FOUND);
    }
    expect((await client.getPrompt({ ownerId: owner, reference: { promptName: "greeting" } })).prompt).toBeDefined();
  });

  test("a prompt in use is kept, and the error names the agent", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    await client.acquirePrompts({ ...newAgent(owner, "Anna"), uses: [byName("greeting")] });
    expect(await failure(client.deletePrompt(deletion(owner, "greeting")))).toEqual({
      kind: "conflict",
      detail:
        "Prompt greeting is used by the agent Anna: give every agent another prompt, in published versions too, before deleting it",
      paths: [],
    });
    expect((await client.getPrompt({ ownerId: owner, reference: { promptName: "greeting" } })).prompt).toBeDefined();
  });

  test("ten of the many agents that use a prompt are named, and the rest are counted", async () => {
    const owner = newOwner();
    await client.createPrompt(creation(owner));
    const names = Array.from({ length: 12 }, (_, at) => `Agent ${String.fromCharCode(65 + at)}`);
    for (const name of names) await client.acquirePrompts({ ...newAgent(owner, name), uses: [byName("greeting")] });
    const { detail } = await failure(client.deletePrompt(deletion(owner, "greeting")));
    expect(detail).toContain(`the agents ${names.slice(0, 10).join(", ")} and 2 more:`);
    expect(detail).not.toContain("Agent K");
  });
});
