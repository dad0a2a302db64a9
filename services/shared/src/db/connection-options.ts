const DEFAULT_PORT = "5432";

/**
 * What libpq reads from a postgres:// URL and the driver does not: the folder of a Unix socket, percent-encoded in the host's place
 * (https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
 */
export function connectionOptions(url: string): { path?: string } {
  const { hostname, port } = new URL(url);
  const folder = decodeURIComponent(hostname);
  return folder.startsWith("/") ? { path: `${folder}/.s.PGSQL.${port || DEFAULT_PORT}` } : {};
}
