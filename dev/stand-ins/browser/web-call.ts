import { writeRtp } from "@parley/shared/media/rtp-packet";
import nodeDataChannel, { type PeerConnection } from "node-datachannel";
import { FRAME_MS, framesOf, speechOpus } from "../speech/opus.ts";

/** What `POST /v1/public/web-calls` answers. */
export interface WebCall {
  conversation_id: string;
  url: string;
  token: string;
}

/** The clock rate of Opus in RTP, whatever the audio's own rate. */
const TICKS_PER_FRAME = (48_000 / 1_000) * FRAME_MS;
const PAYLOAD_TYPE = 111;
const SSRC = 1;
/** How long to wait before speaking although the agent does not fall silent, or never began. */
const GREETED_WITHIN_MS = 8_000;
const ANSWERED_WITHIN_MS = 30_000;

/**
 * Holds a web call as a browser does: says the lines, each when the agent has finished, and hangs up after the last answer.
 * @param lines SPOKEN_HZ samples a second
 * @param told captions as they become final
 * @throws with the API's words when the call cannot be connected
 */
export async function webCall(
  { url, token }: WebCall,
  lines: readonly Int16Array[],
  told: (who: "user" | "agent", text: string) => void,
): Promise<void> {
  const connection = new nodeDataChannel.PeerConnection("page", { iceServers: [], disableAutoNegotiation: true });
  const channel = connection.createDataChannel("captions");
  const headers = { Authorization: `Bearer ${token}` };
  try {
    const audio = new nodeDataChannel.Audio("audio", "SendRecv");
    audio.addAudioCodec(PAYLOAD_TYPE, "opus");
    audio.addSSRC(SSRC, "page", "page", "microphone");
    const track = connection.addTrack(audio);
    const agent = agentState();
    channel.onMessage((message) => {
      const caption = JSON.parse(message.toString());
      if (caption.type === "state") agent.becomes(caption.state);
      else if (caption.is_final) told(caption.type, caption.text);
    });
    const connected = new Promise<void>((resolve, reject) => {
      track.onOpen(resolve);
      connection.onStateChange((state) => {
        if (state === "failed") reject(new Error("The call was not connected"));
        if (state === "disconnected" || state === "closed") agent.left();
      });
    });
    const offer = await offerOf(connection);
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/sdp" },
      body: offer,
    });
    if (!answer.ok) throw new Error(((await answer.json()) as { detail: string }).detail);
    connection.setRemoteDescription(await answer.text(), "answer");
    await connected;

    const microphone = openMicrophone((payload, at) => {
      const [sequence, timestamp] = [at & 0xffff, (at * TICKS_PER_FRAME) >>> 0];
      const packet = { payloadType: PAYLOAD_TYPE, marker: false, sequence, timestamp, ssrc: SSRC, payload };
      try {
        track.sendMessageBinary(Buffer.from(writeRtp(packet)));
      } catch {
        // The agent has just hung up.
      }
    });
    try {
      await agent.listens(GREETED_WITHIN_MS);
      for (const line of lines) {
        await microphone.say(line);
        await agent.answered(ANSWERED_WITHIN_MS);
      }
    } finally {
      microphone.close();
    }
  } finally {
    await fetch(url, { method: "DELETE", headers }).catch(() => {});
    // Closed here, because the library closes a channel that nothing refers to any more.
    channel.close();
    connection.close();
  }
}

/** An offer with all addresses. */
async function offerOf(connection: PeerConnection): Promise<string> {
  await new Promise<void>((resolve) => {
    connection.onGatheringStateChange((state) => state === "complete" && resolve());
    connection.setLocalDescription("offer");
  });
  return connection.localDescription()?.sdp ?? "";
}

/** Sends what is said, and silence otherwise, a frame every 20 ms. */
function openMicrophone(send: (packet: Uint8Array, at: number) => void) {
  const { encode } = speechOpus();
  const queue: { frame: Int16Array; sent(): void }[] = [];
  const silence = new Int16Array();
  const startedAt = performance.now();
  let at = 0;
  const timer = setInterval(() => {
    // Timed by the clock, so that delays do not add up.
    for (; performance.now() - startedAt >= at * FRAME_MS; at++) {
      const next = queue.shift();
      send(encode(next?.frame ?? silence), at);
      next?.sent();
    }
  }, FRAME_MS);
  return {
    /** Settles when the last frame has left. */
    say: async (audio: Int16Array) => {
      const frames = [...framesOf(audio)];
      const sent = frames.map((frame) => new Promise<void>((resolve) => queue.push({ frame, sent: resolve })));
      await Promise.all(sent);
    },
    close: () => clearInterval(timer),
  };
}

/** Follows what the agent does by its captions. */
function agentState() {
  let hasLeft = false;
  let since: string[] = [];
  let look = () => {};
  const until = (isReached: () => boolean, withinMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      look = () => {
        if (!hasLeft && !isReached()) return;
        clearTimeout(timer);
        resolve();
      };
      look();
    });
  return {
    becomes: (state: string) => {
      since.push(state);
      look();
    },
    left: () => {
      hasLeft = true;
      look();
    },
    /** Waits until it has greeted. The first states may have come before the channel was open. */
    listens: (withinMs: number) => until(() => since.at(-1) === "listening", withinMs),
    /** Waits until it has answered what was said just now. */
    answered: async (withinMs: number) => {
      since = [];
      await until(() => since.includes("speaking") && since.at(-1) === "listening", withinMs);
    },
  };
}
