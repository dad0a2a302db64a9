import { ConfigError } from "../config.ts";
import { isLoopback } from "../rpc/tls/credentials.ts";

/** The PEM files of a listener's certificate. */
export interface ListenerFiles {
  cert: string;
  key: string;
}

interface ListenerSettings {
  /** host:port. */
  address: string;
  /** "" if not set. */
  cert: string;
  key: string;
  /** "1": TLS ends before this process. */
  insecure: string;
}

/** The variables that the settings come from, for errors. */
type ListenerNames = Readonly<Record<keyof ListenerSettings, string>>;

/**
 * The certificate that a listener for clients serves with; null for plain text.
 * @throws ConfigError when only half of it is set, or the address is beyond loopback and no setting says that TLS protects it
 */
export function listenerFiles(
  { address, cert, key, insecure }: ListenerSettings,
  names: ListenerNames,
): ListenerFiles | null {
  if (cert !== "" && key !== "") return { cert, key };
  if (cert !== "" || key !== "") throw new ConfigError(`${names.cert} and ${names.key} go together: set both`);
  if (isLoopback(address) || insecure === "1") return null;
  throw new ConfigError(
    `${names.address} ${address} is beyond loopback: set ${names.cert} and ${names.key}, or ${names.insecure}=1 when TLS ends before this process`,
  );
}
