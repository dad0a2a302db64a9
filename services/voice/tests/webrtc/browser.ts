import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters, RtpHeader, RtpPacket } from "werift";
import { framer } from "../../src/audio/frames.ts";
import { opus } from "../../src/audio/opus.ts";
import type { Pcm } from "../../src/audio/pcm.ts";

interface WithSockets {
  protocols: { transport: { close(): Promise<void> } }[];
}

/** What a browser does in a call: one audio track in both directions and a data channel. */
export async function browser(codec = { mimeType: "audio/opus", clockRate: 48_000, channels: 2 }) {
  const connection = new RTCPeerConnection({
    iceServers: [],
    iceAdditionalHostAddresses: ["127.0.0.1"],
    codecs: { audio: [new RTCRtpCodecParameters(codec)], video: [] },
  });
  const transceiver = connection.addTransceiver(new MediaStreamTrack({ kind: "audio" }), { direction: "sendrecv" });
  const codecs = opus();
  const frames: Pcm[] = [];
  const captions: string[] = [];
  const cut = framer((frame) => void frames.push(frame));
  connection.onTrack.subscribe((track) => track.onReceiveRtp.subscribe(({ payload }) => cut(codecs.decode(payload))));
  const channel = connection.createDataChannel("captions");
  channel.onMessage.subscribe((text) => void captions.push(text.toString()));
  const gathered = new Promise<void>((resolve) =>
    connection.iceGatheringStateChange.subscribe((state) => state === "complete" && resolve()),
  );
  await connection.setLocalDescription(await connection.createOffer());
  await gathered;
  let sequence = 0;
  return {
    connection,
    channel,
    offer: connection.localDescription?.sdp ?? "",
    frames,
    captions,
    accept: (sdp: string) => connection.setRemoteDescription({ type: "answer", sdp }),
    /** Sends audio at once. */
    say: async (audio: Pcm) => {
      const payloadType = transceiver.codecs[0]?.payloadType ?? 0;
      const packets: Promise<void>[] = [];
      const send = framer((frame) => {
        const header = new RtpHeader({ payloadType, sequenceNumber: sequence, timestamp: sequence * 960 });
        sequence++;
        packets.push(transceiver.sender.sendRtp(new RtpPacket(header, Buffer.from(codecs.encode(frame)))));
      });
      send(audio);
      await Promise.all(packets);
    },
    /** Its process dies: it sends no goodbye, and the system refuses what still arrives. */
    vanish: async () => {
      for (const { connection: ice } of connection.iceTransports) {
        for (const { transport } of (ice as unknown as WithSockets).protocols) await transport.close();
      }
    },
    close: () => connection.close(),
  };
}
