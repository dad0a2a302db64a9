interface Advisory {
  title: string;
  severity: string;
  url: string;
  vulnerable_versions: string;
}

/**
 * Asks the package registry for advisories about the packages of bun.lock.
 * @param env with the registry's address, if it is another than the usual one
 * @returns those that are high or critical, a line each; null for none, and when the registry does not answer, because a check must not
 *   depend on the network
 */
export async function vulnerablePackages(
  signal: AbortSignal,
  env: Record<string, string | undefined> = process.env,
): Promise<string | null> {
  const command = [process.execPath, "audit", "--json"];
  const child = Bun.spawn(command, { env, stdio: ["ignore", "pipe", "pipe"], signal });
  const [printed, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const found = advisoriesIn(printed);
  if (!found) console.log(`(skip) packages were not compared with advisories: ${errors.trim().split("\n").at(-1)}`);
  return found && found.length > 0 ? found.join("\n") : null;
}

const SEVERE = ["high", "critical"];

/** A line for each severe advisory; null if there is no answer. */
function advisoriesIn(printed: string): string[] | null {
  try {
    return Object.entries<Advisory[]>(JSON.parse(printed)).flatMap(([name, advisories]) =>
      advisories
        .filter(({ severity }) => SEVERE.includes(severity))
        .map(({ title, severity, url, vulnerable_versions: of }) => `${name} ${of}: ${title} (${severity}, ${url})`),
    );
  } catch {
    return null;
  }
}
