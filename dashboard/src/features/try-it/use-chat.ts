import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { sentenceOf } from "../../api/problem.ts";
import type { ToolCall } from "../conversations/said.ts";
import type { Grounds } from "../knowledge/sources.tsx";
import {
  type Reply,
  type ReplyListener,
  type Said,
  startTestChat,
  streamReply,
  type WaitedCalls,
} from "./chat-stream.ts";
import { answeredBy, begunCall, type GivenResult, givenBy, type LiveCall, storedCalls } from "./live-calls.ts";
import type { Setup } from "./setup.ts";

export interface Turn {
  id: number;
  message: string;
  reply: string;
  /** The tools that the model has called so far; once the reply is over, as they are stored. */
  toolCalls: readonly LiveCall[];
  state: "replying" | "done" | "stopped" | "failed";
  /** The calls whose results the person is asked for. */
  waitsFor: WaitedCalls;
  /** What the model was given from documents. */
  grounds: Grounds;
  timing: Pick<Reply, "firstWordMs" | "totalMs"> | null;
  error: string | null;
}

/** The chat as the API stores it. */
interface Session {
  id: string;
  /** The greeting with which it began; "" for none. */
  greeting: string;
  messages: number;
}

/** A chat that is not stored in the page's address: leaving it ends it. */
export function useChat(setup: Setup) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [tokens, setTokens] = useState<{ input: number; output: number } | null>(null);
  const [session, setSession] = useState<Session | null>(null);
  const [end, setEnd] = useState<"by the agent" | "otherwise" | null>(null);
  const current = useRef<Session | null>(null);
  const running = useRef<AbortController | null>(null);
  /** Results of the turn whose other calls still wait. */
  const given = useRef<({ tool_call_id: string } & GivenResult)[]>([]);
  useEffect(() => () => running.current?.abort(), []);

  const change = (id: number, changed: (turn: Turn) => Partial<Turn>) =>
    setTurns((all) => all.map((turn) => (turn.id === id ? { ...turn, ...changed(turn) } : turn)));
  const goOnIn = (next: Session | null) => {
    current.current = next;
    setSession(next);
  };

  const send = (message: string) => {
    const id = Date.now();
    given.current = [];
    const begun = {
      id,
      message,
      reply: "",
      toolCalls: [],
      state: "replying",
      waitsFor: {},
      grounds: {},
      timing: null,
    } as const;
    setTurns((all) => [...all.map((turn) => ({ ...turn, waitsFor: {} })), { ...begun, error: null }]);
    return run(id, message, { message });
  };

  /** Gives the result of a call; once none is missing, the reply goes on. */
  const give = (id: number, toolCallId: string, result: GivenResult) => {
    const turn = turns.find((each) => each.id === id);
    if (turn?.waitsFor[toolCallId] === undefined) return;
    given.current.push({ tool_call_id: toolCallId, ...result });
    const { [toolCallId]: _, ...waitsFor } = turn.waitsFor;
    const isComplete = isEmpty(waitsFor);
    const toolCalls = turn.toolCalls.map(givenBy(toolCallId, result));
    change(id, () => ({ waitsFor, toolCalls, ...(isComplete && { state: "replying", error: null }) }));
    if (isComplete) void run(id, turn.message, { tool_results: given.current });
  };

  /** Sends what the person says or gives in a turn, and reads the reply. */
  const run = async (id: number, message: string, said: Said) => {
    const controller = new AbortController();
    running.current = controller;
    const isCurrent = () => running.current === controller;
    let accepted = null as string | null;
    const onSession = (sessionId: string) => {
      accepted = sessionId;
      // The chat goes on after a reply that was stopped or failed, unless it was started over.
      if (isCurrent() && current.current === null) goOnIn({ id: sessionId, greeting: "", messages: 0 });
    };
    const listener: ReplyListener = {
      onSession,
      onText: (text) => change(id, ({ reply }) => ({ reply: reply + text })),
      onToolCall: (call) =>
        change(id, ({ reply, toolCalls }) => ({ toolCalls: [...toolCalls, begunCall(call, reply)] })),
      onToolResult: (result) => change(id, ({ toolCalls }) => ({ toolCalls: toolCalls.map(answeredBy(result)) })),
    };
    try {
      if (current.current === null && setup.greeting !== "") {
        const { session_id, first_message: greeting } = await startTestChat(setup, controller.signal);
        if (isCurrent()) goOnIn({ id: session_id, greeting, messages: greeting === "" ? 0 : 1 });
      }
      controller.signal.throwIfAborted();
      const sessionId = current.current?.id ?? null;
      const { waitsFor, grounds, ...timing } = await streamReply(setup, sessionId, said, listener, controller.signal);
      given.current = [];
      change(id, () => ({ state: "done", waitsFor, grounds, timing: isEmpty(waitsFor) ? timing : null }));
    } catch (error) {
      if (controller.signal.aborted) return change(id, () => ({ state: "stopped" }));
      change(id, () => ({ state: "failed", error: sentenceOf(error) }));
    }
    const sessionId = accepted ?? current.current?.id;
    const stored = sessionId ? await storedOf(sessionId) : null;
    if (!stored || !isCurrent() || !current.current) return;
    // A message that was refused left the chat as it was, with the tool calls of the turn before.
    const isStored = stored.messages > current.current.messages && stored.lastSaid === message;
    goOnIn({ ...current.current, messages: stored.messages });
    setTokens(stored.tokens);
    if (stored.hasEnded) setEnd(isStored ? "by the agent" : "otherwise");
    if (isStored) change(id, ({ toolCalls }) => ({ toolCalls: storedCalls(stored.toolCalls, toolCalls) }));
  };
  const restart = () => {
    running.current?.abort();
    running.current = null;
    goOnIn(null);
    setTurns([]);
    setTokens(null);
    setEnd(null);
  };
  return {
    turns,
    tokens,
    session,
    /** How the conversation has ended; null while it takes further messages. */
    end,
    isReplying: turns.at(-1)?.state === "replying",
    send,
    give,
    retry: (id: number) => {
      const turn = turns.find((each) => each.id === id);
      // The results are stored, or can be given again.
      if (given.current.length > 0 && turn && turn === turns.at(-1)) {
        change(id, () => ({ state: "replying", error: null }));
        return void run(id, turn.message, { tool_results: given.current });
      }
      setTurns((all) => all.filter((each) => each.id !== id));
      if (turn) send(turn.message);
    },
    stop: () => running.current?.abort(),
    restart,
  };
}

function isEmpty(waitsFor: WaitedCalls): boolean {
  return Object.keys(waitsFor).length === 0;
}

interface Stored {
  /** The tokens of the whole chat. */
  tokens: { input: number; output: number };
  messages: number;
  /** The user's last message. */
  lastSaid: string | undefined;
  hasEnded: boolean;
  /** The tool calls since the user's last message, in the order in which they were made. */
  toolCalls: readonly ToolCall[];
}

/** The chat as the API stored it; null when unknown. */
async function storedOf(sessionId: string): Promise<Stored | null> {
  const params = { path: { session_id: sessionId }, query: { include: "replies" as const } };
  const session = await api.GET("/v1/public/chat/sessions/{session_id}", { params }).catch(() => null);
  if (!session) return null;
  const { input_tokens: input, output_tokens: output } = session.usage;
  const lastSaidAt = session.messages.findLastIndex(({ role }) => role === "user");
  return {
    tokens: { input, output },
    messages: session.message_count,
    lastSaid: session.messages[lastSaidAt]?.content,
    hasEnded: session.status !== "IN_PROGRESS",
    toolCalls: session.messages.slice(Math.max(0, lastSaidAt)).flatMap(({ tool_calls: calls = [] }) => calls),
  };
}
