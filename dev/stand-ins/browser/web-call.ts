import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters, RtpHeader, RtpPacket } from "werift";
import { FRAME_MS, framesOf, speechOpus } from "../speech/opus.ts";

/** What `POST /v1/public/web-calls` answers. */
export interface WebCall {
  conversation_id: string;
  url: string;
  token: string;
}

/** The clock rate of Opus in RTP, whatever the audio's own rate. */
const TICKS_PER_FRAME = (48_000 / 1_000) * FRAME_MS;
const OPUS = { mimeType: "audio/opus", clockRate: 48_000, channels: 2 };
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
  const connection = new RTCPeerConnection({
    iceServers: [],
    iceAdditionalHostAddresses: ["127.0.0.1"],
    codecs: { audio: [new RTCRtpCodecParameters(OPUS)], video: [] },
  });
  const headers = { Authorization: `Bearer ${token}` };
  try {
    const { sender, codecs } = connection.addTransceiver(new MediaStreamTrack({ kind: "audio" }), {
      direction: "sendrecv",
    });
    const agent = agentState();
    connection.createDataChannel("captions").onMessage.subscribe((message) => {
      const caption = JSON.parse(message.toString());
      if (caption.type === "state") agent.becomes(caption.state);
      else if (caption.is_final) told(caption.type, caption.text);
    });
    const connected = new Promise<void>((resolve, reject) =>
      connection.connectionStateChange.subscribe((state) => {
        if (state === "connected") resolve();
        if (state === "failed") reject(new Error("The call was not connected"));
        if (state === "disconnected" || state === "closed") agent.left();
      }),
    );
    await connection.setLocalDescription(await connection.createOffer());
    await gathered(connection);
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/sdp" },
      body: connection.localDescription?.sdp ?? "",
    });
    if (!answer.ok) throw new Error(((await answer.json()) as { detail: string }).detail);
    await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    await connected;

    const payloadType = codecs[0]?.payloadType ?? 0;
    const microphone = openMicrophone((packet, at) => {
      const header = new RtpHeader({ payloadType, sequenceNumber: at & 0xffff, timestamp: at * TICKS_PER_FRAME });
      // A packet that cannot leave is lost, as the network loses others.
      sender.sendRtp(new RtpPacket(header, Buffer.from(packet))).catch(() => {});
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
    await connection.close();
  }
}

function gathered(connection: RTCPeerConnection): Promise<void> {
  if (connection.iceGatheringState === "complete") return Promise.resolve();
  return new Promise((resolve) =>
    connection.iceGatheringStateChange.subscribe((state) => {
      if (state === "complete") resolve();
    }),
  );
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
