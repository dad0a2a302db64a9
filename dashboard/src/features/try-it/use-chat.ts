import { useEffect, useRef, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { sentenceOf } from "../../api/problem.ts";
import { type Reply, streamReply } from "./chat-stream.ts";
import type { Setup } from "./setup.ts";

export interface Turn {
  id: number;
  message: string;
  reply: string;
  state: "replying" | "done" | "failed";
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
    setTurns((all) => [...all, { id, message, reply: "", state: "replying", timing: null, error: null }]);
    try {
      const onText = (text: string) => change(id, ({ reply }) => ({ reply: reply + text }));
      const { sessionId, ...timing } = await streamReply(setup, session.current, message, onText, controller.signal);
      session.current = sessionId;
      change(id, () => ({ state: "done", timing }));
      setTokens(await tokensOf(sessionId));
    } catch (error) {
      if (controller.signal.aborted) return change(id, () => ({ state: "done" }));
      change(id, () => ({ state: "failed", error: sentenceOf(error) }));
    }
  };
  const restart = () => {
    running.current?.abort();
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

/** Of the whole chat; null when unknown. */
async function tokensOf(sessionId: string): Promise<{ input: number; output: number } | null> {
  const params = { path: { session_id: sessionId } };
  const session = await ask(api.GET("/v1/public/chat/sessions/{session_id}", { params })).catch(() => null);
  return session && { input: session.usage.input_tokens, output: session.usage.output_tokens };
}
