import { expect, test } from "bun:test";
import type { CallAction } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import fc from "fast-check";
import type { CommonParts } from "../src/call/held-call.ts";
import { holdCall } from "../src/call/hold-call.ts";
import { type StsParts, stsAgent } from "../src/call/speech-to-speech/agent.ts";
import type { StsModel } from "../src/call/speech-to-speech/model.ts";
import { rulesOf } from "../src/call/speech-to-speech/tools.ts";
import type { SpokenTurnEvent } from "../src/speech/sts.ts";
import { LINES } from "../src/turn/settings.ts";
import { fakeTime, settleMicrotasks } from "./kit/fake-time.ts";
import { scriptedLeg } from "./kit/scripted-leg.ts";
import { scriptedDetector } from "./kit/scripted-speech.ts";
import { scriptedSts } from "./kit/scripted-sts.ts";

type Step =
  | { does: "passes"; ms: number }
  | { does: "speaks" }
  | { does: "tells"; event: SpokenTurnEvent }
  | { does: "presses"; key: string }
  | { does: "voice"; type: "speech_began" | "speech_ended" };

const tells = (event: SpokenTurnEvent) => fc.constant<Step>({ does: "tells", event });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.integer({ min: 0, max: 4_000 }).map((ms): Step => ({ does: "passes", ms })),
  fc.constant<Step>({ does: "speaks" }),
  tells({ type: "user_began" }),
  tells({ type: "user_said", text: "When do you open?" }),
  tells({ type: "done" }),
  ...["end_call", "transfer_call", "ask_person", "hand_over", "weather"].map((name) =>
    tells({ type: "tool_call", callId: "c", name, arguments: {} }),
  ),
  tells({ type: "failed", error: new ServiceError("upstream_failed", "gone") }),
  fc.constantFrom("1", "#").map((key): Step => ({ does: "presses", key })),
  fc.constantFrom("speech_began" as const, "speech_ended" as const).map((type): Step => ({ does: "voice", type })),
);

/** What the tools decide; nobody can be called. */
const ACTIONS: Readonly<Record<string, CallAction["action"]>> = {
  end_call: { $case: "endCall", value: {} },
  transfer_call: { $case: "transferCall", value: { phoneNumber: "+14155550199" } },
  ask_person: {
    $case: "transferCall",
    value: { phoneNumber: "+14155550199", warm: { briefing: "Say who it is.", holdSound: "none", acceptSeconds: 30 } },
  },
  hand_over: {
    $case: "handOver",
    value: { agentId: "agt_2", voiceAgentId: "agt_2", contextFrom: 1, message: "I pass you on.", greets: true },
  },
};

/** Longer than all waits of a call, one after the other. */
const LONG_MS = 120_000;

test("whatever a model does and when, an interrupted reply is not played on, and every call ends", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, obeys) => {
      const time = fakeTime(settleMicrotasks);
      const sts = scriptedSts();
      sts.obeys = obeys;
      const detector = scriptedDetector();
      const lines: string[] = [];
      const model: StsModel = {
        ...{ provider: "OPENAI", sts, greeting: "Hello there." },
        conversing: { model: "m", params: {}, prompt: "", tools: [] },
        rulesOf: () => rulesOf(undefined),
        successorOf: (name) => (name === "hand_over" ? "agt_2" : null),
      };
      const parts: StsParts & CommonParts = {
        model,
        modelOf: async () => model,
        lastSequence: 0,
        runTool: async ({ name }) => {
          const action = ACTIONS[name];
          return { result: "done", isError: false, action: action && { action }, clientCall: undefined };
        },
        detector,
        transcript: { append: (role, text) => void lines.push(`${role}: ${text}`) },
        greeting: "Hello there.",
        lines: LINES,
        clock: time,
        log: silentLogger,
        background: null,
        recorder: null,
      };
      const idle = { afterMs: 5_000, remindersMax: 1 };
      const settings = { isSpeechToSpeech: true, endsTurns: true, silenceMs: 500, idle };
      const held = holdCall(parts, settings, (call) => stsAgent(parts, call));
      const leg = scriptedLeg(time, held.listener);
      held.connected(leg);
      await settleMicrotasks();
      let value = 1;
      for (const each of steps) {
        if (each.does === "passes") await time.pass(each.ms);
        if (each.does === "speaks") sts.speaks("We open at nine in the morning.", ++value);
        if (each.does === "presses") held.listener.pressed(each.key);
        if (each.does === "voice") detector.report({ type: each.type, agoMs: 0 });
        if (each.does !== "tells") continue;
        sts.report(each.event);
        // Only a final apology continues while the user speaks.
        if (each.event.type !== "user_began" || leg.hungUp || sts.said.includes(LINES.apology)) continue;
        expect(leg.queuedSamples()).toBe(0);
      }
      await time.pass(LONG_MS);
      expect((await held.ended).endedAt).toBeGreaterThanOrEqual(0);
      expect(leg.hungUp).toBeTrue();
      expect(sts.isOpen).toBeFalse();
      expect(lines.filter((line) => /: $/.test(line))).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 120_000);
