import { afterAll, beforeAll, expect, test } from "bun:test";
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
  type PromptClient,
  startTestService,
  type TestService,
  update,
  withContent,
} from "./harness.ts";

let service: TestService;
/** Clients of two processes, so that no race is settled in the memory of one. */
let replicas: [PromptClient, PromptClient];

beforeAll(async () => {
  service = await startTestService();
  replicas = [service.client, await service.startReplica()];
});

afterAll(() => service.stop());

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const replica = (at: number) => replicas[at % 2 === 0 ? 0 : 1];

async function versions(ownerId: string, promptName: string): Promise<number[]> {
  const list = await service.client.listPromptVersions({ ownerId, promptName });
  return list.versions.map((version) => version.promptVersion).reverse();
}

test("50 concurrent updates of one prompt make 50 versions without duplicates or gaps", async () => {
  const owner = newOwner();
  await service.client.createPrompt(creation(owner));
  const made = await Promise.all(
    upTo(50).map((at) => replica(at).updatePrompt(update(owner, "greeting", `text ${at}`))),
  );
  const numbers = made.map(({ prompt }) => prompt?.promptVersion ?? 0).sort((a, b) => a - b);
  expect(numbers).toEqual(upTo(50).map((at) => at + 1));
  expect(await versions(owner, "greeting")).toEqual(upTo(51));
  for (const { prompt } of made) {
    const reference = { promptName: "greeting", promptVersion: prompt?.promptVersion };
    const { prompt: stored } = await service.client.getPrompt({ ownerId: owner, reference });
    expect(stored?.promptContent).toBe(prompt?.promptContent ?? "");
  }
});

test("20 concurrent creates of one new name make versions 1 to 20", async () => {
  for (const _ of upTo(5)) {
    const owner = newOwner();
    const made = await Promise.all(upTo(20).map((at) => replica(at).createPrompt(creation(owner))));
    const numbers = made.map(({ prompt }) => prompt?.promptVersion ?? 0).sort((a, b) => a - b);
    expect(numbers).toEqual(upTo(20));
    expect(await versions(owner, "greeting")).toEqual(upTo(20));
  }
});

test("when concurrent creates of one new name have both types, one type wins and the other is refused", async () => {
  for (const _ of upTo(10)) {
    const owner = newOwner();
    const outcomes = await Promise.allSettled(
      upTo(8).map((at) => replica(at).createPrompt(creation(owner, { promptType: at <= 4 ? MAIN : ANALYSIS }))),
    );
    const made = outcomes.filter((outcome) => outcome.status === "fulfilled").map(({ value }) => value.prompt);
    expect(new Set(made.map((prompt) => prompt?.promptType)).size).toBe(1);
    expect(await versions(owner, "greeting")).toEqual(upTo(4));
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "invalid" });
    }
  }
});

test("creates racing deletes always leave versions from 1 without gaps, and every answer is correct", async () => {
  const owner = newOwner();
  let made = 0;
  let deleted = 0;
  for (const round of upTo(40)) {
    const remove = replica(round).deletePrompt(deletion(owner, "greeting"));
    const [removed, ...creates] = await Promise.allSettled([
      remove,
      ...upTo(3).map((at) => replica(at).createPrompt(creation(owner))),
    ]);
    expect(creates.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    made += creates.length;
    if (removed.status === "fulfilled") deleted += removed.value.versionsDeleted;
    else expect(removed.reason).toMatchObject({ kind: "not_found" });
  }
  const [left] = await Promise.allSettled([versions(owner, "greeting")]);
  const kept = left.status === "fulfilled" ? left.value : [];
  expect(kept).toEqual(upTo(kept.length));
  expect(made).toBe(deleted + kept.length);
});

test("when a delete races an agent that acquires the prompt, exactly one wins", async () => {
  const owner = newOwner();
  for (const round of upTo(60)) {
    const promptName = `prompt ${round}`;
    await service.client.createPrompt(creation(owner, { promptName }));
    const read = () => replicas[0].getPrompt({ ownerId: owner, reference: { promptName } });
    const remove = () => replicas[1].deletePrompt(deletion(owner, promptName));
    const [acquired, removed] = await Promise.allSettled([
      replicas[0].acquirePrompts({ ...newAgent(owner), uses: [byName(promptName)] }),
      // A delete has less to do before it locks the prompt, so it starts one call later in half of the rounds to give each side a
      // chance.
      round % 2 === 0 ? remove() : read().then(remove),
    ]);
    if (acquired.status === "fulfilled") {
      expect(removed).toMatchObject({ status: "rejected", reason: { kind: "conflict" } });
      expect((await read()).prompt?.promptVersion).toBe(1);
    } else {
      expect(acquired.reason).toMatchObject({ kind: "not_found" });
      expect(removed).toMatchObject({ status: "fulfilled", value: { versionsDeleted: 1 } });
      expect(await failure(read())).toMatchObject({ kind: "not_found" });
    }
  }
});

test("an agent that acquires another's internal prompt during its deletion gets the whole prompt or not_found", async () => {
  const owner = newOwner();
  for (const _ of upTo(30)) {
    const [agent, other] = [newAgent(owner), newAgent(owner)];
    const promptName = `agent-${agent.agentId}`;
    await service.client.acquirePrompts({ ...agent, uses: [withContent("Be brief.")] });
    const [taken, settled] = await Promise.allSettled([
      replicas[0].acquirePrompts({ ...other, uses: [byName(promptName)] }),
      replicas[1].setPromptReferences({ ...agent, references: [], agentGone: true }),
    ]);
    expect(settled).toEqual({ status: "fulfilled", value: {} });
    if (taken.status === "fulfilled") {
      expect(await versions(owner, promptName)).toEqual([1]);
      expect(await failure(service.client.deletePrompt(deletion(owner, promptName)))).toMatchObject({
        kind: "conflict",
      });
    } else {
      expect(taken.reason).toMatchObject({ kind: "not_found" });
      expect(await failure(versions(owner, promptName))).toMatchObject({ kind: "not_found" });
    }
  }
});

test("agents that acquire the same prompts in any order, with updates in between, never deadlock", async () => {
  const owner = newOwner();
  const names = ["a", "b", "c", "d"];
  for (const promptName of names) await service.client.createPrompt(creation(owner, { promptName }));
  const agents = upTo(4).map(() => newAgent(owner));
  await Promise.all(
    upTo(60).map((at) => {
      const order = at % 2 === 0 ? names : names.toReversed();
      const agent = agents[at % 4] ?? newAgent(owner);
      if (at % 3 === 0) return replica(at).updatePrompt(update(owner, names[at % 4] ?? "", `text ${at}`));
      if (at % 5 === 0)
        return replica(at).setPromptReferences({ ...agent, references: byNames(order), agentGone: false });
      const uses = [...order.map((name) => byName(name)), withContent(`content ${at}`)];
      return replica(at).acquirePrompts({ ...agent, uses });
    }),
  );
  for (const promptName of names) {
    const made = await versions(owner, promptName);
    expect(made).toEqual(upTo(made.length));
  }
});
