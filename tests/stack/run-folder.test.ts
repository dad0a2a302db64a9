import { afterAll, describe, expect, test } from "bun:test";
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { hasEnded, identify, pidNamespace } from "@parley/dev/processes/process-table.ts";
import { runFolder } from "@parley/dev/processes/run-folder.ts";

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;

// Not in TMPDIR, which may be closed to other users.
const parent = await mkdtemp("/var/tmp/parley-folders-");
await chmod(parent, 0o777);
afterAll(() => rm(parent, { recursive: true }));

const folders = async () => (await readdir(parent)).toSorted();

/** A run, until it is killed. @param as "nobody": without root's rights, which ignore those of files */
async function startRun(folder = parent, as: "us" | "nobody" = "us") {
  const script = `
    import { runFolder } from ${JSON.stringify(join(import.meta.dir, "../../dev/processes/run-folder.ts"))};
    ${as === "nobody" && IS_ROOT ? `process.seteuid(${NOBODY});` : ""}
    console.log(await runFolder(${JSON.stringify(folder)}, "run-"));
    setInterval(() => {}, 1_000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const { value } = await child.stdout.getReader().read();
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const path = new TextDecoder().decode(value).trim();
  return { pid: child.pid, path, name: basename(path), kill, [Symbol.asyncDispose]: kill };
}

/** Only there do folders say which process owns them. */
describe.skipIf(pidNamespace() === null)("where /proc shows the processes", () => {
  test("a run removes the folders of runs that were killed, and no others", async () => {
    await using killed = await startRun();
    await using running = await startRun();
    await mkdir(join(parent, "run-of-nobody"));
    await killed.kill();
    const folder = basename(await runFolder(parent, "run-"));
    expect(await folders()).toEqual([folder, running.name, "run-of-nobody"].toSorted());
  });

  test("a run leaves the folders of which it cannot tell whether their run has ended, and of other users", async () => {
    await using killed = await startRun();
    await killed.kill();
    const owner = await Bun.file(join(killed.path, ".run")).json();
    const claims = {
      "run-of-another-host": { ...owner, host: "another" },
      "run-of-another-namespace": { ...owner, namespace: "pid:[1]" },
      "run-of-an-earlier-build": { ...owner, namespace: undefined },
      // What /proc says of it cannot be read, because it is no process.
      "run-that-cannot-be-read": { ...owner, pid: "version" },
    };
    for (const [name, claim] of Object.entries(claims)) {
      await mkdir(join(parent, name));
      await writeFile(join(parent, name, ".run"), JSON.stringify(claim));
    }
    const others = IS_ROOT ? ["run-of-another-user"] : [];
    for (const name of others) {
      await cp(killed.path, join(parent, name), { recursive: true });
      await chown(join(parent, name), NOBODY, NOBODY);
    }
    await runFolder(parent, "run-");
    expect(await folders()).toEqual(expect.arrayContaining([...Object.keys(claims), ...others]));
    expect(await folders()).not.toContain(killed.name);
  });

  test("a folder that cannot be removed as a whole is removed by a later run", async () => {
    await using killed = await startRun(parent, "nobody");
    const locked = join(killed.path, "locked");
    await mkdir(locked);
    await writeFile(join(locked, "file"), "");
    await chmod(locked, 0o555);
    await killed.kill();
    await using _one = await startRun(parent, "nobody");
    expect(await readdir(locked)).toEqual(["file"]);
    await chmod(locked, 0o777);
    await using _two = await startRun(parent, "nobody");
    expect(await folders()).not.toContain(killed.name);
  });

  test("a process has ended when its pid is another's, and not when the system does not say", async () => {
    await using run = await startRun();
    const identity = identify(run.pid) ?? "";
    expect(hasEnded(run.pid, identity)).toBe(false);
    expect(hasEnded(run.pid, identity.replace(/\d+$/, "1"))).toBe(true);
    await run.kill();
    expect(hasEnded(run.pid, identity)).toBe(true);
  });
});

test("a run needs no permission to list its folder's neighbours", async () => {
  const unlisted = join(parent, "unlisted");
  await mkdir(unlisted);
  await chmod(unlisted, 0o333);
  await using run = await startRun(unlisted, "nobody");
  expect(run.path).toStartWith(join(unlisted, "run-"));
});
