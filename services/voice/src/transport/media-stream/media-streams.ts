import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { oldRows } from "@parley/shared/jobs/old-rows";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { batched } from "@parley/shared/rpc/batched";
import type { ListenerFiles } from "@parley/shared/tls/listener-tls";
import {
  claimMediaStreams,
  type ExpectedStream,
  insertMediaStream,
  OLD_MEDIA_STREAMS,
} from "../../store/media-streams.ts";
import { newToken, tokenDigest } from "../../token.ts";
import { type AwaitedStreams, awaitedStreams } from "./awaited-streams.ts";
import type { ArrivedStream } from "./connection.ts";
import { furtherStream } from "./further-stream.ts";
import { type ListenOptions, listenForStreams } from "./listen.ts";

/** The calls whose audio carriers stream to us over WebSockets. */
interface MediaStreams {
  /** host:port; null if there are none. */
  address: string | null;
  expect: ExpectMediaStream;
  /** Further streams of calls, for the process that holds them. */
  awaited: Pick<AwaitedStreams, "addresses" | "wait">;
  /** Leaves further streams to other processes that share the address; those that are open continue. */
  close(): void;
  sweeps: Sweep[];
  stop(): Promise<void>;
}

/**
 * Makes the address of a WebSocket for a call, which a carrier may open once before it expires, on any process of this service.
 * Whichever it reaches gets the stream as ArrivedStream.
 * @returns the `wss://` address, which ends with a token that nobody can guess
 * @throws ServiceError condition if no media streams are served
 */
export type ExpectMediaStream = (stream: ExpectedStream & { expiresAt: Date }) => Promise<{ url: string }>;

export interface MediaStreamsOptions extends Pick<ListenOptions, "dropped" | "streamsMax"> {
  /** host:port; "" for none. */
  listen: string;
  tls: ListenerFiles | null;
  /** The `wss://` address at which carriers reach us; "": where we listen. */
  publicUrl: string;
  db: Database;
  clock: Clock;
  arrived(stream: ArrivedStream): void;
}

/** Tokens of one statement. */
const TOKENS_AT_ONCE = 512;

/** @throws when the address is taken */
export function serveMediaStreams(options: MediaStreamsOptions): MediaStreams {
  const { db, clock, listen, publicUrl, tls } = options;
  const sweeps = [oldRows(db, "delete-expired-media-streams", 60_000, [OLD_MEDIA_STREAMS])];
  if (listen === "") {
    const awaited = { addresses: refuse, wait: () => () => {} };
    return { address: null, expect: refuse, awaited, close: () => {}, sweeps, stop: async () => {} };
  }
  const [, hostname = "", port = ""] = /^\[?([^\]]+)\]?:(\d+)$/.exec(listen) ?? [];
  const expect: ExpectMediaStream = async (stream) => {
    const token = newToken();
    await insertMediaStream(db, { ...stream, tokenDigest: tokenDigest(token) });
    return { url: `${base}/media/${token}` };
  };
  const awaited = awaitedStreams(async ({ ownerId, callId, dialect }, expiresInMs) => {
    const expiresAt = new Date(clock.now().getTime() + expiresInMs);
    return (await expect({ ownerId, callId, dialect, expiresAt })).url;
  });
  const listener = listenForStreams({
    ...options,
    arrived: (stream) => {
      if (!awaited.take(stream)) options.arrived(stream);
    },
    expectAnother: (stream, leg) => furtherStream(awaited, stream, leg),
    hostname,
    port: Number(port),
    claim: batched((tokens) => claimMediaStreams(db, tokens.map(tokenDigest), clock.now()), TOKENS_AT_ONCE),
  });
  const base = publicUrl || `${tls ? "wss" : "ws"}://${listener.address}`;

  return {
    address: listener.address,
    expect,
    awaited,
    close: listener.close,
    sweeps,
    stop: listener.stop,
  };
}

async function refuse(): Promise<never> {
  throw new ServiceError("condition", "Carrier calls need PARLEY_VOICE_LISTEN, which this installation has not set");
}
