import { describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { num, port, str } from "envalid";
import { ConfigError, positiveInteger, positiveNumber, readConfig } from "../src/config.ts";

test("all missing and wrong variables are reported at once, with their purpose", () => {
  const specs = {
    DATABASE_URL: str({ desc: "postgres:// address" }),
    PORT: port({ desc: "to listen on" }),
    POOL: num({ default: 10 }),
    MODE: str({ choices: ["fast", "safe"] }),
    EMPTY: str(),
    FINE: str(),
  };
  const env = { PORT: "http", POOL: "many", MODE: "odd", EMPTY: "", FINE: "x" };
  expect(() => readConfig(env, specs)).toThrow(
    new ConfigError(
      [
        "The environment is invalid:",
        "  DATABASE_URL (postgres:// address): is missing",
        '  PORT (to listen on): Invalid port input: "http"',
        '  POOL: Invalid number input: "many"',
        '  MODE: Value "odd" not in choices [fast,safe]',
        "  EMPTY: is missing",
      ].join("\n"),
    ),
  );
});

test("an absent or empty variable takes its default, a given one is parsed, others are not read", () => {
  const specs = { POOL: num({ default: 10 }), NAME: str({ default: "x" }), MINUTES: positiveNumber({ default: 30 }) };
  expect(readConfig({ NAME: "", MINUTES: "0.5", OTHER: "y" }, specs)).toEqual({ POOL: 10, NAME: "x", MINUTES: 0.5 });
});

test.each(["0", "-1", "Infinity", "NaN", "a"])("%j is not a positive number", (text) => {
  expect(() => readConfig({ N: text }, { N: positiveNumber() })).toThrow(`N: must be a number above 0, not "${text}"`);
});

test.each(["0", "-1", "1.5", "9007199254740993", "a"])("%j is not a positive whole number", (text) => {
  const read = () => readConfig({ N: text }, { N: positiveInteger() });
  expect(read).toThrow(`N: must be a whole number above 0, not "${text}"`);
});

describe("a variable from a file", () => {
  const specs = { DATABASE_URL: str(), POOL: num({ default: 10 }) };
  const file = (text: string) => {
    const path = join(mkdtempSync(join(tmpdir(), "parley-config-")), "secret");
    writeFileSync(path, text);
    return path;
  };

  test("is the file's content without its final line ending", () => {
    const env = { DATABASE_URL_FILE: file("postgres://a b \n"), POOL_FILE: file("3") };
    expect(readConfig(env, specs)).toEqual({ DATABASE_URL: "postgres://a b ", POOL: 3 });
  });

  test("whose file is empty counts as missing; an unreadable file and a variable set twice are refused", () => {
    expect(() => readConfig({ DATABASE_URL_FILE: file("\n") }, specs)).toThrow("DATABASE_URL: is missing");
    expect(() => readConfig({ DATABASE_URL_FILE: "/nowhere" }, specs)).toThrow(/^DATABASE_URL_FILE: ENOENT.*\/nowhere/);
    expect(() => readConfig({ DATABASE_URL: "a", DATABASE_URL_FILE: file("b") }, specs)).toThrow(
      "DATABASE_URL and DATABASE_URL_FILE are both set: keep one",
    );
  });
});
