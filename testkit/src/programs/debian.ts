import { $ } from "bun";

/** Another apt may hold the packages' lock while it installs. */
const PATIENCE = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"];
/** Apt does not wait for a lock on the lists. */
const UPDATES_MAX = 5;
const UPDATE_AGAIN_MS = 3_000;

/** Apt, if this process may install Debian's packages with it, else null. */
export function installer(): string | null {
  return process.getuid?.() === 0 ? Bun.which("apt-get") : null;
}

/**
 * Installs Debian's packages without what they recommend, one process at a time.
 * @param installer apt
 * @param missing returns the packages that are still missing when it is this process's turn
 * @throws with apt's error
 */
export async function installPackages(installer: string, missing: () => readonly string[]): Promise<void> {
  // Other processes that install wait here, because apt itself waits for only some of its locks.
  await exclusively(installer, async () => {
    const packages = missing();
    if (packages.length === 0) return;
    const install = () => apt("--yes", "--no-install-recommends", "install", ...packages);
    // Without lists, or with old ones, apt does not know the packages or where they are.
    await install().catch(async () => {
      await update();
      await install();
    });
  });
}

async function update(): Promise<void> {
  for (let left = UPDATES_MAX - 1; ; left--) {
    try {
      return void (await apt("update"));
    } catch (error) {
      if (left === 0 || !(error as Error).message.includes("lock")) throw error;
      await Bun.sleep(UPDATE_AGAIN_MS);
    }
  }
}

/** Runs apt-get. @returns its output @throws with its error output */
export async function apt(...args: string[]): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { exitCode, stdout, stderr } = await $`apt-get --quiet ${PATIENCE} ${args}`.env(env).quiet().nothrow();
  if (exitCode === 0) return stdout.toString();
  const errors = stderr.toString().match(/^E: .+$/gm);
  throw new Error(errors?.join("\n") ?? `apt-get ${args.join(" ")} ended with ${exitCode}:\n${stderr}`);
}

/** Runs `work` while no other process runs its own for the same file or folder. If this process ends, others continue. */
export async function exclusively<T>(path: string, work: () => Promise<T>): Promise<T> {
  // The locking program ends when our pipe closes.
  const holder = Bun.spawn(["flock", path, "sh", "-c", "echo held; cat"], { stdio: ["pipe", "pipe", "pipe"] });
  try {
    const { done } = await holder.stdout.getReader().read();
    if (done) throw new Error(`${path} could not be locked: ${await holder.stderr.text()}`);
    return await work();
  } finally {
    await holder.stdin.end();
    await holder.exited;
  }
}
