import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ConfigError } from "@parley/shared/config";

/**
 * Standard input without its final line ending: for secrets, which other users of the machine see in a command's arguments.
 * @throws ConfigError for what is no text
 */
export async function readStdin(): Promise<string> {
  const bytes = await Bun.stdin.bytes();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw new ConfigError("standard input must be text in UTF-8");
  }
}

/** The same for one secret, which a person may type or paste: the terminal does not show it. @throws ConfigError when they give up */
export async function readSecret(what: string): Promise<string> {
  if (!process.stdin.isTTY) return readStdin();
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(`${what}: `);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  lines.once("line", resolve).once("close", () => reject(new ConfigError(`no ${what.toLowerCase()} was given`)));
  return promise.finally(() => {
    lines.close();
    process.stderr.write("\n");
  });
}
