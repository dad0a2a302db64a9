import { dirname } from "node:path";
import { $ } from "bun";
import { unpackPrograms } from "./unpacked-programs.ts";

/** The server's, which an older pg_dump refuses; and the next, for the day when Debian gives the first up for it. */
const MAJORS = [18, 19] as const;

/** A folder with psql, pg_dump and pg_restore that fit the server: those on PATH, else those of a Debian that has them. */
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
