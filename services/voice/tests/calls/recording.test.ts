import { expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ServiceError } from "@parley/shared/errors";
import { fakeClock } from "@parley/testkit/clock";
import { completeLost } from "../../src/call/complete-call.ts";
import { fakeConversations } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";
import { scriptedRecordings } from "../kit/scripted-recordings.ts";

test("a recorded call has the address of its recording once it is over", async () => {
  const conversations = fakeConversations({ recording: true, greeting: "Front desk, how can I help?" });
  const kept = scriptedRecordings();
  const call = await newCall({ conversations, recordings: kept.recordings });
  await call.asks("When do you open?");
  await call.leaves();
  await call.time.pass(100);
  await call.ended;
  expect(conversations.completed).toMatchObject([{ recordingUrl: "https://api.example/recording" }]);
  expect(kept.finished).toEqual([call.conversationId]);
  // Two headers, and a page for each second.
  expect(Buffer.concat(kept.written).toString("latin1").match(/OggS/g)?.length).toBeGreaterThanOrEqual(4);
});

test("a recorded call whose database is away for a moment at its end is completed as it ended", async () => {
  const conversations = fakeConversations({ recording: true });
  const kept = scriptedRecordings();
  let asked = 0;
  const addressOf: typeof kept.recordings.addressOf = async (call) => {
    if (++asked === 1) throw new ServiceError("unavailable", "The database is unreachable");
    return kept.recordings.addressOf(call);
  };
  const call = await newCall({ conversations, recordings: { ...kept.recordings, addressOf } });
  await call.asks("When do you open?");
  await call.leaves();
  await call.time.pass(200);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
  expect(conversations.completed).toMatchObject([{ recordingUrl: "https://api.example/recording" }]);
  expect(call.live).toEqual({ taken: 1, released: 1, abandoned: 0 });
});

test("a call that is not or cannot be recorded is held all the same and has no address", async () => {
  for (const [recording, recordings] of [
    [false, scriptedRecordings().recordings],
    [true, undefined],
  ] as const) {
    const conversations = fakeConversations({ recording });
    const call = await newCall({ conversations, ...(recordings && { recordings }) });
    await call.asks("When do you open?");
    await call.time.pass(2_000);
    await call.leaves();
    expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
    expect(conversations.completed).toMatchObject([{ recordingUrl: undefined }]);
  }
});

test("a disk that is full or hangs disturbs no call", async () => {
  for (const write of [() => Promise.reject(new Error("no space left on device")), () => new Promise<void>(() => {})]) {
    const conversations = fakeConversations({ recording: true });
    const kept = scriptedRecordings(write);
    const call = await newCall({ conversations, recordings: kept.recordings });
    await call.asks("When do you open?");
    await call.time.pass(2_000);
    await call.leaves();
    await call.time.pass(5_100);
    expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
    expect(conversations.lines).toEqual(["user: When do you open?", "assistant: We open at nine."]);
    expect(call.live.released).toBe(1);
  }
});

test("a call whose process died keeps what was recorded of it, if anyone was connected", async () => {
  for (const [durationSeconds, recordingUrl] of [
    [12.5, "https://api.example/recording"],
    [null, undefined],
  ] as const) {
    const conversations = fakeConversations();
    const kept = scriptedRecordings();
    await completeLost(
      {
        conversations,
        recordEnd: async (_call, end) => end,
        recordings: kept.recordings,
        clock: fakeClock(),
        hangUp: async () => {},
      },
      {
        ownerId: "own_1",
        conversationId: "c",
        startedAt: new Date(0),
        connectedAt: null,
        durationSeconds,
        farEnd: null,
      },
    );
    expect(conversations.completed).toMatchObject([{ outcome: Outcome.OUTCOME_ERROR, recordingUrl }]);
    expect(kept.finished).toEqual(["c"]);
  }
});
