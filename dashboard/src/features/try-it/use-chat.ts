import { useEffect, useRef, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { sentenceOf } from "../../api/problem.ts";
import type { ToolCall } from "../conversations/said.ts";
import { type Reply, streamReply } from "./chat-stream.ts";
import type { Setup } from "./setup.ts";

export interface Turn {
  id: number;
  message: string;
  reply: string;
  /** The tools that the model called, once the reply is over. */
  toolCalls: readonly ToolCall[];
  state: "replying" | "done" | "stopped" | "failed";
  timing: Pick<Reply, "firstWordMs" | "totalMs"> | null;
  error: string | null;
}

/** A chat that is not stored in the page's address: leaving it ends it. */
export function useChat(setup: Setup) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [tokens, setTokens] = useState<{ input: number; output: number } | null>(null);
  const session = useRef<string | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const change = (id: number, changed: (turn: Turn) => Partial<Turn>) =>
    setTurns((all) => all.map((turn) => (turn.id === id ? { ...turn, ...changed(turn) } : turn)));

  const send = async (message: string) => {
    const id = Date.now();
    const controller = new AbortController();
    running.current = controller;
    const begun = { id, message, reply: "", toolCalls: [], state: "replying", timing: null, error: null } as const;
    setTurns((all) => [...all, begun]);
    let accepted = null as string | null;
    const onSession = (sessionId: string) => {
      accepted = sessionId;
    };
    const onText = (text: string) => change(id, ({ reply }) => ({ reply: reply + text }));
    try {
      const replying = streamReply(setup, session.current, message, onSession, onText, controller.signal);
      const { sessionId, ...timing } = await replying;
      session.current = sessionId;
      change(id, () => ({ state: "done", timing }));
    } catch (error) {
      if (controller.signal.aborted) {
        // The chat goes on after a reply that was stopped, unless it was started over.
        if (running.current === controller) session.current ??= accepted;
        return change(id, () => ({ state: "stopped" }));
      }
      change(id, () => ({ state: "failed", error: sentenceOf(error) }));
    }
    const stored = accepted && (await storedOf(accepted));
    if (!stored) return;
    if (running.current === controller) setTokens(stored.tokens);
    change(id, () => ({ toolCalls: stored.toolCalls }));
  };
  const restart = () => {
    running.current?.abort();
    running.current = null;
    session.current = null;
    setTurns([]);
    setTokens(null);
  };
  return {
    turns,
    tokens,
    isReplying: turns.at(-1)?.state === "replying",
    send,
    retry: (id: number) => {
      const turn = turns.find((each) => each.id === id);
      setTurns((all) => all.filter((each) => each.id !== id));
      if (turn) send(turn.message);
    },
    stop: () => running.current?.abort(),
    restart,
  };
}

interface Stored {
  /** The tokens of the whole chat. */
  tokens: { input: number; output: number };
  /** The tool calls of the last message, in the order in which they were made. */
  toolCalls: readonly ToolCall[];
}

/** The chat as the API stored it; null when unknown. */
async function storedOf(sessionId: string): Promise<Stored | null> {
  const params = { path: { session_id: sessionId }, query: { include: "replies" as const } };
  const session = await ask(api.GET("/v1/public/chat/sessions/{session_id}", { params })).catch(() => null);
  if (!session) return null;
  const { input_tokens: input, output_tokens: output } = session.usage;
  return { tokens: { input, output }, toolCalls: session.messages.at(-1)?.tool_calls ?? [] };
}
