import { expect, test } from "bun:test";
import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import { Agent, AgentVersion } from "@parley/proto/parley/agent/v1/agent.ts";
import { HttpTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { ServiceError } from "@parley/shared/errors";
import { versionOf } from "../src/routes/version.ts";
import { ownGateway } from "./own-gateway.ts";

const KEY = `vk_${"k".repeat(43)}`;

/** A tool whose header may be a password, though it should be a secret. */
const look_up = (value: string) =>
  Tool.fromPartial({
    name: "look_up",
    kind: {
      $case: "http",
      value: HttpTool.fromPartial({ headers: [{ name: "X-Key", value: { $case: "text", value } }] }),
    },
  });

const versions = [1, 2].map((agentVersion) =>
  AgentVersion.fromPartial({
    ...{ agentVersion, agent: Agent.fromPartial({ agentVersion }) },
    tools: [look_up(`password ${agentVersion}`)],
  }),
);
let scopes = ["agents:read"];
/** How the conversation service fails. */
let failure = new ServiceError("unavailable", "away");

const app = ownGateway(
  {
    agents: {
      listAgentVersions: async () => ({ versions, total: 2 }),
      getAgentVersion: async ({ agentVersion }: { agentVersion: number }) => ({ version: versions[agentVersion - 1] }),
    },
    conversations: { getVersionFigures: () => Promise.reject(failure) },
  },
  async () => ({
    ...{ keyId: "key_1", ownerId: "own_1", scopes, status: KeyStatus.KEY_STATUS_ACTIVE },
    ...{ expiresAt: undefined, rateLimitPerMinute: 100 },
  }),
);

async function get(path: string) {
  const url = `http://gateway/v1/public/agents/agt_1/versions${path}`;
  const response = await app.handle(new Request(url, { headers: { "X-API-Key": KEY } }));
  return { status: response.status, ...((await response.json()) as { [field: string]: unknown }) };
}

test.each(["unavailable", "deadline"] as const)(
  "versions are listed without figures while the conversation service does not answer (%s)",
  async (kind) => {
    failure = new ServiceError(kind, "away");
    expect(await get("")).toMatchObject({ status: 200, versions: [{ figures: null }, { figures: null }] });
  },
);

test("a key that may read agents but not tools sees no definition of a tool in a version or a diff", async () => {
  expect(await get("/1")).toMatchObject({ status: 200, tools: null });
  expect(await get("/1/diff/2")).toMatchObject({ status: 200, changes: [] });
  scopes = ["agents:read", "tools:read"];
  expect(await get("/1")).toMatchObject({ tools: [{ headers: { "X-Key": "password 1" } }] });
  expect(await get("/1/diff/2")).toMatchObject({ changes: [{ field: "custom_tools.look_up.headers.X-Key" }] });
});

test("a request asks for a version by number, for the newest, or for the published one, which is the default", () => {
  const asked = [3, "3", "latest", "published", null, undefined].map((agent_version) => versionOf({ agent_version }));
  const third = { agentVersion: 3 };
  expect(asked).toEqual([third, third, { latestVersion: true }, {}, {}, {}]);
});
