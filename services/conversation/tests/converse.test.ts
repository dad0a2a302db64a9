import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { HeardReply } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { append, type CallKey, callOf, complete, lines, read, refusal, said } from "./calls-kit.ts";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import { createAgent, startFurtherChat, startTestChat } from "./kit.ts";

let call: CallKey;
const service = await startTestChat();
const agent = await createAgent(service, {
  tools: {
    end_call: { message: "Bye!" },
    transfer_call: { transfer_phone_number: ["+14155550199", "+14155550198"] },
    schedule_call: { timezone: "Asia/Kolkata" },
    set_language: true,
    send_dtmf: true,
  },
});
afterAll(() => service.stop());
beforeEach(async () => {
  service.model.script = (asked) => asked.finish("We open at nine. Do come.");
  call = await startWebCall(service.chat, agent);
});

const heardWhole = (text: string) => HeardReply.fromPartial({ text, isFinal: true });

describe("a spoken turn", () => {
  test("sends the reply, and stores it with its latency when it was heard in full", async () => {
    const turn = speakTurn(service.chat, call, 1);
    expect(await turn.reply()).toMatchObject({ text: "We open at nine. Do come.", event: { $case: "complete" } });
    expect(await lines(service.chat, call)).toEqual(["user: When do you open?"]);
    turn.heard("We open at nine. Do come.", {
      latency: { endOfTurnMs: 500, firstWordMs: 620, unfinished: true } as never,
    });
    expect(await turn.stored()).toBe(2);
    expect(await lines(service.chat, call)).toEqual([
      "user: When do you open?",
      "assistant: We open at nine. Do come.",
    ]);
    const { transcript } = await read(service.chat, call);
    expect(transcript?.messages.map(({ latency }) => latency)).toMatchObject([
      undefined,
      { endOfTurnMs: 500, firstWordMs: 620, audibleMs: undefined, unfinished: true },
    ]);
    const [row] = await service.sql`
      select partial, provider, total_ms is not null as timed from messages
      where conversation_id = ${call.conversationId} and seq = 2`;
    expect(row).toMatchObject({ partial: false, provider: "CUSTOM_LLM", timed: true });
  });

  test("is stored with the moments at which the user and the agent began to speak", async () => {
    const [userAt, agentAt] = [new Date("2026-01-01T12:00:01Z"), new Date("2026-01-01T12:00:03Z")];
    const turn = speakTurn(service.chat, call, 1, "When do you open?", undefined, { startedAt: userAt });
    await turn.reply();
    turn.heard("We open at nine.", { startedAt: agentAt });
    await turn.stored();
    const { transcript } = await read(service.chat, call);
    expect(transcript?.messages.map(({ startedAt }) => startedAt)).toEqual([userAt, agentAt]);
  });

  test("whose model fails says so in the notes of the call, with the provider's reason", async () => {
    service.model.script = (asked) => asked.respond(400, "application/json", '{"detail":"No tools here"}');
    const detail = "The CUSTOM_LLM model provider answered with status 400: No tools here";
    const turn = speakTurn(service.chat, call, 1);
    expect(await refusal(turn.next())).toMatchObject({ kind: "upstream_failed", detail });
    expect((await read(service.chat, call)).notes).toBe(`Reply 2 failed: ${detail}`);
  });

  test("that the user interrupts aborts the model, and only what was heard is stored and told to the model later", async () => {
    service.model.script = (asked) => asked.piece("We open at nine, and on Sundays ");
    const turn = speakTurn(service.chat, call, 1);
    expect(await turn.next()).toMatchObject({ $case: "text" });
    turn.heard("We open at");
    expect(await turn.stored()).toBe(2);
    await service.model.calls.at(-1)?.left;
    expect(await lines(service.chat, call)).toEqual(["user: When do you open?", "assistant: We open at"]);

    service.model.script = (asked) => asked.finish("Ten.");
    const next = speakTurn(service.chat, call, 3, "And on Sunday?");
    await next.reply();
    next.heard("Ten.");
    expect(await next.stored()).toBe(4);
    expect(service.model.calls.at(-1)?.asked.messages.slice(-3)).toEqual([
      "user: When do you open?",
      "assistant: We open at",
      "user: And on Sunday?",
    ]);
  });

  test("that the user hears nothing of leaves only the user's message, and the next turn follows it", async () => {
    service.model.script = () => {};
    const turn = speakTurn(service.chat, call, 1);
    await eventually(async () => expect(await lines(service.chat, call)).toHaveLength(1));
    turn.heard("");
    expect(await turn.stored()).toBe(1);
    service.model.script = (asked) => asked.finish("Ten.");
    const next = speakTurn(service.chat, call, 2, "On Sunday, I mean.");
    await next.reply();
    next.heard("Ten.");
    expect(await next.stored()).toBe(3);
  });

  test("follows what the runtime appended, and is instructed to speak", async () => {
    await append(service.chat, [said(call, 1, "Hello there."), said(call, 2, "Hi, how can I help?")]);
    const turn = speakTurn(service.chat, call, 3);
    await turn.reply();
    turn.heard("We open at nine.");
    expect(await turn.stored()).toBe(4);
    expect(service.model.calls.at(-1)?.asked).toMatchObject({
      system: expect.stringContaining("spoken conversation"),
      messages: ["user: Hello there.", "assistant: Hi, how can I help?", "user: When do you open?"],
    });
  });
});

describe("the tools of a call", () => {
  test("reach the runtime as actions: goodbye and hang up", async () => {
    service.model.script = (asked) => asked.callTool("end_call", "{}");
    const turn = speakTurn(service.chat, call, 1, "Bye.");
    expect(await turn.next()).toEqual({ $case: "action", value: { action: { $case: "endCall", value: {} } } });
    expect(await turn.reply()).toMatchObject({ text: "Bye!", event: { $case: "complete" } });
    turn.heard("Bye!");
    await turn.stored();
    // The runtime ends the call.
    expect(await complete(service.chat, call)).toMatchObject({});
  });

  test("in which the model presses keys may be silent, and the next turn knows of them", async () => {
    const phone = callOf(agent, { conversationId: newUuid() });
    await service.chat.startConversation(phone);
    service.model.script = (asked) => {
      if (asked.asked.messages.length === 1) asked.callTool("send_dtmf", '{"keys":"1"}');
      else asked.finish("");
    };
    const turn = speakTurn(service.chat, phone, 1, "For English, press one.");
    expect(await turn.next()).toMatchObject({ value: { action: { $case: "sendDtmf", value: { keys: "1" } } } });
    expect(await turn.next()).toMatchObject({ $case: "complete" });
    turn.heard("");
    expect(await turn.stored()).toBe(1);
    service.model.script = (asked) =>
      asked.finish(JSON.stringify(asked.asked.messages).includes("The keys 1") ? "Yes." : "No.");
    const next = speakTurn(service.chat, phone, 2, "Sales, hello?");
    expect(await next.reply()).toMatchObject({ text: "Yes." });
  });

  test("a transfer names a number of the agent's list, and any other number is reported to the model", async () => {
    service.model.script = (asked) => {
      if (asked.asked.messages.length === 1) asked.callTool("transfer_call", '{"phone_number":"+14155550177"}');
      else asked.callTool("transfer_call", '{"phone_number":"+14155550199"}', "One moment, please.");
    };
    const turn = speakTurn(service.chat, call, 1, "A person, please.");
    const { text, event } = await turn.reply();
    expect(text).toStartWith("One moment");
    expect(event).toEqual({
      $case: "action",
      value: { action: { $case: "transferCall", value: { phoneNumber: "+14155550199" } } },
    });
    turn.leave();
  });

  test("a scheduled call is in the agent's time zone, stored and shown", async () => {
    service.model.script = (asked) => {
      if (asked.asked.messages.length === 1)
        asked.callTool("schedule_call", '{"time":"2026-01-02T14:30","reason":"The quote"}');
      else asked.finish("Tomorrow it is.");
    };
    const turn = speakTurn(service.chat, call, 1, "Call me tomorrow.");
    expect(await turn.next()).toMatchObject({ value: { action: { $case: "scheduleCall" } } });
    await turn.reply();
    turn.heard("Tomorrow it is.");
    await turn.stored();
    expect((await read(service.chat, call)).scheduledCall).toEqual({
      at: new Date("2026-01-02T09:00:00.000Z"),
      reason: "The quote",
    });
  });
});

describe("a stream that breaks", () => {
  test("keeps what was heard, and its turn can be taken again at once, though its lease has not ended", async () => {
    service.model.script = (asked) => asked.piece("We open at nine, and ");
    const turn = speakTurn(service.chat, call, 1);
    await turn.next();
    turn.hear("We open");
    // The runtime has died, and the service cannot know that.
    const repeat = speakTurn(service.chat, call, 1, "When do you open?", heardWhole("We open at"));
    expect(await repeat.stored()).toBe(2);
    expect(await lines(service.chat, call)).toEqual(["user: When do you open?", "assistant: We open at"]);
    turn.leave();
    await eventually(async () => expect(await lines(service.chat, call)).toHaveLength(2));
  });

  test("before anything was heard asks the model again, and stores one user message", async () => {
    service.model.script = (asked) => asked.reset();
    expect(await refusal(speakTurn(service.chat, call, 1).stored())).toMatchObject({ kind: "upstream_failed" });
    service.model.script = (asked) => asked.finish("At nine.");
    const again = speakTurn(service.chat, call, 1);
    expect(await again.reply()).toMatchObject({ text: "At nine." });
    again.heard("At nine.");
    expect(await again.stored()).toBe(2);
    expect(await lines(service.chat, call)).toEqual(["user: When do you open?", "assistant: At nine."]);
  });

  test("without a final report stores what was reported last, which a repeat replaces", async () => {
    const turn = speakTurn(service.chat, call, 1);
    await turn.reply();
    turn.hear("We open at nine.");
    await eventually(async () => {
      turn.hear("We open at nine.");
      expect(await lines(service.chat, call)).toHaveLength(2);
    });
    turn.leave();
    const repeat = speakTurn(service.chat, call, 1, "When do you open?", heardWhole("We open at nine. Do come."));
    expect(await repeat.stored()).toBe(2);
    expect(await lines(service.chat, call)).toEqual([
      "user: When do you open?",
      "assistant: We open at nine. Do come.",
    ]);
  });

  test("changes nothing when it is repeated after its reply was stored", async () => {
    const turn = speakTurn(service.chat, call, 1);
    await turn.reply();
    turn.heard("We open at nine. Do come.");
    await turn.stored();
    const asked = service.model.calls.length;
    expect(await speakTurn(service.chat, call, 1, "When do you open?", heardWhole("Else.")).stored()).toBe(2);
    expect(await speakTurn(service.chat, call, 1).stored()).toBe(2);
    expect(service.model.calls).toHaveLength(asked);
    expect(await lines(service.chat, call)).toHaveLength(2);
  });

  test("of a stopping process is continued in another", async () => {
    const other = await startFurtherChat(service, { PARLEY_DRAIN_MS: "5000" });
    const turn = speakTurn(other.chat, call, 1);
    await turn.reply();
    turn.hear("We open");
    const stopping = other.stop();
    expect(await refusal(turn.stored())).toMatchObject({ kind: "unavailable" });
    await stopping;
    expect(await speakTurn(service.chat, call, 1, "When do you open?", heardWhole("We open at")).stored()).toBe(2);
    expect(await lines(service.chat, call)).toEqual(["user: When do you open?", "assistant: We open at"]);
  });
});

describe("a spoken turn is refused", () => {
  test("when an earlier message is missing", async () => {
    expect(await refusal(speakTurn(service.chat, call, 2).stored())).toEqual({
      kind: "condition",
      detail: "Message 1 is missing: send 1 before 2",
      lastSequence: "0",
    });
  });

  test("while another reply is in progress, or when its sequence is stored with other text", async () => {
    service.model.script = () => {};
    const turn = speakTurn(service.chat, call, 1);
    await eventually(async () => expect(await lines(service.chat, call)).toHaveLength(1));
    expect(await refusal(speakTurn(service.chat, call, 2, "Hello?").stored())).toMatchObject({ kind: "conflict" });
    expect(await refusal(speakTurn(service.chat, call, 1, "Hello?").stored())).toMatchObject({
      kind: "conflict",
      detail: "Message 1 is stored with different text",
    });
    turn.leave();
  });

  test("when the call has ended, or belongs to another owner", async () => {
    await complete(service.chat, call);
    expect(await refusal(speakTurn(service.chat, call, 1).stored())).toMatchObject({
      kind: "condition",
      lastSequence: "0",
    });
    const other = await createAgent(service);
    const key = { ...call, ownerId: other.ownerId };
    expect(await refusal(speakTurn(service.chat, key, 1).stored())).toMatchObject({ kind: "forbidden" });
  });

  test("with an impossible report", async () => {
    const turn = speakTurn(service.chat, call, 1);
    await turn.reply();
    turn.hear("x".repeat(100_001));
    expect(await refusal(turn.stored())).toMatchObject({ kind: "invalid" });
  });
});

describe("a warm transfer", () => {
  const transfer_call = { transfer_phone_number: "+14155550199", mode: "warm", briefing: "Say who it is: {{name}}." };

  test("tells the runtime to ask the person first, with its variables, for 30 s and with the ringing tone by default", async () => {
    const warm = await createAgent(service, { tools: { transfer_call } });
    const key = await startWebCall(service.chat, warm);
    await service.sql`update conversations set variables = '{"name": "Ada"}' where conversation_id = ${key.conversationId}`;
    const { action, result } = await service.chat.runCallTool({ ...key, name: "transfer_call", arguments: {} });
    expect(action?.action).toEqual({
      $case: "transferCall",
      value: {
        phoneNumber: "+14155550199",
        warm: { briefing: "Say who it is: Ada.", holdSound: "ringing", acceptSeconds: 30 },
      },
    });
    expect(result).toContain("the user waits while the person is called");
  });

  test("that the person does not take is told to the model, which answers though the user has said nothing", async () => {
    await append(service.chat, [said(call, 1, "Hello?")]);
    service.model.script = (asked) => asked.finish(String(asked.asked.messages.at(-1)));
    const told = "The transfer was declined.";
    const turn = speakTurn(service.chat, call, 2, "", undefined, { answersResults: true, told });
    expect(await turn.reply()).toMatchObject({ text: `user: Hello?\n\n[${told}]`, event: { $case: "complete" } });
    turn.heard("Nobody is free.");
    expect(await turn.stored()).toBe(2);
    expect(await lines(service.chat, call)).toEqual(["user: Hello?", "assistant: Nobody is free."]);
  });

  test("has a briefing that the agent's model writes from the conversation, with its variables filled", async () => {
    await append(service.chat, [said(call, 1, "My invoice is wrong.")]);
    service.model.script = (asked) => asked.finish("Ada has a wrong invoice.");
    const from = service.model.calls.length;
    const instruction = "Say who it is.";
    expect(await service.chat.askModel({ ...call, instruction })).toEqual({ text: "Ada has a wrong invoice." });
    const asked = JSON.stringify(service.model.calls[from]?.body);
    expect(asked).toContain("Say who it is.");
    expect(asked).toContain("user: My invoice is wrong.");
    expect(await lines(service.chat, call)).toEqual(["user: My invoice is wrong."]);
    const other = await createAgent(service);
    expect(await refusal(service.chat.askModel({ ...call, ownerId: other.ownerId, instruction }))).toMatchObject({
      kind: "forbidden",
    });
  });

  test("goes on in the transcript with what the person says", async () => {
    const ofPerson = said(call, 2, "Hi, this is Bob.");
    if (ofPerson.message) ofPerson.message.role = Role.ROLE_PERSON;
    await append(service.chat, [said(call, 1, "Hello?"), ofPerson]);
    expect(await lines(service.chat, call)).toEqual(["user: Hello?", "person: Hi, this is Bob."]);
  });
});

describe("a tool that a runtime runs for a model of its own", () => {
  const run = (name: string, given: object, key: CallKey = call) =>
    service.chat.runCallTool({ ...key, name, arguments: { ...given } });

  test("tells the model its result and the runtime what to do", async () => {
    expect(await run("end_call", {})).toMatchObject({ isError: false, action: { action: { $case: "endCall" } } });
    const phoneNumber = "+14155550199";
    expect(await run("transfer_call", { phone_number: phoneNumber })).toMatchObject({
      action: { action: { $case: "transferCall", value: { phoneNumber } } },
    });
    for (const other of ["the boss", "+14155550177", ["+14155550199"]])
      expect(await run("transfer_call", { phone_number: other })).toMatchObject({ isError: true, action: undefined });
    expect(await run("no_such_tool", {})).toMatchObject({ isError: true, action: undefined });
  });

  test("presses keys only on a telephone line, and only keys that there are", async () => {
    const phone = callOf(agent, { conversationId: newUuid() });
    await service.chat.startConversation(phone);
    const pressed = (keys: unknown) => run("send_dtmf", { keys }, phone);
    expect(await pressed("1 2-W#")).toMatchObject({
      isError: false,
      action: { action: { $case: "sendDtmf", value: { keys: "12w#" } } },
    });
    for (const wrong of ["", "12A", "1".repeat(33), "w".repeat(11), 12])
      expect(await pressed(wrong)).toMatchObject({ isError: true, action: undefined });
    expect(await run("send_dtmf", { keys: "1" })).toMatchObject({
      result: "This is not a telephone call, so it has no keys to press. Go on in words.",
      isError: true,
      action: undefined,
    });
  });

  test("is stored if it changes the conversation", async () => {
    await run("schedule_call", { time: "2026-01-02T14:30", reason: "The quote" });
    expect((await read(service.chat, call)).scheduledCall).toMatchObject({ reason: "The quote" });
  });

  test("is refused when the call has ended, or belongs to another owner", async () => {
    const other = await createAgent(service);
    expect(await refusal(run("end_call", {}, { ...call, ownerId: other.ownerId }))).toMatchObject({
      kind: "forbidden",
    });
    await complete(service.chat, call);
    expect(await refusal(run("end_call", {}))).toMatchObject({ kind: "condition", detail: "Conversation has ended" });
  });
});
