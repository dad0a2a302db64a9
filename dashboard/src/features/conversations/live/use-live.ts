import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type LiveEvent, watchEvents } from "../../../api/watch-events.ts";
import { type Told, type Words, wordsAfter } from "./words.ts";

/** Who answers in the agent's place. */
export interface TakenOver {
  by: { type: "key" | "session"; id: string };
  since: string;
}

/** What is known of a running conversation besides its transcript. */
export interface LiveState {
  muted: boolean;
  taken_over: TakenOver | null;
  /** In calls. */
  agent?: "listening" | "thinking" | "speaking";
}

const UNKNOWN: LiveState = { muted: false, taken_over: null };
/** After these, the conversation is read again. */
const CHANGES = ["tool_call", "tool_result", "handoff", "transfer", "ended"];

/** Follows a conversation while it runs: reads it again when something has happened, instead of asking whether it has. */
export function useLive(conversationId: string, isRunning: boolean): { state: LiveState; words: Words } {
  const client = useQueryClient();
  const [state, setState] = useState<LiveState>(UNKNOWN);
  const [words, setWords] = useState<Words>({});
  useEffect(() => {
    if (!isRunning) return;
    const left = new AbortController();
    const readAgain = () => void client.invalidateQueries({ queryKey: ["conversation", conversationId] });
    const hear = ({ event, data }: LiveEvent) => {
      if (event === "snapshot") {
        const { state: all, partial } = data as { state: LiveState; partial: Told[] };
        setState({ ...UNKNOWN, ...all });
        setWords(Object.fromEntries(partial.map(({ role, content }) => [role, content])));
        readAgain();
      } else if (event === "state") setState((before) => ({ ...before, ...(data as Partial<LiveState>) }));
      else if (event === "message") {
        const told = data as Told;
        setWords((before) => wordsAfter(before, told));
        if (told.final) readAgain();
      } else if (CHANGES.includes(event)) readAgain();
    };
    void watchEvents(`/v1/public/conversations/${conversationId}/events`, hear, left.signal);
    return () => left.abort();
  }, [client, conversationId, isRunning]);
  return { state, words };
}

/** Reads the lists of conversations again when one begins or ends. */
export function useLiveLists(isFollowing = true): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isFollowing) return;
    const left = new AbortController();
    const readAgain = () => void client.invalidateQueries({ queryKey: ["conversations"] });
    void watchEvents("/v1/public/conversations/events", readAgain, left.signal);
    return () => left.abort();
  }, [client, isFollowing]);
}
