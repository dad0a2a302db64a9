import { afterAll, expect, test } from "bun:test";
import { roleUrls } from "@parley/shared/db/provision";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { startReplicatedPostgres } from "../kit/deploy/replicated-postgres.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { BESIDES_CHATS, startTestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

// docs/scaling.md: Read replica.

const [servers, model] = await Promise.all([startReplicatedPostgres(), startScriptedModel()]);
const stack = await startTestStack({
  env: { PARLEY_DATABASE_REPLICA_URL: roleUrls(servers.replicaUrl, TEST_SECRET).conversation },
  without: BESIDES_CHATS,
  through: async () => servers.primaryUrl,
});
const api = stack.api(stack.owners[0].apiKey);
afterAll(async () => {
  await stack.stop();
  await servers.stop();
  await model.stop();
});

test("lists come from the replica with its lag, everything else from the primary, and lists too once the replica is gone", async () => {
  const agent_id = await createAgent(api, model);
  const say = async () =>
    (await api.post("/chat", { agent_id, message: "Hi there", streaming: false })).body.session_id;
  const listed = async () =>
    Promise.all(
      ["/conversations", "/chat/sessions", "/conversations?search=there"].map(async (path) => {
        const { status, body } = await api.get(path);
        return status === 200 ? (body.pagination ?? body).total : status;
      }),
    );
  await say();
  await eventually(async () => expect(await listed()).toEqual([1, 1, 1]));

  await servers.pause();
  const sessionId = await say();
  expect((await api.get(`/chat/sessions/${sessionId}`)).body).toMatchObject({ message_count: 2 });
  expect(await listed()).toEqual([1, 1, 1]);
  await servers.resume();
  await eventually(async () => expect(await listed()).toEqual([2, 2, 2]));

  await servers.pause();
  await say();
  await servers.killReplica();
  await eventually(async () => expect(await listed()).toEqual([3, 3, 3]));
});
