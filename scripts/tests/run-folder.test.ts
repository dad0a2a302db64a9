import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runFolder } from "../running/run-folder.ts";

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "parley-folders-"));
});
afterAll(() => rm(parent, { recursive: true }));

/** Another run, until it is killed. */
async function otherRun() {
  const script = `
    import { runFolder } from ${JSON.stringify(join(import.meta.dir, "../running/run-folder.ts"))};
    console.log(await runFolder(${JSON.stringify(parent)}, "run-"));
    setInterval(() => {}, 1_000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const { value } = await child.stdout.getReader().read();
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return { folder: basename(new TextDecoder().decode(value).trim()), kill };
}

test("a run removes the folders of runs that were killed, and no others", async () => {
  const [killed, running] = [await otherRun(), await otherRun()];
  try {
    await mkdir(join(parent, "run-of-nobody"));
    await killed.kill();
    const folder = basename(await runFolder(parent, "run-"));
    expect((await readdir(parent)).toSorted()).toEqual([folder, running.folder, "run-of-nobody"].toSorted());
  } finally {
    await running.kill();
  }
});
