import { dirname } from "node:path";
import { $ } from "bun";
import { unpackPrograms } from "./unpacked-programs.ts";

/** The server's version, which an older pg_dump refuses; and the next one, for when Debian replaces the first. */
const MAJORS = [18, 19] as const;

/** A folder with psql, pg_dump and pg_restore that fit the server: those on PATH, or else those of a later Debian. */
export async function postgresClient(): Promise<string> {
  const own = Bun.which("pg_dump");
  if (own && Number(/ (\d+)/.exec(await $`${own} --version`.text())?.[1]) >= MAJORS[0]) return dirname(own);
  const [first, next] = MAJORS;
  return unpackClient(first).catch((error) => unpackClient(next).catch(() => Promise.reject(error)));
}

function unpackClient(major: number): Promise<string> {
  return unpackPrograms({
    name: `postgresql-client-${major}`,
    release: "forky",
    folder: `usr/lib/postgresql/${major}/bin`,
    programs: ["psql", "pg_dump", "pg_restore"],
  });
}
