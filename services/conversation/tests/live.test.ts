import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import fc from "fast-check";
import { createAgent, hear, say, startFurtherChat, startTestChat, turn } from "./kit.ts";
import { isTold, shortOf, type Watcher, watch } from "./live-kit.ts";

const service = await startTestChat();
const further = await startFurtherChat(service, {});
const { chat, model, sql, clock } = service;
const agent = await createAgent(service, { tools: { end_call: { message: "Goodbye." } } });
afterAll(async () => {
  await further.stop();
  await service.stop();
});

const wholes = (watcher: Watcher) => watcher.short().filter((text) => !text.startsWith("words"));
const end = (conversationId: string) => sql`
  update conversations set status = 'COMPLETED', updated_at = ${clock.now()} where conversation_id = ${conversationId}`;

test("a watcher is told a snapshot, each message of a turn that any replica runs, and the end", async () => {
  const { sessionId } = await say(service, agent, "One");
  const watcher = watch(chat, agent, sessionId);
  await isTold(watcher, "snapshot");
  await further.chat.completeTurn({ turn: turn(agent, "Two", { sessionId }) });
  await isTold(watcher, "message 4: Hello there.");
  await end(sessionId);
  await watcher.over;
  expect(wholes(watcher)).toEqual(["snapshot", "message 3: Two", "message 4: Hello there.", `ended ${sessionId}`]);
  const [, snapshot] = watcher.told;
  const shown = snapshot?.event?.$case === "snapshot" ? snapshot.event.value.conversation : undefined;
  expect(shown?.transcript?.messages.map(({ content }) => content)).toEqual(["One", "Hello there."]);
});

test("a reply that is watched is told word by word, and its parts together are the message", async () => {
  const { sessionId } = await say(service, agent, "One");
  const watcher = watch(chat, agent, sessionId);
  await isTold(watcher, "snapshot");
  const rest = Promise.withResolvers<void>();
  model.script = async (call) => {
    call.piece("We open at nine, ");
    await rest.promise;
    call.finish("and close at five.");
  };
  const heard = hear(further.chat, turn(agent, "When?", { sessionId }));
  await isTold(watcher, "words 4 at 0: We open at ");
  const late = watch(further.chat, agent, sessionId);
  await isTold(late, "snapshot");
  rest.resolve();
  await heard;
  await isTold(watcher, "message 4: We open at nine, and close at five.");
  await isTold(late, "message 4: We open at nine, and close at five.");
  const [, first] = late.told;
  const words = first?.event?.$case === "snapshot" ? first.event.value.words : [];
  expect(words.map(({ seq, text }) => ({ seq, text }))).toEqual([{ seq: 4, text: "We open at " }]);
  model.script = (call) => call.finish("Hello there.");
  await Promise.all([watcher.leave(), late.leave()]);
});

test("a watcher that reconnects at random, to any replica, misses nothing and sees nothing twice", async () => {
  const replies = ["Certainly. One moment please.", "It is open.", "Anything else that I can do for you?"];
  let asked = 0;
  let someWords = async () => {};
  model.script = async (call) => {
    if (!call.asked.isStream) return call.finish("Welcome.");
    const [first = "", ...rest] = (replies[asked++ % replies.length] ?? "").split(/(?<= )/);
    call.piece(first);
    call.piece(rest[0] ?? "");
    await someWords();
    call.finish(rest.slice(1).join(""));
  };
  const replicas = [chat, further.chat];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 8 }), async (stays) => {
      const { sessionId } = await say(service, agent, "One");
      const steady = watch(chat, agent, sessionId);
      await isTold(steady, "snapshot");
      const [, begin] = steady.told;
      someWords = async () => {
        const before = steady.told.length;
        await eventually(() => expect(steady.told.length).toBeGreaterThan(before));
      };
      const seen: string[] = [];
      let after = begin?.id ?? "";
      const roam = async () => {
        for (let visit = 0; ; visit++) {
          const stay = stays[visit % stays.length] ?? 1;
          const gone = new AbortController();
          const origin = { requestId: "roam", signal: gone.signal };
          const client = replicas[visit % 2] ?? chat;
          let told = 0;
          const request = { ownerId: agent.ownerId, conversationId: sessionId, afterId: after, withoutWords: false };
          try {
            for await (const event of client.watchConversations(request, { origin })) {
              if (event.event?.$case === "opened") continue;
              seen.push(`${event.id} ${shortOf(event)}`);
              after = event.id;
              if (event.event?.$case === "ended") return;
              if (++told === stay) break;
            }
          } finally {
            gone.abort();
          }
        }
      };
      const roaming = roam();
      for (const [at, message] of ["Two", "Three", "Four"].entries())
        await hear(replicas[at % 2] ?? chat, turn(agent, message, { sessionId }));
      await end(sessionId);
      await Promise.all([steady.over, roaming]);
      expect(seen).toEqual(steady.told.slice(2).map((event) => `${event.id} ${shortOf(event)}`));
    }),
    { numRuns: 8 },
  );
  model.script = (call) => call.finish("Hello there.");
});

test("a conversation that nobody watches stores no events", async () => {
  const { sessionId } = await say(service, agent, "One");
  await say(service, agent, "Two", sessionId);
  const [row] = await sql`select count(*)::integer as events from live_events where conversation_id = ${sessionId}`;
  expect(row).toEqual({ events: 0 });
});

test("an ended conversation is told as its snapshot and its end, and to those who know of it as over", async () => {
  const { sessionId } = await say(service, agent, "One");
  await end(sessionId);
  const watcher = watch(chat, agent, sessionId);
  await watcher.over;
  expect(watcher.short()).toEqual(["snapshot", `ended ${sessionId}`]);
  const again = watch(chat, agent, sessionId, { after: watcher.told.at(-1)?.id });
  await again.over;
  expect(again.told.map(({ event }) => event)).toEqual([{ $case: "opened", value: { isOver: true } }]);
});

test("an id that is not known begins with a snapshot", async () => {
  const { sessionId } = await say(service, agent, "One");
  for (const after of ["7", "nonsense", "999999999999999"]) {
    const watcher = watch(chat, agent, sessionId, { after });
    await isTold(watcher, "snapshot");
    await watcher.leave();
  }
});

test("a watcher without words is told whole messages only", async () => {
  const { sessionId } = await say(service, agent, "One");
  const watcher = watch(chat, agent, sessionId, { withoutWords: true });
  await isTold(watcher, "snapshot");
  await hear(chat, turn(agent, "Two", { sessionId }));
  await isTold(watcher, "message 4: Hello there.");
  expect(watcher.short()).toEqual(["snapshot", "message 3: Two", "message 4: Hello there."]);
  const [row] =
    await sql`select words_until <= ${clock.now()} as quiet from live_topics where conversation_id = ${sessionId}`;
  expect(row).toEqual({ quiet: true });
  await watcher.leave();
});

test("the tool calls of a watched reply are told with their results", async () => {
  const { sessionId } = await say(service, agent, "One");
  const watcher = watch(chat, agent, sessionId);
  await isTold(watcher, "snapshot");
  model.script = (call) => call.callTool("end_call", "{}");
  await say(service, agent, "Bye", sessionId);
  model.script = (call) => call.finish("Hello there.");
  await watcher.over;
  expect(wholes(watcher).toSorted()).toEqual(
    [
      "snapshot",
      "message 3: Bye",
      "toolCall end_call",
      "toolResult end_call",
      "message 4: Goodbye.",
      `ended ${sessionId}`,
    ].toSorted(),
  );
});

test("whoever watches everything is told of each conversation of the owner that begins or ends, after a break too", async () => {
  const own = await createAgent(service);
  const watcher = watch(chat, own, undefined);
  await eventually(() => expect(watcher.told.length).toBe(1));
  const { sessionId } = await say(service, own, "One");
  await say(service, agent, "Another owner's");
  await isTold(watcher, `started ${sessionId}`);
  await watcher.leave();
  await end(sessionId);
  const after = watcher.told.at(-1)?.id;
  const again = watch(further.chat, own, undefined, { after });
  await isTold(again, `ended ${sessionId}`);
  expect(again.short()).toEqual([`ended ${sessionId}`]);
  await again.leave();
});

test("nobody watches another owner's conversation", async () => {
  const { sessionId } = await say(service, agent, "One");
  const foreign = watch(chat, { ownerId: newOwner() }, sessionId);
  expect((await serviceErrorOf(foreign.over)).kind).toBe("forbidden");
});
