import { muLaw } from "@parley/shared/media/g711";
import type { Script } from "./scripts.ts";

interface MediaOptions {
  provider: "TWILIO" | "PLIVO";
  url: string;
  account: string;
  carrierCallId: string;
  script: Script;
  /** Speaks a sentence. @returns μ-law, 8,000 samples a second */
  speak(sentence: string): Promise<Uint8Array>;
  /** The socket was closed by the other side, or broke, or the phone wants to hang up. */
  over(how: "closed" | "dropped" | "hung_up"): void;
}

/** A phone on a media WebSocket. */
export interface Media {
  /** Bytes of audio that the other side has sent. */
  heard(): number;
  /** Sentences that the phone has said. */
  said(): number;
  close(): void;
}

const FRAME_BYTES = 160;
const FRAME_MS = 20;
const BYTES_PER_MS = 8;
/** Silence after which the agent has finished. */
const PAUSE_MS = 1_200;
/** How long the phone waits for an agent that says nothing. */
const PATIENCE_MS = 20_000;

/** The messages of each carrier, as documented: https://www.twilio.com/docs/voice/media-streams/websocket-messages and
 * https://www.plivo.com/docs/voice/audio-streaming/audio-streaming. */
export function openMedia(options: MediaOptions): Media {
  const { provider, account, carrierCallId, script } = options;
  const isTwilio = provider === "TWILIO";
  const streamId = isTwilio ? `MZ${crypto.randomUUID().replaceAll("-", "")}` : crypto.randomUUID();
  const socket = new WebSocket(options.url);
  const silence = new Uint8Array(FRAME_BYTES).fill(muLaw.silence);
  let speaking: Uint8Array | null = null;
  let [at, sequence, heard, said] = [0, 0, 0, 0];
  /** When the agent's audio so far will have been played, and the marks within it. */
  let playedAt = 0;
  let marks: { name: string; at: number }[] = [];
  let [isPreparing, hasEnded] = [false, false];
  let lastSpokeAt = performance.now();

  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const number = () => (isTwilio ? String(++sequence) : ++sequence);

  const end = (how: "closed" | "dropped" | "hung_up") => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(ticking);
    if (how === "hung_up" && isTwilio) {
      const stop = { accountSid: account, callSid: carrierCallId };
      send({ event: "stop", sequenceNumber: number(), stop, streamSid: streamId });
    }
    if (how === "dropped") socket.terminate();
    else socket.close();
    options.over(how);
  };

  const start = () => {
    const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8_000, ...(isTwilio && { channels: 1 }) };
    if (isTwilio) {
      send({ event: "connected", protocol: "Call", version: "1.0.0" });
      const begun = {
        accountSid: account,
        streamSid: streamId,
        callSid: carrierCallId,
        tracks: ["inbound"],
        mediaFormat,
      };
      send({
        event: "start",
        sequenceNumber: number(),
        start: { ...begun, customParameters: {} },
        streamSid: streamId,
      });
    } else {
      const begun = { callId: carrierCallId, streamId, accountId: account, tracks: ["inbound"], mediaFormat };
      send({ event: "start", sequenceNumber: number(), start: begun, extra_headers: "{}" });
    }
    if (script.hang_up_after_ms !== null) setTimeout(() => end("hung_up"), script.hang_up_after_ms);
    if (script.drop_socket_after_ms !== null) setTimeout(() => end("dropped"), script.drop_socket_after_ms);
  };

  const reached = (name: string) =>
    send(
      isTwilio
        ? { event: "mark", sequenceNumber: number(), streamSid: streamId, mark: { name } }
        : { event: "playedStream", streamId, name },
    );

  const received = (text: string) => {
    const message = JSON.parse(text);
    const now = performance.now();
    if (message.event === "media" || message.event === "playAudio") {
      const bytes = Buffer.from(message.media.payload, "base64").length;
      heard += bytes;
      playedAt = Math.max(playedAt, now) + bytes / BYTES_PER_MS;
    } else if (message.event === "mark") marks.push({ name: message.mark.name, at: playedAt });
    else if (message.event === "checkpoint") marks.push({ name: message.name, at: playedAt });
    else if (message.event === "clear" || message.event === "clearAudio") {
      playedAt = now;
      // Carriers report the marks of what they drop.
      for (const { name } of marks.splice(0)) reached(name);
    }
  };

  const sayNext = async () => {
    isPreparing = true;
    const line = script.say.shift();
    if (line === undefined) {
      for (const digit of script.keys)
        send(
          isTwilio
            ? { event: "dtmf", streamSid: streamId, sequenceNumber: number(), dtmf: { track: "inbound_track", digit } }
            : { event: "dtmf", streamId, sequenceNumber: number(), dtmf: { track: "inbound", digit } },
        );
      // A phone whose script says when to hang up stays on the line.
      if (script.hang_up_after_ms === null && script.keys === "") end("hung_up");
      script.keys = "";
    } else {
      [speaking, at] = [await options.speak(line), 0];
      said++;
    }
    lastSpokeAt = performance.now();
    isPreparing = false;
  };

  let sentMs = 0;
  const began = performance.now();
  const tick = () => {
    const now = performance.now();
    for (; sentMs < now - began; sentMs += FRAME_MS) {
      const frame = speaking?.subarray(at, at + FRAME_BYTES) ?? silence;
      at += FRAME_BYTES;
      if (speaking && at >= speaking.length) [speaking, lastSpokeAt] = [null, now];
      const chunk = sentMs / FRAME_MS + 1;
      const media = {
        track: "inbound",
        chunk: isTwilio ? String(chunk) : chunk,
        timestamp: String(sentMs),
        payload: Buffer.from(frame).toString("base64"),
      };
      send({ event: "media", sequenceNumber: number(), media, ...(isTwilio ? { streamSid: streamId } : { streamId }) });
    }
    const due = marks.filter((mark) => mark.at <= now);
    marks = marks.filter((mark) => mark.at > now);
    for (const { name } of due) reached(name);
    if (speaking || isPreparing) return;
    const hasAnswered = playedAt > lastSpokeAt && now - playedAt > PAUSE_MS;
    if (hasAnswered || (playedAt <= now && now - Math.max(lastSpokeAt, playedAt) > PATIENCE_MS)) void sayNext();
  };

  const ticking = setInterval(() => socket.readyState === WebSocket.OPEN && tick(), FRAME_MS);
  socket.onopen = start;
  socket.onmessage = ({ data }) => received(String(data));
  socket.onerror = () => end("closed");
  socket.onclose = () => end("closed");
  return { heard: () => heard, said: () => said, close: () => end("hung_up") };
}
