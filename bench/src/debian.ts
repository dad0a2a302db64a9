/**
 * The first of some equivalent programs on PATH, else Debian's package of it, installed when we may.
 * @throws one sentence that says what to do.
 */
export async function obtain(programs: readonly [string, ...string[]], debianPackage: string): Promise<string> {
  const found = find(programs);
  if (found) return found;
  if (process.getuid?.() === 0 && Bun.which("apt-get")) {
    console.log(`no ${programs.join(" or ")} on PATH: installing Debian's`);
    await run("apt-get", "update");
    await run("apt-get", "install", "--yes", "--no-install-recommends", debianPackage);
    const installed = find(programs);
    if (installed) return installed;
  }
  throw new Error(
    `This benchmark needs ${programs.join(" or ")}: put it on PATH, or run as root on Debian to have it installed`,
  );
}

function find(programs: readonly string[]): string | undefined {
  return programs.map((program) => Bun.which(program)).find((path) => path !== null);
}

/** The caller finds out from PATH whether this worked; errors go to the terminal. */
async function run(...command: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await Bun.spawn(command, { env, stdio: ["ignore", "ignore", "inherit"] }).exited;
}
