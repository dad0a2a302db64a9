import { isIPv6 } from "node:net";
import { ServiceError } from "@parley/shared/errors";
import type { RtpPacket } from "@parley/shared/media/rtp-packet";
import {
  MediaStreamTrack,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  type RTCRtpTransceiver,
  RtpHeader,
  RtpPacket as WeriftPacket,
} from "werift";
import { opus } from "../../audio/opus.ts";
import type { Leg, LegListener } from "../leg.ts";
import { rtpAudio } from "../rtp/audio.ts";
import { noPortFree, type PortRange } from "../rtp/ports.ts";
import { datagramFilter } from "./datagrams.ts";
import { invalidOffer } from "./offer.ts";
import { textsTo } from "./texts.ts";

export interface WebRtcOptions {
  /** The address that media is received on. */
  hostname: string;
  ports: PortRange;
  /** What browsers are told to send to, if a NAT lies between; absent: `hostname`. */
  announced?: string | undefined;
  /** Counts packets that are not used, by reason. */
  dropped(reason: "malformed" | "too_much"): void;
}

export interface WebRtcPeer {
  /** The session description for the browser, with all candidates. */
  answer: string;
  /** Resolves once media can flow. @throws ServiceError upstream_timeout if the browser does not connect */
  connected: Promise<Leg>;
  /** Sends text over the browser's data channel, if it has one, once it is open; dropped if more than 64 KiB waits. */
  tell(text: string): void;
  /** Ends the connection without a leg. */
  close(): void;
}

/** As long as the dashboard waits (`dashboard/src/features/try-it/web-call.ts`): a busy browser sends its first check late. */
const CONNECT_MAX_MS = 30_000;
/** A browser sends 50 packets a second, also while it is muted. One that was not heard for this long is gone. */
const UNHEARD_MAX_MS = 10_000;
const WATCH_MS = 1_000;
const OPUS = { mimeType: "audio/opus", clockRate: 48_000, channels: 2 };

/**
 * Answers a browser's offer of one audio track in both directions, and a data channel. We are ICE-lite: we send nothing to an address
 * that did not send to us with the call's password first, so an offer cannot aim our packets at others.
 * @param offer that `checkOffer` took
 * @throws ServiceError invalid if it still cannot be answered; unavailable if no port is free
 */
export async function answerOffer(offer: string, options: WebRtcOptions, to: LegListener): Promise<WebRtcPeer> {
  const connection = new RTCPeerConnection({
    iceLite: true,
    iceServers: [],
    iceUseTcp: false,
    ...(isEverywhere(options.hostname)
      ? { iceUseIpv4: !isIPv6(options.hostname), iceUseIpv6: isIPv6(options.hostname) }
      : onlyAt(options.hostname)),
    icePortRange: [options.ports.first, options.ports.last],
    iceFilterData: datagramFilter(options.dropped),
    codecs: { audio: [new RTCRtpCodecParameters(OPUS)], video: [] },
    bundlePolicy: "max-bundle",
  });
  try {
    const tell = textsTo(connection);
    await connection.setRemoteDescription({ type: "offer", sdp: withoutCandidates(offer) }).catch(() => {
      throw invalidOffer("it cannot be read");
    });
    const transceiver = connection.getTransceivers().find(({ kind }) => kind === "audio");
    if (!transceiver) throw invalidOffer("it has no audio that can be answered");
    await transceiver.sender.replaceTrack(new MediaStreamTrack({ kind: "audio" }));
    transceiver.setDirection("sendrecv");
    await connection.setLocalDescription(await connection.createAnswer());
    const { sdp = "" } = connection.localDescription ?? {};
    if (!CANDIDATE.test(sdp)) throw noPortFree();
    const connected = connect(connection, transceiver, options, to);
    return {
      answer: announce(sdp, options),
      connected,
      tell,
      close: () => close(connection),
    };
  } catch (error) {
    close(connection);
    throw error;
  }
}

/** One socket at the address. By itself werift opens one for each address of the machine, or none for loopback. */
function onlyAt(hostname: string) {
  return {
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [hostname],
    iceInterfaceAddresses: isIPv6(hostname) ? { udp6: hostname } : { udp4: hostname },
  };
}

/** A connection that cannot be closed properly is still gone. */
function close(connection: RTCPeerConnection): void {
  connection.close().catch(() => {});
}

const CANDIDATE = /^a=candidate:/m;

/** We send no checks, so we need none of the browser's addresses, and look up none of the names in them. */
function withoutCandidates(offer: string): string {
  return offer.replaceAll(/^a=(?:candidate:|end-of-candidates).*\r?\n/gm, "");
}

async function connect(
  connection: RTCPeerConnection,
  transceiver: RTCRtpTransceiver,
  options: WebRtcOptions,
  to: LegListener,
): Promise<Leg> {
  await untilConnected(connection);
  const payloadType = transceiver.codecs[0]?.payloadType ?? 0;
  const send = (packet: RtpPacket) => {
    const { payload, ...header } = packet;
    const written = new WeriftPacket(
      new RtpHeader({ ...header, sequenceNumber: packet.sequence }),
      Buffer.from(payload),
    );
    // A packet that cannot be sent is lost, as on any network.
    transceiver.sender.sendRtp(written).catch(() => {});
  };
  const audio = rtpAudio({ send, dropped: options.dropped }, to);
  audio.use({ payloadType, clockHz: OPUS.clockRate, ...opus() }, true);
  transceiver.receiver.track.onReceiveRtp.subscribe(({ header, payload }) => {
    if (header.payloadType !== payloadType) return;
    const { marker, sequenceNumber: sequence, timestamp, ssrc } = header;
    audio.receive({ payloadType, marker, sequence, timestamp, ssrc, payload });
  });

  let isOver = false;
  const end = (how: Parameters<LegListener["ended"]>[0]) => {
    if (isOver) return;
    isOver = true;
    clearInterval(watch);
    audio.close();
    close(connection);
    to.ended(how);
  };
  connection.connectionStateChange.subscribe((state) => {
    if (state === "closed") end("hung_up");
    if (state === "failed") end("lost");
  });
  // ICE-lite does not check by itself whether the other side is still there.
  const watch = setInterval(() => audio.unheardMs() > UNHEARD_MAX_MS && end("lost"), WATCH_MS);

  return {
    play: audio.play,
    clear: audio.clear,
    mark: audio.mark,
    heardSamples: audio.heardSamples,
    queuedSamples: audio.queuedSamples,
    transfer: async () => {
      throw new ServiceError("condition", "A call from a browser cannot be transferred");
    },
    hangUp: async () => end("ended_by_us"),
  };
}

async function untilConnected(connection: RTCPeerConnection): Promise<void> {
  const settled = Promise.withResolvers<void>();
  const failed = () => settled.reject(new ServiceError("upstream_timeout", "The browser did not connect its audio"));
  const timer = setTimeout(failed, CONNECT_MAX_MS);
  connection.connectionStateChange.subscribe((state) => {
    if (state === "connected") settled.resolve();
    if (state === "failed" || state === "closed") failed();
  });
  try {
    await settled.promise;
  } catch (error) {
    close(connection);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Leaves only candidates that browsers can reach: at the address that is announced, or else listened on. */
function announce(answer: string, { announced, hostname }: WebRtcOptions): string {
  const candidate = /^(a=candidate:\S+ \d+ \S+ \d+ )(\S+)(.*\r\n)/gm;
  return answer.replaceAll(candidate, (line, before: string, address: string, after: string) => {
    if (!isEverywhere(hostname) && address !== hostname) return "";
    return announced ? `${before}${announced}${after}` : line;
  });
}

function isEverywhere(hostname: string): boolean {
  return hostname === "0.0.0.0" || hostname === "::";
}
