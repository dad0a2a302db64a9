import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-path-"));
});

afterEach(() => rm(folder, { recursive: true }));

/** What looking for Redis comes to on a machine that has on PATH what `folder` holds. */
async function obtain(): Promise<string> {
  const script = `
    import { obtainRedisServer } from "./scripts/test-redis.ts";
    console.log(await obtainRedisServer().catch((error) => error.message));
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { env: { PATH: folder }, stdout: "pipe" });
  return (await new Response(child.stdout).text()).trim();
}

async function putTool(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

describe("the Redis of the tests", () => {
  test.each(["redis-server", "valkey-server"])("is the %s on PATH", async (name) => {
    await symlink("/bin/true", join(folder, name));
    expect(await obtain()).toBe(join(folder, name));
  });

  test("is asked for in one sentence on a machine that has none and no Debian packages", async () => {
    expect(await obtain()).toMatch(
      /^The tests need Redis: put redis-server or valkey-server on PATH, or run as root .*$/,
    );
  });

  test("is installed from Debian's packages when there is none and we may", async () => {
    await putTool("apt-get", `[ "$1" = update ] || /bin/ln -s /bin/true ${folder}/$4`);
    const root = process.getuid?.() === 0;
    expect(await obtain()).toContain(root ? join(folder, "redis-server") : "The tests need Redis");
  });
});
