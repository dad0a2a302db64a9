import { muLaw } from "@parley/shared/media/g711";
import { readRtp, writeRtp } from "@parley/shared/media/rtp-packet";
import { SILENCE_MS } from "./delays.ts";
import type { WireSocket } from "./wire-socket.ts";

/** A caller's measurements, in milliseconds. */
export interface Measured {
  /** From the packet with the last of the question to the one with the first of the answer. */
  voiceToVoice: number[];
  /** From the packet with the first of what the caller says over the agent to the last one with the agent's voice. */
  bargeIn: number[];
  /** By how much the time between two packets was not 20 ms. */
  deviations: number[];
  /** Packets that never came. */
  lost: number;
  /** Questions without an answer, or with one before their end or the silence behind it. */
  wrong: number;
}

export interface Caller {
  measured: Readonly<Measured>;
  /** Reads the packets that arrived and sends those that are due. Called every few milliseconds. */
  tick(): void;
  /** Starts the measurement. */
  count(): void;
}

export interface CallerOptions {
  socket: WireSocket;
  to: { address: string; port: number };
  /** The question in frames of PCMU; the first and the last frame are loud. */
  question: readonly Uint8Array[];
  /** A frame of a quiet room. */
  noise: readonly Uint8Array[];
  /** An agent is asked again when it has answered, and spoken over every second time; an echo is neither. */
  talksWith: "agent" | "echo";
}

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
/** Louder than a room, softer than the agent's tone. */
const VOICE_FROM = 1_500;
const IS_VOICE = Array.from(
  muLaw.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte)),
  (sample) => Math.abs(sample) > VOICE_FROM,
);
const ANSWERED_WITHIN_MS = 5_000;
/** How long an agent is listened to before it is spoken over, and its pauses are within a reply. */
const LISTENED_MS = 800;
const ENDED_AFTER_MS = 300;
const PAUSE_MS = 400;
const PAUSE_SPREAD_MS = 600;

type Stage =
  | { name: "pausing"; until: number }
  | { name: "asking"; frame: number; over: boolean; sentFirst: number }
  | { name: "waiting"; since: number; over: boolean; spokeFrom: number }
  | { name: "listening"; since: number };

/** One party of a call: asks, waits, listens, speaks over the agent, and measures at the wire. */
export function newCaller({ socket, to, question, noise, talksWith }: CallerOptions): Caller {
  const measured: Measured = { voiceToVoice: [], bargeIn: [], deviations: [], lost: 0, wrong: 0 };
  const ssrc = crypto.getRandomValues(new Uint32Array(1))[0] as number;
  let isCounted = false;
  let sequence = 0;
  let due = performance.now() + Math.random() * FRAME_MS;
  let stage: Stage = { name: "pausing", until: performance.now() + Math.random() * 2_000 };
  let turns = Math.floor(Math.random() * 2);
  let last: { sequence: number; at: number } | null = null;
  let voicedAt = 0;

  const record = (list: number[], value: number) => void (isCounted && list.push(value));
  const wrong = () => {
    if (isCounted) measured.wrong++;
  };
  const pause = (ms = PAUSE_MS + Math.random() * PAUSE_SPREAD_MS) => {
    stage = { name: "pausing", until: performance.now() + ms };
  };
  const ask = (over: boolean) => {
    stage = { name: "asking", frame: 0, over, sentFirst: 0 };
  };

  const received = (bytes: Uint8Array, at: number) => {
    const packet = readRtp(bytes);
    if (!packet) return;
    if (last) {
      const gap = (packet.sequence - last.sequence) & 0xffff;
      if (gap === 1) record(measured.deviations, Math.abs(at - last.at - FRAME_MS));
      else if (isCounted) measured.lost += gap - 1;
    }
    last = { sequence: packet.sequence, at };
    if (!packet.payload.some((byte) => IS_VOICE[byte])) return;
    heard(at);
    voicedAt = at;
  };

  const heard = (at: number) => {
    if (stage.name === "waiting" && talksWith === "echo") {
      record(measured.voiceToVoice, at - stage.spokeFrom);
      stage = { name: "listening", since: at };
    } else if (stage.name === "waiting") {
      const tookMs = at - stage.since;
      if (tookMs < SILENCE_MS) wrong();
      else record(measured.voiceToVoice, tookMs);
      if (stage.over) record(measured.bargeIn, voicedAt - stage.spokeFrom);
      stage = { name: "listening", since: at };
    } else if (stage.name === "asking" && !stage.over) {
      wrong();
      stage = { name: "listening", since: at };
    }
  };

  const frame = (): Uint8Array => {
    const room = noise[Math.floor(Math.random() * noise.length)] as Uint8Array;
    return stage.name === "asking" ? (question[stage.frame] ?? room) : room;
  };

  const sent = (at: number) => {
    const now = performance.now();
    switch (stage.name) {
      case "asking":
        if (stage.frame === 0) stage.sentFirst = at;
        stage.frame++;
        if (stage.frame === question.length)
          stage = { name: "waiting", since: at, over: stage.over, spokeFrom: stage.sentFirst };
        return;
      case "pausing":
        if (now >= stage.until) ask(false);
        return;
      case "waiting":
        if (at - stage.since < ANSWERED_WITHIN_MS) return;
        wrong();
        return pause();
      case "listening": {
        const isOver = turns % 2 === 1 && talksWith === "agent";
        if (isOver && at - stage.since >= LISTENED_MS) {
          turns++;
          ask(true);
        } else if (at - voicedAt >= ENDED_AFTER_MS) {
          turns++;
          pause();
        }
      }
    }
  };

  return {
    measured,
    tick: () => {
      socket.receive(received);
      for (; performance.now() >= due; due += FRAME_MS) {
        const payload = frame();
        const packet = { payloadType: 0, marker: sequence === 0, sequence: sequence & 0xffff, ssrc, payload };
        sent(socket.send(writeRtp({ ...packet, timestamp: sequence * FRAME_SAMPLES }), to));
        sequence++;
      }
    },
    count: () => {
      isCounted = true;
    },
  };
}
