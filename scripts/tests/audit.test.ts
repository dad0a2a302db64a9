import { expect, test } from "bun:test";
import { vulnerablePackages } from "../audit.ts";

const STAYS = new AbortController().signal;

/** What is found with a registry that has these advisories. */
async function foundWith(advisories: object): Promise<string | null> {
  const registry = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(advisories) });
  try {
    return await vulnerablePackages(STAYS, { ...process.env, BUN_CONFIG_REGISTRY: registry.url.origin });
  } finally {
    await registry.stop(true);
  }
}

const advisory = (severity: string) => ({
  ioredis: [
    { id: 1, url: "https://advisories.example/1", title: "Reads too much", severity, vulnerable_versions: "<999" },
  ],
});

test("a package with a high advisory is named, with what is wrong and where to read about it", async () => {
  expect(await foundWith(advisory("high"))).toBe("ioredis <999: Reads too much (high, https://advisories.example/1)");
});

test("a package without advisories, or with low ones, is fine", async () => {
  expect(await foundWith({})).toBeNull();
  expect(await foundWith(advisory("low"))).toBeNull();
});

test("without an answer of the registry nothing is found", async () => {
  expect(await vulnerablePackages(STAYS, { ...process.env, BUN_CONFIG_REGISTRY: "http://127.0.0.1:1" })).toBeNull();
});
