import { useEffect, useRef, useState } from "react";
import { read } from "../../api/client.ts";
import { sentenceOf } from "../../api/problem.ts";
import { type Line, withGiven, withNews } from "./captions.ts";
import type { GivenResult } from "./live-calls.ts";
import type { Setup } from "./setup.ts";
import { withStored } from "./stored-lines.ts";
import { type Call, callAgent } from "./web-call.ts";

export type AgentState = "connecting" | "listening" | "thinking" | "speaking";

/** Latency and tool calls are stored when a turn has ended, a moment after its last caption. */
const STORED_AFTER_MS = 500;

/** A call and what is said in it. Leaving or closing the page hangs up. */
export function useCall(setup: Setup) {
  const [state, setState] = useState<AgentState | null>(null);
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [isMuted, setMuted] = useState(false);
  const [deviceId, setDeviceId] = useState("");
  const [underWay, setUnderWay] = useState<{ microphone: MediaStream; since: number } | null>(null);
  const [lastId, setLastId] = useState<string | null>(null);
  const call = useRef<Call | null>(null);
  const wanted = useRef(false);
  const hangUp = () => {
    wanted.current = false;
    const current = call.current;
    call.current = null;
    setState(null);
    setUnderWay(null);
    return current?.hangUp();
  };
  useEffect(() => {
    const leave = () => {
      wanted.current = false;
      call.current?.hangUp();
    };
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, []);
  const conversationId = useStored(state, setLines);

  const start = async () => {
    wanted.current = true;
    setError(null);
    setLines([]);
    setMuted(false);
    setState("connecting");
    try {
      const ended = (reason?: string) => {
        call.current = null;
        setState(null);
        setUnderWay(null);
        setError(reason ?? null);
      };
      const begun = await callAgent(
        setup,
        deviceId,
        (news) => (news.type === "state" ? setState(news.state) : setLines((all) => withNews(all, news))),
        ended,
      );
      // Hung up, or left, while it was connecting.
      if (!wanted.current) return await begun.hangUp();
      call.current = begun;
      conversationId.current = begun.conversationId;
      setLastId(begun.conversationId);
      setUnderWay({ microphone: begun.microphone, since: Date.now() });
      setState((now) => (now === "connecting" ? "listening" : now));
    } catch (failure) {
      setState(null);
      setError(refusalOf(failure));
    }
  };
  const give = (toolCallId: string, given: GivenResult) => {
    call.current?.give(toolCallId, given);
    setLines((all) => withGiven(all, toolCallId, given));
  };
  const toggleMute = () => {
    call.current?.mute(!isMuted);
    setMuted(!isMuted);
  };
  const chooseDevice = async (chosen: string) => {
    setDeviceId(chosen);
    try {
      const microphone = await call.current?.changeMicrophone(chosen);
      if (microphone) setUnderWay((now) => now && { ...now, microphone });
    } catch (failure) {
      setError(refusalOf(failure));
    }
  };
  return {
    ...{ state, lines, error, isMuted, start, hangUp, toggleMute, give },
    ...{ deviceId, chooseDevice },
    /** The sound that is sent, and when the call began. */
    underWay,
    /** The conversation of the call, or of the last one. */
    conversationId: lastId,
  };
}

/** Adds what the conversation's transcript has of each line, such as an answer's latency. */
function useStored(state: AgentState | null, setLines: (change: (lines: readonly Line[]) => readonly Line[]) => void) {
  const conversationId = useRef<string | null>(null);
  useEffect(() => {
    const id = conversationId.current;
    if (id === null || state === "speaking" || state === "thinking" || state === "connecting") return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const params = { path: { conversation_id: id }, query: { include: "replies" as const } };
      const { signal } = controller;
      const reading = read(signal, "/v1/public/conversations/{conversation_id}", params);
      const conversation = await reading.catch(() => null);
      const messages = conversation?.conversation_transcript ?? [];
      setLines((lines) => withStored(lines, messages));
    }, STORED_AFTER_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [state, setLines]);
  return conversationId;
}

function refusalOf(failure: unknown): string {
  if (failure instanceof DOMException && failure.name === "NotAllowedError")
    return "Your browser blocks the microphone for this page. Allow it in the address bar, then try again.";
  if (failure instanceof DOMException && failure.name === "NotFoundError")
    return "No microphone found. Connect one, then try again.";
  return sentenceOf(failure);
}
