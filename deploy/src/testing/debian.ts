import { $ } from "bun";

/**
 * A program the tests need: the one on PATH, else Debian's, installed when we may.
 * @throws one sentence that says what to do.
 */
export async function obtainProgram(program: string, debianPackage: string): Promise<string> {
  // Where Debian has servers, and what a user's PATH often lacks.
  const find = () => Bun.which(program) ?? Bun.which(program, { PATH: "/usr/sbin" });
  if (!find() && process.getuid?.() === 0 && Bun.which("apt-get")) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await $`apt-get update && apt-get install --yes --no-install-recommends ${debianPackage}`
      .env(env)
      .quiet()
      .nothrow();
  }
  const found = find();
  if (found) return found;
  throw new Error(
    `The tests need ${program}: put it on PATH, or run as root on Debian to have ${debianPackage} installed`,
  );
}
