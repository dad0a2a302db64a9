import postgres from "postgres";
import { ConfigError } from "../config.ts";
import { type Authority, authorityIn } from "../tls/authority.ts";

const DEFAULT_PORT = "5432";
/** The only sslmode that verifies the server's name. */
const VERIFIED = "verify-full";

/** Options that the driver's types leave out; `answer_timeout`, in seconds, is from our patch (patches/README.md). */
interface UntypedOptions {
  max_pipeline?: number;
  answer_timeout?: number | null;
}

/**
 * Adds to `postgres` what libpq reads from a postgres:// URL and the driver does not: `sslrootcert`, and the folder of
 * a Unix socket, percent-encoded in place of the host
 * (https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
 * @throws ConfigError when the file of `sslrootcert` is unusable, or sslmode would not verify the server
 */
export function connectPostgres<T extends Record<string, postgres.PostgresType> = Record<string, never>>(
  url: string,
  options: postgres.Options<T> & UntypedOptions = {},
) {
  const { driverUrl, path, authority } = readDatabaseUrl(url);
  return postgres<T>(driverUrl, { ...(path && { path }), ...(authority && { ssl: authority }), ...options });
}

/** The path of a postgres:// URL's Unix socket; null when the URL names a host. */
export function databaseSocket(url: string): string | null {
  return readDatabaseUrl(url).path;
}

interface DatabaseUrl {
  driverUrl: string;
  path: string | null;
  authority: Authority | null;
}

function readDatabaseUrl(url: string): DatabaseUrl {
  const [place = "", query] = url.split("?", 2);
  const [, folder, port = DEFAULT_PORT] = place.match(/^[^/]+:\/\/(?:[^/@]*@)?(%2F[^/:]*)(?::(\d+))?/i) ?? [];
  const path = folder ? `${decodeURIComponent(folder)}/.s.PGSQL.${port}` : null;
  const parameters = new URLSearchParams(query);
  const file = parameters.get("sslrootcert");
  // The driver supports "system" itself.
  if (file === null || file === "system") return { driverUrl: url, path, authority: null };
  const mode = parameters.get("sslmode") ?? VERIFIED;
  if (mode !== VERIFIED)
    throw new ConfigError(`A postgres:// address with sslrootcert must have sslmode=${VERIFIED}, not ${mode}`);
  parameters.delete("sslrootcert");
  const authority = authorityIn(file, "sslrootcert of a postgres:// address");
  return { driverUrl: `${place}?${parameters}`, path, authority };
}
