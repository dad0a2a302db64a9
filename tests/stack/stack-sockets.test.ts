import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { postgresUrl } from "@parley/dev/storage/postgres.ts";
import { makeSocketFolder, removeSocketFolders } from "@parley/dev/storage/sockets.ts";
import { databaseSocket } from "@parley/shared/db/connect";

/** The length of sun_path on Linux, without the final zero. */
const SUN_PATH_BYTES = 107;

const parent = await mkdtemp(join(tmpdir(), "parley-sockets-"));
afterAll(() => rm(parent, { recursive: true }));

const modeOf = (folder: string) => statSync(folder).mode & 0o777;

describe("the folder of a stack's sockets", () => {
  test("is the requested one, emptied, and closed to other users", async () => {
    const wanted = join(parent, "run");
    await mkdir(wanted, { mode: 0o755 });
    await writeFile(join(wanted, "stale.sock"), "");
    expect(makeSocketFolder(wanted)).toBe(wanted);
    expect(modeOf(wanted)).toBe(0o700);
    expect(existsSync(join(wanted, "stale.sock"))).toBeFalse();
  });

  test.each([["too-long-".repeat(12)], ["with a space"], ["with,comma"]])(
    "is a new temporary one, closed to other users, in place of %p, which no socket can have",
    async (name) => {
      const wanted = join(parent, name, "run");
      const folder = makeSocketFolder(wanted);
      const socket = join(folder, "webhook-dispatcher-2.admin.sock");
      expect(dirname(folder)).toBe(tmpdir());
      expect(modeOf(folder)).toBe(0o700);
      expect(socket.length).toBeLessThan(SUN_PATH_BYTES);
      removeSocketFolders([`unix:${socket}`]);
      expect(existsSync(folder)).toBeFalse();
    },
  );

  test("is removed with what a killed stack left in it, and nothing else is", async () => {
    const folder = makeSocketFolder(join(parent, "left"));
    await writeFile(join(folder, "account.sock"), "");
    removeSocketFolders([
      `unix:${join(folder, "account.sock")}`,
      "127.0.0.1:8080",
      `unix:${join(parent, "no/such.sock")}`,
    ]);
    expect(existsSync(folder)).toBeFalse();
    expect(existsSync(parent)).toBeTrue();
  });
});

test("a Postgres on a socket has a URL in libpq's form", () => {
  const url = postgresUrl("/home/me/.parley/postgres-run", "secret");
  expect(url).toBe("postgres://parley:secret@%2Fhome%2Fme%2F.parley%2Fpostgres-run/parley");
  expect(databaseSocket(url)).toBe("/home/me/.parley/postgres-run/.s.PGSQL.5432");
  expect(databaseSocket(postgresUrl(6543, "secret"))).toBeNull();
});
