import nodeDataChannel, { type DataChannel, type PeerConnection, type Track } from "node-datachannel";
import { parse } from "sdp-transform";
import { noPortFree, type PortRange } from "../rtp/ports.ts";
import { invalidOffer, type Offer } from "./offer.ts";
import { type Medium, type Transport, writeSdp } from "./sdp.ts";

export interface ConnectionOptions {
  /** The address that media is received on. */
  hostname: string;
  ports: PortRange;
}

/** What happens to a connection, in order; nothing after `over`. */
interface ConnectionEvents {
  /** The browser has shown that it has the key of the offer's certificate: media can flow. */
  opened(): void;
  /** RTP or RTCP. */
  received(packet: Uint8Array): void;
  /** The browser has opened a data channel. */
  channel(channel: DataChannel): void;
  channelClosed(channel: DataChannel): void;
  /** Once, unless it is closed by us before. */
  over(how: "hung_up" | "lost"): void;
}

export interface Connection {
  /** What the browser is told of our transport, with all candidates. */
  local: Transport;
  /** A packet that cannot be sent is lost, as on any network. */
  send(packet: Uint8Array): void;
  close(): void;
}

/** The longest message on a data channel, either way. */
export const MESSAGE_MAX_BYTES = 64 * 1024;
const [AUDIO, DATA] = ["audio", "data"];

/**
 * Opens a connection for an offer. The library sees only what was read of the offer, and none of the browser's addresses: it sends
 * nothing to an address that has not sent a check signed with the call's password.
 * @throws ServiceError invalid if the offer still cannot be answered; unavailable if no port is free
 */
export async function openConnection(
  offer: Offer,
  { hostname, ports }: ConnectionOptions,
  events: ConnectionEvents,
): Promise<Connection> {
  const connection = new nodeDataChannel.PeerConnection("browser", {
    iceServers: [],
    bindAddress: hostname,
    portRangeBegin: ports.first,
    portRangeEnd: ports.last,
    maxMessageSize: MESSAGE_MAX_BYTES,
  });
  const audio = new nodeDataChannel.Audio(AUDIO, "SendRecv");
  audio.addAudioCodec(offer.audio.payloadType, "opus");
  const track = connection.addTrack(audio);
  let isOver = false;
  const once = (how: "hung_up" | "lost") => {
    if (isOver) return;
    isOver = true;
    events.over(how);
  };
  listenTo(connection, track, { ...events, over: once });
  const close = () => {
    isOver = true;
    track.close();
    connection.close();
  };
  try {
    const gathered = new Promise<void>((resolve) =>
      connection.onGatheringStateChange((state) => state === "complete" && resolve()),
    );
    setOffer(connection, offer);
    await gathered;
    const local = transportOf(connection);
    if (local.candidates.length === 0) throw noPortFree();
    return {
      local,
      send: (packet) => {
        try {
          if (!isOver) track.sendMessageBinary(Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength));
        } catch {}
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** The library reads freed memory if one of its objects is collected before it has told that it is closed. */
const kept = new Set<PeerConnection | Track | DataChannel>();

function listenTo(connection: PeerConnection, track: Track, events: ConnectionEvents): void {
  kept.add(connection).add(track);
  connection.onStateChange((state) => {
    if (state === "failed") events.over("lost");
    if (state === "disconnected" || state === "closed") events.over("hung_up");
    if (state === "closed") kept.delete(connection);
  });
  connection.onDataChannel((channel) => {
    kept.add(channel);
    channel.onClosed(() => {
      kept.delete(channel);
      events.channelClosed(channel);
    });
    events.channel(channel);
  });
  track.onOpen(events.opened);
  track.onMessage(events.received);
  track.onClosed(() => kept.delete(track));
}

/** Sets the offer, and the answer with it: the library's own call for the answer ends the process if no port is free. */
function setOffer(connection: PeerConnection, { transport, audio, data }: Offer): void {
  const media: Medium[] = [{ kind: "audio", name: AUDIO, payloadType: audio.payloadType, direction: "sendrecv" }];
  if (data) media.push({ kind: "data", name: DATA, ...data });
  try {
    connection.setRemoteDescription(writeSdp(transport, media), "offer");
  } catch (error) {
    throw String(error).includes("gather local ICE candidates") ? noPortFree() : invalidOffer("it cannot be read");
  }
}

function transportOf(connection: PeerConnection): Transport {
  const { sdp = "" } = connection.localDescription() ?? {};
  const { media, fingerprint, ...session } = parse(sdp);
  const [audio] = media;
  const { type = "", hash = "" } = audio?.fingerprint ?? fingerprint ?? {};
  const candidates = [...sdp.matchAll(/^a=candidate:(.*)\r$/gm)].map(([, candidate = ""]) => candidate);
  return {
    iceName: String(audio?.iceUfrag ?? session.iceUfrag),
    icePassword: String(audio?.icePwd ?? session.icePwd),
    fingerprint: `${type} ${hash}`,
    setup: audio?.setup === "passive" ? "passive" : "active",
    candidates: [...new Set(candidates)],
  };
}
