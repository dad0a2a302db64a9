import { beforeEach, expect, test } from "bun:test";
import { AgentPointer, AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { RevealSecrets } from "@parley/shared/domain/secret-keys";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { serviceErrorOf } from "@parley/testkit/failures";
import { agentsOf } from "./agents.ts";

const OWNER = "own_1";
const AGENT = "agt_1";
const MINUTE_MS = 60_000;
const caller = { conversationId: "c1" };

let pointer: Partial<AgentPointer> | null;
let away: ServiceError | null;
/** Whether the versions have made room for others. */
let hasMadeRoom: boolean;
let nowMs: number;
/** The calls of the agent service: how many pointers each asked for, and which versions. */
let asked: number[];
let read: string[];
let timeouts: (number | undefined)[];
/** The keys of the model and its fallback, and the values of the owner's secrets; null: the account service is away. */
let modelKeys: readonly { apiKey?: string; keySecret?: string }[];
let secrets: Record<string, string> | null;
let revealed: string[];
/** Happens as soon as values have been read. */
let afterRevealing: () => void;
let agents: ReturnType<typeof agentsOf>;

beforeEach(() => {
  pointer = { publishedVersion: 2, latestVersion: 3, keysRevision: 7, pricesHash: "list" };
  hasMadeRoom = false;
  away = null;
  nowMs = 0;
  asked = [];
  read = [];
  timeouts = [];
  modelKeys = [];
  secrets = {};
  revealed = [];
  afterRevealing = () => {};
  const client = {
    batchGetPointers: async ({ keys }: { keys: readonly unknown[] }, { timeoutMs }: { timeoutMs?: number }) => {
      asked.push(keys.length);
      timeouts.push(timeoutMs);
      if (away) throw away;
      const access = pointer ? Access.ACCESS_GRANTED : Access.ACCESS_NOT_FOUND;
      return {
        results: keys.map(() => ({ access, pointer: pointer ? AgentPointer.fromPartial(pointer) : undefined })),
      };
    },
    batchGetAgentRuntimes: async ({ keys }: { keys: readonly { agentId: string; agentVersion: number }[] }) => {
      if (away) throw away;
      const results = keys.map(({ agentId, agentVersion }) => {
        read.push(`${agentId} ${agentVersion}`);
        if (hasMadeRoom) return { access: Access.ACCESS_NOT_FOUND, runtime: undefined };
        const { keysRevision = 0, pricesHash = "" } = pointer ?? {};
        const runtime = AgentRuntime.fromPartial({
          agentId,
          agentVersion,
          keysRevision,
          pricesHash,
          agentName: `v${agentVersion}`,
          ...(modelKeys.length > 0 && {
            llm: { params: modelKeys[0], fallbacks: modelKeys.slice(1).map((params) => ({ params })) },
          }),
        });
        return { access: Access.ACCESS_GRANTED, runtime };
      });
      return { results };
    },
    close: () => {},
  };
  const reveal: RevealSecrets = async (ownerId, names) => {
    revealed.push(`${ownerId} ${names.join()}`);
    if (!secrets) throw new ServiceError("unavailable", "The account service is unreachable. Try again.");
    const values = Object.entries(secrets).flatMap(([name, value]) => (names.includes(name) ? [{ name, value }] : []));
    afterRevealing();
    return values;
  };
  agents = agentsOf(client as never, reveal, silentLogger, () => nowMs);
});

const nameOf = async (wanted: object = {}) => (await agents.choose(OWNER, AGENT, { caller, ...wanted })).agentName;

test("a conversation begins with the published version, the newest one, or the one that it asks for", async () => {
  expect(await nameOf()).toBe("v2");
  expect(await nameOf({ latestVersion: true })).toBe("v3");
  expect(await nameOf({ agentVersion: 1 })).toBe("v1");
});

test("a version that there is not is refused, and so is an agent of which none is published", async () => {
  for (const agentVersion of [0, -1, 4])
    expect(await serviceErrorOf(nameOf({ agentVersion }))).toMatchObject({
      kind: "not_found",
      detail: "Agent version not found",
    });
  pointer = { latestVersion: 1 };
  expect(await serviceErrorOf(nameOf())).toMatchObject({ kind: "conflict", detail: "Agent has no published version" });
  expect(await nameOf({ latestVersion: true })).toBe("v1");
});

test("a version is read once, and again only when a key that it refers to or the prices of models have changed", async () => {
  for (let turn = 0; turn < 3; turn++) await agents.get(OWNER, AGENT, { agentVersion: 1, draftId: null });
  expect(read).toEqual(["agt_1 1"]);
  pointer = { ...pointer, publishedVersion: 3, keysRevision: 8 };
  for (let turn = 0; turn < 3; turn++) await agents.get(OWNER, AGENT, { agentVersion: 1, draftId: null });
  expect(read).toEqual(["agt_1 1", "agt_1 1"]);
  pointer = { ...pointer, pricesHash: "contract" };
  for (let turn = 0; turn < 3; turn++) await agents.get(OWNER, AGENT, { agentVersion: 1, draftId: null });
  expect(read).toHaveLength(3);
});

test("a version that has made room for others is not found, and not its agent", async () => {
  hasMadeRoom = true;
  const missing = { kind: "not_found", detail: "Agent version not found" };
  expect(await serviceErrorOf(nameOf({ agentVersion: 1 }))).toMatchObject(missing);
});

test("what is published is asked anew for each conversation, in one call for those of one tick", async () => {
  const other = () => agents.check(OWNER, "agt_2");
  await Promise.all([nameOf(), other()]);
  pointer = { ...pointer, publishedVersion: 3 };
  expect(await Promise.all([nameOf(), nameOf(), other()])).toMatchObject(["v3", "v3", { publishedVersion: 3 }]);
  expect(asked).toEqual([2, 2]);
});

test.each(["unavailable", "deadline"] as const)(
  "while the agent service is away (%s), conversations begin and go on with the version that it named last, for a minute",
  async (kind) => {
    await nameOf();
    pointer = { ...pointer, publishedVersion: 3 };
    away = new ServiceError(kind, "away");
    nowMs = MINUTE_MS - 1;
    expect(await nameOf()).toBe("v2");
    expect((await agents.get(OWNER, AGENT, { agentVersion: 2, draftId: null })).agentName).toBe("v2");
    nowMs = MINUTE_MS;
    expect(await serviceErrorOf(nameOf())).toMatchObject({ kind });
    away = null;
    expect(await nameOf()).toBe("v3");
  },
);

test("the question has 250 ms where an earlier answer may stand, and the usual time where there is none", async () => {
  await nameOf();
  await nameOf();
  nowMs = MINUTE_MS;
  await nameOf();
  expect(timeouts).toEqual([undefined, 250, undefined]);
});

test("while the agent service is away, a version that was never read is not replaced by another", async () => {
  await nameOf();
  away = new ServiceError("unavailable", "away");
  expect(await serviceErrorOf(nameOf({ agentVersion: 1 }))).toMatchObject({ kind: "unavailable" });
});

test("an agent that was deleted is not run from memory, also when the agent service goes away afterwards", async () => {
  await nameOf();
  pointer = null;
  expect(await serviceErrorOf(nameOf())).toMatchObject({ kind: "not_found", detail: "Agent not found" });
  away = new ServiceError("unavailable", "away");
  expect(await serviceErrorOf(nameOf())).toMatchObject({ kind: "unavailable" });
});

const keysOf = async () => {
  const { llm } = await agents.get(OWNER, AGENT, { agentVersion: 1, draftId: null });
  return [llm?.params?.apiKey, ...(llm?.fallbacks ?? []).map(({ params }) => params?.apiKey)];
};

test("secrets that are keys are revealed in one question, and remembered until one of the owner's secrets has changed", async () => {
  modelKeys = [{ keySecret: "main" }, { apiKey: "sk-text" }, { keySecret: "spare" }];
  secrets = { main: "sk-first", spare: "sk-spare", other: "sk-other" };
  for (let turn = 0; turn < 3; turn++) expect(await keysOf()).toEqual(["sk-first", "sk-text", "sk-spare"]);
  expect(revealed).toEqual([`${OWNER} main,spare`]);
  secrets = { ...secrets, main: "sk-second" };
  pointer = { ...pointer, keysRevision: 8 };
  expect(await keysOf()).toEqual(["sk-second", "sk-text", "sk-spare"]);
  expect(revealed).toHaveLength(2);
});

test("a secret that gets a new value while a version is read serves that turn with the former one, and the next one with the new", async () => {
  modelKeys = [{ keySecret: "main" }];
  secrets = { main: "sk-first" };
  afterRevealing = () => {
    secrets = { main: "sk-second" };
    pointer = { ...pointer, keysRevision: 8 };
  };
  expect(await keysOf()).toEqual(["sk-first"]);
  expect(await keysOf()).toEqual(["sk-second"]);
});

test("a secret that is gone, or that no header can carry, leaves its model without a key until it is there", async () => {
  modelKeys = [{ keySecret: "main" }, { keySecret: "spare" }];
  secrets = { main: "clé secrète" };
  expect(await keysOf()).toEqual([undefined, undefined]);
  secrets = { main: "sk-first", spare: "sk-spare" };
  expect(await keysOf()).toEqual(["sk-first", "sk-spare"]);
});

test("while the account service is away, versions whose secrets are known go on, and others are refused", async () => {
  modelKeys = [{ keySecret: "main" }];
  secrets = { main: "sk-first" };
  await keysOf();
  secrets = null;
  expect(await keysOf()).toEqual(["sk-first"]);
  expect(await serviceErrorOf(nameOf())).toMatchObject({
    kind: "unavailable",
    detail: "The account service is unreachable. Try again.",
  });
});
