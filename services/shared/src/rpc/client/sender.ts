import type { ChannelCredentials, Client, CallOptions as GrpcCallOptions } from "@grpc/grpc-js";
import type { Actor } from "../actor.ts";
import type { CallOrigin } from "../call.ts";
import type { Resender } from "./resend.ts";

export interface CallOptions {
  /** The request that causes this call; its id, deadline and cancellation are passed on. */
  origin?: CallOrigin | undefined;
  timeoutMs?: number;
  /** W3C trace context to send instead of the origin's. */
  traceparent?: string | undefined;
  /** Called before a unary call settles, if its response or error is a replay. */
  onReplayed?: () => void;
}

export interface ClientSettings {
  /** The service's name in error texts. */
  peer: string;
  /**
   * host:port, or for round robin dns:///name:port, ipv4:ip:port,ip:port or unix:path,path. With TLS, use a name: Bun
   * refuses an IP address.
   */
  address: string;
  credentials?: ChannelCredentials;
  /** Who makes the calls that have no origin; Parley itself by default. */
  actor?: Actor;
  /** Default timeout of a call, in milliseconds. */
  timeoutMs?: number;
  /** Milliseconds of silence after which a server that owes answers is pinged, and the time it has to reply. */
  keepaliveMs?: number;
}

/** The context of the functions that make a client's calls. */
export interface Sender {
  channel: Client;
  settings: ClientSettings;
  resender: Resender;
}

/** Default timeout of a unary call, in milliseconds. */
export const TIMEOUT_MS = 5_000;
/** Each hop's deadline is this much before its caller's, so that the error names the hop that was slow. */
const HOP_MARGIN_MS = 25;

/**
 * The earlier of the call's own timeout and its caller's deadline minus a margin. A stream has no timeout of its own.
 */
export function callOptions(
  settings: ClientSettings,
  options: CallOptions,
  fallbackMs: number | null,
): GrpcCallOptions {
  const timeoutMs = options.timeoutMs ?? (fallbackMs === null ? null : (settings.timeoutMs ?? fallbackMs));
  const own = timeoutMs === null ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  const inherited = (options.origin?.deadlineMs ?? Number.POSITIVE_INFINITY) - HOP_MARGIN_MS;
  const deadline = Math.min(own, inherited);
  return deadline === Number.POSITIVE_INFINITY ? {} : { deadline };
}

export function deadlineOf({ deadline }: GrpcCallOptions): number {
  return Number(deadline ?? Number.POSITIVE_INFINITY);
}
