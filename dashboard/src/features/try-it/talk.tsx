import { clsx } from "clsx";
import { Mic, MicOff, Phone, PhoneOff } from "lucide-react";
import { useEffect, useRef } from "react";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Notice } from "../../ui/states.tsx";
import { CallTimer } from "./call-timer.tsx";
import type { CalledLine, Captioned } from "./captions.ts";
import { Bubble, CalledTool } from "./chat.tsx";
import { LevelMeter } from "./level-meter.tsx";
import type { GivenResult } from "./live-calls.ts";
import type { Setup } from "./setup.ts";
import { StoredLink } from "./stored-link.tsx";
import { type AgentState, useCall } from "./use-call.ts";
import { useMicrophones } from "./use-microphones.ts";

/** The option that leaves the choice to the browser. */
const DEFAULT = "default";
const STATES: Record<AgentState, string> = {
  connecting: "Connecting…",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
};

/**
 * A spoken call with the agent, with captions and how long each answer took.
 * @param isMissingKey whether no call can be held, for which the panel gives the reason
 */
export function Talk({ setup, isMissingKey }: { setup: Setup; isMissingKey: boolean }) {
  const call = useCall(setup);
  const microphones = useMicrophones(call.underWay !== null);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, [call.lines]);
  const isOn = call.state !== null;
  const askedFor = ({ call: { tool_call_id: id }, waitsMs: timeoutMs }: CalledLine) =>
    timeoutMs === null ? null : { timeoutMs, onGive: (given: GivenResult) => call.give(id, given) };
  return (
    <>
      <div role="log" aria-label="Captions" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
        {call.lines.map((line) =>
          line.from === "tool" ? (
            <CalledTool key={line.id} call={line.call} asked={isOn ? askedFor(line) : null} />
          ) : (
            <SpokenLine key={line.id} line={line} />
          ),
        )}
        {!isOn && call.lines.length === 0 && (
          <p className="m-auto max-w-72 text-center text-balance text-muted">
            Talk to{" "}
            {setup.version === null
              ? "the agent with the settings on screen, saved or not"
              : `version ${setup.version} of the agent`}
            . You can interrupt it at any time.
          </p>
        )}
        <div ref={end} />
      </div>
      <div className="flex flex-col items-center gap-3 border-t border-line p-5">
        {call.error && <Notice tone="danger">{call.error}</Notice>}
        {isOn && call.state && (
          <p role="status" className="flex items-center gap-2 font-medium">
            <span
              className={clsx(
                "size-2.5 rounded-full",
                call.state === "speaking" ? "bg-accent" : "bg-line-strong",
                call.state !== "listening" && "motion-safe:animate-pulse",
              )}
            />
            {call.isMuted && call.state === "listening" ? "Muted" : STATES[call.state]}
          </p>
        )}
        {call.underWay && (
          <div className="flex w-full max-w-64 items-center gap-3">
            <CallTimer since={call.underWay.since} />
            <LevelMeter sound={call.underWay.microphone} />
          </div>
        )}
        {isOn ? (
          <div className="flex gap-2">
            <Button aria-pressed={call.isMuted} onClick={call.toggleMute} disabled={call.state === "connecting"}>
              {call.isMuted ? <MicOff aria-hidden /> : <Mic aria-hidden />}
              {call.isMuted ? "Unmute" : "Mute"}
            </Button>
            <Button variant="danger" onClick={call.hangUp}>
              <PhoneOff aria-hidden /> Hang up
            </Button>
          </div>
        ) : (
          <Button variant="primary" disabled={isMissingKey} onClick={call.start}>
            <Phone aria-hidden /> {call.lines.length > 0 ? "Call again" : "Start call"}
          </Button>
        )}
        {microphones.length > 1 && (
          <Select
            quiet
            aria-label="Microphone"
            className="max-w-64"
            value={call.deviceId || DEFAULT}
            onChange={(chosen) => call.chooseDevice(chosen === DEFAULT ? "" : chosen)}
            options={[{ value: DEFAULT, label: "Default microphone" }, ...microphones]}
          />
        )}
        {call.conversationId && <StoredLink conversationId={call.conversationId} />}
        <p className="text-center text-xs text-balance text-muted">
          Test conversation: sends no webhooks and is not counted as usage
        </p>
      </div>
    </>
  );
}

function SpokenLine({ line }: { line: Captioned }) {
  return (
    <div className="flex flex-col gap-1">
      <div className={clsx("flex flex-col", !line.isFinal && "opacity-70")}>
        <Bubble from={line.from} text={line.text} />
      </div>
      {line.toolCalls?.map((each) => (
        <CalledTool key={each.tool_call_id} call={each} asked={null} />
      ))}
      {line.latency && (
        <p className="px-1 text-xs text-muted tabular-nums" data-testid="latency">
          {line.latency}
        </p>
      )}
    </div>
  );
}
