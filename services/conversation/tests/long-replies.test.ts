import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { createAgent, failure, hear, startTestChat, transcript, turn } from "./kit.ts";

const CHARACTERS_MAX = 1_000;
const TOO_LONG = {
  kind: "upstream_failed",
  detail: `The CUSTOM_LLM model said more than ${CHARACTERS_MAX} characters`,
  sessionId: expect.any(String),
};

const service = await startTestChat({ PARLEY_REPLY_MAX_CHARACTERS: String(CHARACTERS_MAX) });
const agent = await createAgent(service);
afterAll(() => service.stop());

test.each([
  ["streamed", () => hear(service.chat, turn(agent))],
  ["whole", () => service.chat.completeTurn({ turn: turn(agent) })],
])("a %s reply over the limit fails there, and the part up to the limit is stored", async (_, take) => {
  service.model.script = (call) => call.finish("word ".repeat(CHARACTERS_MAX));
  const failed = await failure(take());
  expect(failed).toEqual(TOO_LONG);
  const said = ["user: Hi", `assistant: ${"word ".repeat(CHARACTERS_MAX / 5)}`];
  await eventually(async () => expect(await transcript(service, agent, failed.sessionId ?? "")).toEqual(said));
});

test("a model that never stops is aborted", async () => {
  const left = Promise.withResolvers<void>();
  service.model.script = async (call) => {
    call.left.then(left.resolve);
    let gone = false;
    left.promise.then(() => {
      gone = true;
    });
    while (!gone) if (!call.piece("word ".repeat(20))) await Promise.race([call.drained(), left.promise]);
  };
  expect(await failure(hear(service.chat, turn(agent)))).toEqual(TOO_LONG);
  await left.promise;
});

test("a reply exactly at the limit is complete", async () => {
  const text = `${"word ".repeat(CHARACTERS_MAX / 5 - 1)}ends.`;
  service.model.script = (call) => call.finish(text);
  expect((await hear(service.chat, turn(agent))).chunks.join("")).toBe(text);
});
