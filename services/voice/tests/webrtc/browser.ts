import { readRtp, writeRtp } from "@parley/shared/media/rtp-packet";
import nodeDataChannel from "node-datachannel";
import { framer } from "../../src/audio/frames.ts";
import { opus } from "../../src/audio/opus.ts";
import type { Pcm } from "../../src/audio/pcm.ts";

export interface BrowserSettings {
  /** Files of its certificate and private key; by default it makes its own. */
  certificate?: { certificatePemFile: string; keyPemFile: string };
  /** The codec of its audio. */
  codec?: string;
  /** The subprotocol of its data channel. */
  protocol?: string;
}

const PAYLOAD_TYPE = 111;
const SSRC = 7;
/** Freed before they are closed, the library's objects end the process. */
const kept: unknown[] = [];

/** What a browser does in a call: one audio track in both directions and a data channel. */
export async function browser({ certificate, codec = "opus", protocol = "" }: BrowserSettings = {}) {
  const connection = new nodeDataChannel.PeerConnection("page", {
    iceServers: [],
    bindAddress: "127.0.0.1",
    disableAutoNegotiation: true,
    ...certificate,
  });
  const audio = new nodeDataChannel.Audio("0", "SendRecv");
  audio.addAudioCodec(PAYLOAD_TYPE, codec);
  audio.addSSRC(SSRC, "page", "page", "microphone");
  const track = connection.addTrack(audio);
  const codecs = opus();
  const frames: Pcm[] = [];
  const states: string[] = [];
  const cut = framer((frame) => void frames.push(frame));
  track.onMessage((bytes) => {
    const packet = readRtp(bytes);
    if (packet) cut(codecs.decode(packet.payload));
  });
  const opened = Promise.withResolvers<void>();
  track.onOpen(opened.resolve);
  track.onClosed(() => {});
  const captions: string[] = [];
  const channel = connection.createDataChannel("captions", { protocol });
  channel.onMessage((text) => void captions.push(text.toString()));
  channel.onClosed(() => {});
  connection.onStateChange((state) => void states.push(state));
  kept.push(connection, track, channel);
  const gathered = new Promise<void>((resolve) =>
    connection.onGatheringStateChange((state) => state === "complete" && resolve()),
  );
  connection.setLocalDescription("offer");
  await gathered;
  let sequence = 0;
  const send = (payload: Uint8Array, ssrc = SSRC) => {
    const at = sequence++;
    const packet = {
      payloadType: PAYLOAD_TYPE,
      marker: false,
      sequence: at & 0xffff,
      timestamp: at * 960,
      ssrc,
      payload,
    };
    try {
      track.sendMessageBinary(Buffer.from(writeRtp(packet)));
    } catch {
      // The call is over.
    }
  };
  return {
    connection,
    track,
    channel,
    offer: connection.localDescription()?.sdp ?? "",
    frames,
    captions,
    states,
    opened: opened.promise,
    accept: (sdp: string) => connection.setRemoteDescription(sdp, "answer"),
    send,
    /** Sends audio at once. */
    say: async (audio: Pcm) => {
      await opened.promise;
      framer((frame) => void send(codecs.encode(frame)))(audio);
    },
    close: () => {
      channel.close();
      track.close();
      connection.close();
    },
  };
}
