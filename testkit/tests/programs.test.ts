import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "../src/programs/obtain.ts");
const MISSING = "redis-server or valkey-server is missing: put it on PATH, or run as root on Debian";
/** Only root may install. */
const root = process.getuid?.() === 0;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-path-"));
  for (const tool of ["sh", "cat", "flock", "ln", "mkdir", "rmdir"]) await symlink(`/bin/${tool}`, join(folder, tool));
});

afterEach(() => rm(folder, { recursive: true }));

/** The outcome of looking for a program, in a process of its own, on a machine whose PATH is `folder`. */
async function obtain(name: string): Promise<string> {
  const script = `
    import { obtain } from "${MODULE}";
    console.log(await obtain("${name}").catch((error) => error.message));
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { env: { PATH: folder }, stdout: "pipe" });
  return (await new Response(child.stdout).text()).trim();
}

async function putTool(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

/** A stand-in for apt: it knows packages once it has updated, and refuses to run twice at once. */
const APT = (folder: string) => `
  mkdir ${folder}/lock || { echo "E: Could not get lock" >&2; exit 100; }
  case "$*" in
    *update) mkdir -p ${folder}/lists;;
    *install*)
      [ -d ${folder}/lists ] || { rmdir ${folder}/lock; echo "E: Unable to locate package" >&2; exit 100; }
      for package; do :; done
      ln -s /bin/true ${folder}/$package;;
  esac
  rmdir ${folder}/lock`;

describe("a program of the tests", () => {
  test.each(["redis-server", "valkey-server"])("is the %s on PATH", async (name) => {
    await symlink("/bin/true", join(folder, name));
    expect(await obtain("redis")).toBe(join(folder, name));
  });

  test("is asked for in one sentence on a machine that has none and no Debian packages", async () => {
    expect(await obtain("redis")).toBe(`${MISSING} to have redis-server installed`);
  });

  test("is installed from Debian's packages if it is missing and we may, with updated lists if necessary", async () => {
    await putTool("apt-get", APT(folder));
    expect(await obtain("redis")).toStartWith(root ? join(folder, "redis-server") : MISSING);
  });

  test("is installed once when several processes ask for it and for another at once", async () => {
    await putTool("apt-get", APT(folder));
    const found = await Promise.all(["redis", "chromium", "redis", "chromium", "redis"].map(obtain));
    const programs = ["redis-server", "chromium", "redis-server", "chromium", "redis-server"];
    if (root) expect(found).toEqual(programs.map((program) => join(folder, program)));
    else for (const said of found) expect(said).toContain("is missing");
  });

  test("that cannot be installed is reported in apt's own words", async () => {
    await putTool("apt-get", `echo "E: No space left" >&2; exit 100`);
    expect(await obtain("redis")).toBe(`${MISSING} to have redis-server installed${root ? " (E: No space left)" : ""}`);
  });
});
