import { expect, test } from "bun:test";
import { systemClock } from "@parley/shared/clock";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { silentLogger } from "@parley/shared/log";
import { passingTime } from "@parley/shared/shares/passing-time";
import { eventually } from "@parley/testkit/eventually";
import type { EndedTransfer } from "../../src/call/held-call.ts";
import { listeningOver } from "../../src/call/operator/listeners.ts";
import type { CallUnderWay } from "../../src/call/port.ts";
import { callHolder } from "../../src/call/start-call.ts";
import { trunkDialer } from "../../src/outbound/dial-trunk.ts";
import { personDialer } from "../../src/outbound/people/dial-person.ts";
import { dialSip } from "../../src/sip-calls/dial-sip.ts";
import type { SpeechEvent } from "../../src/speech/stt.ts";
import type { Provider } from "../../src/store/outbound-calls.ts";
import type { Leg } from "../../src/transport/leg.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import { complete, fakeConversations, words } from "../kit/fake-conversations.ts";
import { scriptedDetector } from "../kit/scripted-speech.ts";
import { listening, tone } from "../listening.ts";
import { OPTIONS } from "../webrtc/connected.ts";
import { phone, to } from "./phones.ts";

const [OWN, PERSON] = ["+14155550100", "+14155550199"];
const STT = { providerName: "CUSTOM_STT", modelName: "m", language: "en", endpoint: undefined };
const TTS = { ...STT, providerName: "CUSTOM_TTS", voiceId: "v", speed: undefined };

/** A caller whose agent connects them to a person, whose phone is behind a trunk that answers like this. */
async function transferring(invited: (invite: Invite) => void, provider: Provider = "SIP") {
  const trunk = await phone(invited);
  const conversations = fakeConversations();
  conversations.model = () => "A customer asks about an invoice.";
  const told: string[] = [];
  const transfers: EndedTransfer[] = [];
  const warm = { briefing: "Say who it is.", holdSound: "none", acceptSeconds: 30 };
  const action = { $case: "transferCall" as const, value: { phoneNumber: PERSON, warm } };
  conversations.script = (turn) => {
    if (turn.told === undefined) return [words("One moment."), { $case: "action", value: { action } }, complete];
    told.push(turn.told);
    return [words("Nobody is free."), complete];
  };
  const parties: ((event: SpeechEvent) => void)[] = [];
  const people = personDialer();
  const holder = callHolder({
    conversations,
    getSpeech: async () => ({ stt: STT, tts: TTS, sts: undefined }),
    selectSpeech: () => ({
      hearing: {
        endsTurns: true,
        listen: (_, heard) => {
          parties.push(heard);
          return { send: () => {}, finalize: () => {}, setLanguage: () => {}, close: () => {} };
        },
      },
      voice: {
        speak: (_, spoken) => ({
          say: () => spoken({ type: "audio", audio: tone(800, 0.4) }),
          end: () => queueMicrotask(() => spoken({ type: "done" })),
        }),
      },
    }),
    selectHearing: () => {
      throw new Error("has its own");
    },
    selectSpeechToSpeech: () => {
      throw new Error("has none");
    },
    detector: scriptedDetector(),
    live: {
      take: async () => {},
      checkPlace: async () => {},
      connected: async () => {},
      reachedBy: async () => {},
      release: async () => {},
      abandon: async () => {},
      stop: async () => {},
    },
    recordings: { begin: async () => null, addressOf: async () => null, finish: async () => {} },
    listening: listeningOver(OPTIONS),
    clock: passingTime,
    time: systemClock,
    log: silentLogger,
    stopping: new AbortController().signal,
    recordEnd: async (_, end) => end,
    denialOf: () => null,
    transferEnded: async (_, transfer) => void transfers.push(transfer),
    dialPerson: people.dial,
  });
  let underWay: CallUnderWay | undefined;
  const ours = await phone(async (invite) => {
    const channel = {
      ...{ type: "TELEPHONY" as const, callingType: "INBOUND" as const },
      toMobileNumber: OWN,
      fromMobileNumber: "+14155550101",
    };
    underWay = await holder.start({ ownerId: "own_1", agentId: "agt_1", channel }, (listener) =>
      invite.accept(listener),
    );
  });
  const settings = { host: trunk.address, transport: "UDP" };
  const getCarrierCredentials = (async () => ({ carrier: { provider: "SIP", settings } })) as never;
  people.use({
    carrierOfNumber: async (_, number) => (number === OWN ? { carrierId: "car_1", provider } : null),
    numbersOf: async () => [],
    ringPerson: () => Promise.reject(new Error("has no such carrier")),
    dialTrunk: trunkDialer({ getCarrierCredentials }, dialSip(ours, parseAllowList("127.0.0.1"))),
  });
  const user = listening();
  const called = await (await phone()).call(to(ours), user.to);
  if (!("answered" in called)) throw new Error("the call was refused");
  await eventually(() => expect(parties).toHaveLength(1));
  parties[0]?.({ type: "final", text: "A person, please." });
  parties[0]?.({ type: "end_of_turn" });
  return { user, leg: called.answered, told, transfers, conversations, ended: () => underWay?.ended };
}

test("a caller and a person who takes the call by key hear each other over SIP, until one of them hangs up", async () => {
  const person = listening();
  const answered = Promise.withResolvers<{ leg: Leg; invite: Invite }>();
  const call = await transferring(async (invite) => {
    invite.ring();
    answered.resolve({ leg: await invite.accept(person.to), invite });
  });
  const { leg, invite } = await answered.promise;
  expect([invite.called.user, invite.identities[0]?.user]).toEqual([PERSON, OWN]);
  await eventually(() => expect(person.heardTone(800)).toBeTrue());
  await leg.press("1");
  call.leg.play(tone(500, 5));
  leg.play(tone(1_500, 5));
  await eventually(() => {
    expect(person.heardTone(500)).toBeTrue();
    expect(call.user.heardTone(1_500)).toBeTrue();
  });
  await leg.hangUp();
  await eventually(() => expect(call.user.endings).toEqual(["hung_up"]));
  expect(await call.ended()).toMatchObject({ outcome: "SUCCESS", notes: `Connected to ${PERSON}` });
  expect(call.transfers).toEqual([{ to: PERSON, mode: "warm", outcome: "accepted" }]);
});

test.each([
  ["that is busy", "declined", (invite: Invite) => invite.refuse(486, "Busy Here"), "SIP"],
  ["that nobody picks up", "no answer", (invite: Invite) => invite.refuse(480, "Temporarily Unavailable"), "SIP"],
  ["that does not exist", "failed", (invite: Invite) => invite.refuse(404, "Not Found"), "SIP"],
  ["while our number is no SIP trunk's", "failed", (invite: Invite) => invite.refuse(500, "Was Called"), "TWILIO"],
] as const)(
  "a caller is back with the agent after a warm transfer to a phone %s",
  async (_, told, refuse, provider) => {
    const call = await transferring(refuse, provider);
    await eventually(() => expect(call.told).toEqual([expect.stringContaining(told)]));
    const outcome = told.replace(" ", "_");
    expect(call.transfers).toMatchObject([{ to: PERSON, mode: "warm", outcome }]);
    await call.leg.hangUp();
    await call.ended();
    expect(call.user.endings).toEqual(["ended_by_us"]);
  },
);
