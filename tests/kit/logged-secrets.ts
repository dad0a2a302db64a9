import type { Home } from "@parley/dev/stack/home.ts";
import { TEST_SECRET } from "@parley/testkit/database";
import { Glob } from "bun";
import { PROMPT_TEXT, SCRIPTED_KEY } from "./test-agent.ts";

/** Texts that no log may contain: keys and secrets of every kind, and the texts of conversations. */
const NEVER_LOGGED: Readonly<Record<string, RegExp>> = {
  "an API key": /vk_[0-9A-Za-z]{43}/,
  "a webhook secret": /whsec_[0-9A-Za-z+/=]{20}/,
  "a provider's key": new RegExp(SCRIPTED_KEY),
  "the encryption key": new RegExp(RegExp.escape(TEST_SECRET)),
  "a database password": /postgres:\/\/[^:/\s]+:[^@\s]+@/,
  "a prompt": new RegExp(RegExp.escape(PROMPT_TEXT)),
};

/** The lines of a stack's logs that contain something forbidden, each with what it contains. */
export async function secretsInLogs(home: Home): Promise<string[]> {
  const leaks: string[] = [];
  for await (const name of new Glob("logs/*").scan(home.file("."))) {
    const lines = (await Bun.file(home.file(name)).text()).split("\n");
    for (const [what, form] of Object.entries(NEVER_LOGGED)) {
      const line = lines.find((candidate) => form.test(candidate));
      if (line !== undefined) leaks.push(`${what} in ${name}: ${line.slice(0, LINE_MAX)}`);
    }
  }
  return leaks;
}

const LINE_MAX = 500;
