import { type ChannelCredentials, credentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import { makeValidator, str } from "envalid";
import { ConfigError } from "../../config.ts";
import type { Logger } from "../../log.ts";
import { REREAD_MS, type TlsFiles, watchCertificates } from "./certificates.ts";

/** How a process identifies itself to its peers. */
export const TLS_VARIABLES = {
  PARLEY_TLS_CA: str({ default: "", desc: "PEM file of the authority that signs every process's certificate" }),
  PARLEY_TLS_CERT: str({ default: "", desc: "PEM file of this process's certificate" }),
  PARLEY_TLS_KEY: str({ default: "", desc: "PEM file of its key" }),
  PARLEY_INSECURE_GRPC: makeValidator(oneOrNothing)({ default: "", desc: "1: serve beyond loopback without TLS" }),
};

interface TlsEnvironment {
  PARLEY_TLS_CA: string;
  PARLEY_TLS_CERT: string;
  PARLEY_TLS_KEY: string;
  PARLEY_INSECURE_GRPC: string;
}

/**
 * The TLS files to use; null for plain text.
 * @throws ConfigError when only some of them are set, or when `listen` is beyond loopback without them
 */
export function tlsFiles(env: TlsEnvironment, listen: string): TlsFiles | null {
  const files = { ca: env.PARLEY_TLS_CA, cert: env.PARLEY_TLS_CERT, key: env.PARLEY_TLS_KEY };
  const given = Object.values(files).filter((file) => file !== "").length;
  if (given === 3) return files;
  if (given > 0) throw new ConfigError("PARLEY_TLS_CA, PARLEY_TLS_CERT and PARLEY_TLS_KEY go together: set all three");
  if (!isLoopback(listen) && env.PARLEY_INSECURE_GRPC !== "1") {
    throw new ConfigError(
      `PARLEY_LISTEN ${listen} is beyond loopback: set PARLEY_TLS_CA, _CERT and _KEY, or PARLEY_INSECURE_GRPC=1`,
    );
  }
  return null;
}

/** The credentials for calls to this process and from it. */
interface PeerCredentials {
  server: ServerCredentials;
  channel: ChannelCredentials;
}

/**
 * Accepts only peers with a certificate of the same authority; `peers.ts` decides which of them a service serves.
 * Call it once per process, so that the files are read, and problems logged, once.
 * @throws ConfigError when the files are unusable
 */
export function peerCredentials(files: TlsFiles | null, log: Logger, rereadMs = REREAD_MS): PeerCredentials {
  if (!files) return { server: ServerCredentials.createInsecure(), channel: credentials.createInsecure() };
  const certificates = watchCertificates(files, log, rereadMs);
  return {
    server: experimental.createCertificateProviderServerCredentials(certificates, certificates, true),
    channel: experimental.createCertificateProviderChannelCredentials(certificates, certificates),
  };
}

/** Whether a listening address can be reached from this machine only. */
export function isLoopback(listen: string): boolean {
  return /^(unix:|127\.\d+\.\d+\.\d+:|localhost:|\[::1\]:)/.test(listen);
}

function oneOrNothing(text: string): string {
  if (text !== "" && text !== "1") throw new Error("must be 1 or absent");
  return text;
}
